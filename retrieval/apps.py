from django.apps import AppConfig


class RetrievalConfig(AppConfig):
    name = "retrieval"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from documents.signals import document_parsed, library_swept
        from retrieval.index.backfill import index_older_words, issue_ticket
        from retrieval.index.document_index import index_parsed_document

        document_parsed.connect(index_parsed_document, dispatch_uid="retrieval.index")
        library_swept.connect(index_older_words, dispatch_uid="retrieval.index_older_words")
        library_swept.connect(issue_ticket, dispatch_uid="retrieval.move")
