"""Date formats, one module per language: Django's `FORMAT_MODULE_PATH`."""
