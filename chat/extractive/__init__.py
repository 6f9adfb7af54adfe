"""Answers without a model: the best sentences and table rows for a question, word for word.

``asked`` reads the question, ``rows`` and ``sentences`` weigh what the passages
say, ``answer`` picks three to six of them and writes them down, each cited.
"""
