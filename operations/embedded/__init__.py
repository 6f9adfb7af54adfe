"""PostgreSQL from a wheel, for people who have none.

``server`` starts and stops it, and ``caretaker`` stops it when all who used it
were killed. ``base`` is the Django database backend that starts it at the first
connection, so that commands which need no database never pay for one.
"""
