"""Measurements: `manage.py bench NAME`. Nothing imports them.

Each module is one benchmark; modules whose name begins with an underscore are parts of one.
"""
