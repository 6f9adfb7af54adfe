"""The page's words, in the order in which they are compared.

Normalise: ``framing``, ``tokens`` (with ``token``, ``conditions``, ``phrases``), ``readings``. Align:
``alignment``. Order: ``order``, ``voice``, ``than``, ``junctions``, ``rivals``. Omissions: ``omissions``,
``qualifiers``. ``sentence_comparison`` compares a claim with one sentence, ``prose`` with a passage, and
``verbatim`` finds what is repeated word for word.
"""
