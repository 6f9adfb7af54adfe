from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "reviews"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.db.models.signals import pre_delete

        from chat.models.citation import CITATION_KEEPERS
        from documents.access import register_given
        from documents.models import Document
        from documents.signals import document_parsed, library_swept
        from reviews.models import citations_shown_to, given_reviews
        from reviews.review_commands import keep_reviews_going, keep_rows, outdate_document

        CITATION_KEEPERS.append(citations_shown_to)
        register_given(given_reviews)
        document_parsed.connect(outdate_document, dispatch_uid="reviews.outdate")
        library_swept.connect(keep_reviews_going, dispatch_uid="reviews.queue")
        pre_delete.connect(keep_rows, sender=Document, dispatch_uid="reviews.rows")
