from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "chat"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from chat.annotations import mark_deleted, reanchor_parsed_document
        from chat.models.conversation import end_link, given_links, links_to, listed_links
        from chat.notes import index_notes_at_rest
        from chat.reports.report_queue import recover
        from documents.access import register, register_given
        from documents.signals import document_deleted, document_parsed, library_swept
        from documents.tokens import ANSWER_LINK, register_list

        document_parsed.connect(reanchor_parsed_document, dispatch_uid="chat.reanchor")
        document_deleted.connect(mark_deleted, dispatch_uid="chat.deleted")
        library_swept.connect(index_notes_at_rest, dispatch_uid="chat.notes")
        library_swept.connect(recover, dispatch_uid="chat.reports")
        register("link", links_to, end_link)
        register_given(given_links)
        register_list(ANSWER_LINK, listed_links)
