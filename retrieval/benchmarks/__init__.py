"""Measures of search; each module without an underscore is a `manage.py bench NAME`."""
