from django.apps import AppConfig


class RetrievalConfig(AppConfig):
    name = "retrieval"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from documents.signals import document_parsed
        from retrieval.receivers import index_parsed_document

        document_parsed.connect(index_parsed_document, dispatch_uid="retrieval.index")
