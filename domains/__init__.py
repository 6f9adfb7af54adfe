"""Optional packs of words and rules of one field; each is used only for documents that are of the field."""
