"""Answers without a language model: the lines of the documents that answer a question, word for word.

``question`` analyses the question, ``evidence`` reads the units it is answered from, ``lines``
turns them into lines that can be cited, ``answer_types`` tells which lines hold what its kind
wants, ``ranking`` scores the lines and judges whether one answers,
``answer`` chooses one to three of them and writes them down.
"""
