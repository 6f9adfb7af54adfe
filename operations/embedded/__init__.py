"""PostgreSQL from a wheel, for people who have none.

``server`` starts and stops it; a process of its own stops it when all processes that used it were killed.
``base`` is the Django database backend, which starts it at the first connection: commands without a database
start none.
"""
