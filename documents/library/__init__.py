"""How people order and share documents.

``document_list`` searches and sorts the library page, ``sharing`` gives rights to others, ``trash`` deletes
and restores.
"""
