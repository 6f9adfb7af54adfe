"""Finding words on pages: the steps of ``chat.anchoring``, each a pure function."""
