"""`manage.py bench read`: how fast the reader opens a file and lights words."""
