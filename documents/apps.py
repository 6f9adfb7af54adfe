from types import SimpleNamespace

from django.apps import AppConfig


class DocumentsConfig(AppConfig):
    name = "documents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import documents
        from documents import receivers  # noqa: F401  connects them
        from documents.papers import acquisition

        # django-q2 stores the dotted name of a task; tasks queued before the move have the old one.
        documents.scholarly = SimpleNamespace(papers=acquisition)  # type: ignore[attr-defined]
