"""The REST API of documents: one module per resource; ``common`` is shared by the APIs of all apps."""
