"""How a question is answered: context, prompt, builder, runner, event stream.

Start at ``write_answer.write_answer``; ``without_model`` is the answerer that needs no key.
"""
