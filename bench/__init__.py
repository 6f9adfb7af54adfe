"""Benchmarks: `manage.py bench NAME`. No package imports them.

Each module is one benchmark; modules whose names begin with an underscore are parts of one.
"""
