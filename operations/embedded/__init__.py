"""The embedded PostgreSQL server, from a wheel.

``server`` starts and stops it. ``base`` is the Django database backend, which starts it at the first
connection, so commands without a database start none.
"""
