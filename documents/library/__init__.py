"""How people order and share documents.

``document_list`` searches and sorts the library page, ``shares`` gives rights to others, ``trash`` deletes
and restores.
"""
