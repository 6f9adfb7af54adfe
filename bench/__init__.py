"""`manage.py bench ingest`. Each app keeps its measures in such a package; `manage.py bench` finds them."""
