from types import SimpleNamespace

from django.apps import AppConfig


class DocumentsConfig(AppConfig):
    name = "documents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import documents
        from documents.files.page_pictures import forget_deleted_pictures
        from documents.importers.block_import import forget_payload
        from documents.models.security import listed_api_tokens
        from documents.papers import acquisition, identification
        from documents.signals import document_deleted, document_parsed
        from documents.tokens import API, register_list

        document_parsed.connect(acquisition.mark_abstracts)
        document_parsed.connect(identification.identify_later)
        document_deleted.connect(forget_deleted_pictures)
        document_deleted.connect(forget_payload)
        register_list(API, listed_api_tokens)

        # django-q2 stores the dotted name of a task; tasks queued before the move have the old one.
        documents.scholarly = SimpleNamespace(papers=acquisition)  # type: ignore[attr-defined]
