"""URLs of reviews, under ``/reviews/``."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from chat.views import hiding
from reviews import views
from reviews.models import Review, ReviewTemplate

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.reviews, name="reviews"),
    path("ask/", views.ask, name="review-ask"),
    path("new/", views.new, name="review-new"),
    path("cell/<uuid:pk>/", views.cell, name="review-cell"),
    path("<uuid:pk>/", views.review, name="review"),
    path("<uuid:pk>/answer/", views.answer, name="review-answer"),
    path("<uuid:pk>/cells/", views.cells, name="review-cells"),
    path("<uuid:pk>/agreement/", views.agreement, name="review-agreement"),
    path("<uuid:pk>/documents/", views.add_documents, name="review-documents"),
    path("<uuid:pk>/share/", views.share, {"model": Review}, name="review-share"),
    path("<uuid:pk>/columns/", views.import_columns, name="review-columns"),
    path("templates/", views.own_templates, name="review-templates"),
    path("templates/new/", views.new_template, name="review-template-new"),
    path("templates/<uuid:pk>/share/", views.share, {"model": ReviewTemplate}, name="review-template-share"),
    path("templates/<uuid:pk>/delete/", views.delete_template, name="review-template-delete"),
    path("templates/<uuid:pk>/export.json", views.template_file, name="review-template-file"),
    *hiding(Review),
    path("<uuid:pk>/export.<slug:form>", views.export, name="review-export"),
]
