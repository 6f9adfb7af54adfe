"""Import the output of other parsers.

``parser_outputs`` converts it (Docling, Unstructured, plain blocks of most others) to ``ImportedBlock``
values; ``block_import`` converts those to ``ParsedPage`` values, as our own parser returns.
"""
