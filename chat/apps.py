from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "chat"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from chat.receivers import reanchor_parsed_document
        from chat.share_links import end_link, links_to
        from documents.access import register
        from documents.signals import document_parsed

        document_parsed.connect(reanchor_parsed_document, dispatch_uid="chat.reanchor")
        register("link", links_to, end_link)
