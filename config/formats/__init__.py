"""How dates are written, a module for each language: Django's `FORMAT_MODULE_PATH`."""
