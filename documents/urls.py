"""Paths of the documents app's pages."""

from __future__ import annotations

from django.urls import path

from documents.views import collections, details, document_actions, files, library, papers, selected
from documents.views import details as beside
from documents.views import library as jobs

urlpatterns = [
    path("", library.library, name="library"),
    path("icons.svg", files.icons, name="icons"),
    path("documents/upload/", library.upload, name="document-upload"),
    path("documents/fetch/", library.upload_address, name="document-fetch"),
    path("documents/selected/export/", selected.export, name="documents-export"),
    path("documents/selected/<slug:action>/", selected.act, name="documents-selected"),
    path("bin/", selected.trash, name="bin"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("documents/cards/", library.cards, name="document-cards"),
    path("documents/<uuid:pk>/file", files.document_file, name="document-file"),
    path("documents/<uuid:pk>/thumbnail", files.document_thumbnail, name="document-thumbnail"),
    path("documents/<uuid:pk>/contents/", beside.contents, name="document-contents"),
    path("documents/<uuid:pk>/pages/", beside.pages, name="document-pages"),
    path("documents/<uuid:pk>/figures/", beside.figures, name="document-figures"),
    path("documents/<uuid:pk>/passages/", beside.passages, name="document-passages"),
    path("documents/<uuid:pk>/menu/", document_actions.menu, name="document-menu"),
    path("documents/<uuid:pk>/delete/", document_actions.delete, name="document-delete"),
    path("documents/<uuid:pk>/restore/", document_actions.restore, name="document-restore"),
    path("documents/<uuid:pk>/retry/", document_actions.retry, name="document-retry"),
    path("documents/<uuid:pk>/cancel/", document_actions.cancel, name="document-cancel"),
    path("documents/<uuid:pk>/replace/", document_actions.replace, name="document-replace"),
    path("documents/<uuid:pk>/original", files.document_original, name="document-original"),
    path("documents/<uuid:pk>/rename/", document_actions.rename, name="document-rename"),
    path("documents/<uuid:pk>/details/", details.details, name="document-details"),
    path("documents/<uuid:pk>/tags/", document_actions.tag, name="document-tag"),
    path("documents/<uuid:pk>/collections/", document_actions.collect, name="document-collect"),
    path("documents/<uuid:pk>/shares/", document_actions.share, name="document-share"),
    path("documents/<uuid:pk>/access/end/", details.end_access, name="document-access-end"),
    path("documents/<uuid:pk>/tables/<int:index>/", details.table, name="document-table"),
    path("documents/<uuid:pk>/metadata/", papers.metadata, name="document-metadata"),
    path("documents/<uuid:pk>/pdf/", papers.attach, name="document-attach"),
    path("documents/<uuid:pk>/full-text/", papers.fetch_full_text, name="document-full-text"),
    path("documents/<uuid:pk>/reference/", papers.reference_line, name="document-reference"),
    path("documents/<uuid:pk>/papers/", papers.around, name="papers-around"),
    path("documents/<uuid:pk>/papers/list/", papers.around_list, name="papers-around-list"),
    path("documents/<uuid:pk>/papers/add/", papers.add_around, name="papers-around-add"),
    path("papers/", papers.papers, name="papers"),
    path("papers/add/", papers.add, name="paper-add"),
    path("papers/found/", papers.found, name="papers-found"),
    path("papers/found/list/", papers.found_list, name="papers-found-list"),
    path("papers/found/add/", papers.add_found, name="papers-found-add"),
    path("papers/by-hand/", papers.add_by_hand, name="paper-by-hand"),
    path("papers/import/", papers.add_list, name="papers-import"),
    path("collections/", collections.collections, name="collections"),
    path("collections/<uuid:pk>/", collections.collection, name="collection"),
    path("collections/<uuid:pk>/delete/", collections.delete_collection, name="collection-delete"),
    path("collections/<uuid:pk>/shares/", collections.share_collection, name="collection-share"),
    path("tags/<uuid:pk>/", collections.tag, name="tag"),
    path("tags/<uuid:pk>/delete/", collections.delete_tag, name="tag-delete"),
    path("shares/", collections.shares, name="shares"),
    path("shares/<uuid:pk>/delete/", collections.take_back, name="share-delete"),
]
