"""Finding words on pages: the steps of ``chat.citations.anchoring.find_quote``, each a pure function."""
