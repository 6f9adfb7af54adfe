"""URLs of conversations, notes and the reader; ``config.urls`` gives each list its prefix.

To ask takes form fields: ``question``; ``region``, the part of a page that it is about, as JSON
``{"document", "page", "box": [x0, y0, x1, y1]}`` in fractions of the page as it is displayed; for a new
conversation also ``document`` (repeated) or ``collection`` (neither: the whole library), and ``model``;
``provider`` may change with any question. All POSTs that write an answer
return 201 and ``{"conversation", "question", "answer", "stream"}``: three ids
and the URL to read with EventSource, which resumes by Last-Event-ID; htmx
(``HX-Request``) gets the exchange as HTML instead. Errors are
``{"error": "a sentence"}`` with 400 or 404; 409 when a message cannot be
continued, retried or cancelled as it stands.
"""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from chat.models import Conversation, Note
from chat.views import conversations, exports, hiding, notes, providers, reader, reports

Paths = list[URLPattern | URLResolver]

urlpatterns: Paths = [
    path("ask/", conversations.ask_first, name="ask-first"),
    path("<uuid:conversation_id>/ask/", conversations.ask, name="ask"),
    path("messages/<uuid:message_id>/stream/", conversations.stream, name="answer-stream"),
    path("messages/<uuid:message_id>/region.png", conversations.region, name="question-region"),
    path("messages/<uuid:message_id>/cancel/", conversations.cancel, name="answer-cancel"),
    path("messages/<uuid:message_id>/retry/", conversations.retry, name="answer-retry"),
    path("messages/<uuid:message_id>/continue/", conversations.continue_, name="answer-continue"),
    path("citations/<uuid:citation_id>/card/", reader.card, name="citation-card"),
    path("citations/<uuid:citation_id>/feedback/", reader.feedback, name="citation-feedback"),
    path("messages/<uuid:message_id>/export.<slug:form>", exports.export, name="answer-export"),
    path("messages/<uuid:message_id>/evidence.pdf", exports.evidence, name="answer-evidence"),
    path("messages/<uuid:message_id>/share/", exports.share, name="answer-share"),
    path("messages/<uuid:message_id>/unshare/", exports.unshare, name="answer-unshare"),
    path("tour/", reader.tour, name="tour"),
    path("links/", exports.links, name="links"),
    path("shared/<str:token>/", exports.shared_answer, name="shared-answer"),
    path("shared/<str:token>/<uuid:citation_id>.png", exports.shared_picture, name="shared-picture"),
]

reader_urls: Paths = [
    path("", reader.document, name="document"),
    path("framed/", reader.framed, name="document-framed"),
    path("state/", reader.state, name="document-state"),
    path("highlight/", reader.highlight, name="document-highlight"),
    path("quoted/", reader.quoted, name="document-quoted"),
    path("find/", reader.find, name="document-find"),
    path("annotations/", notes.document_annotations, name="document-annotations"),
    path("annotations/list/", notes.annotations_pane, name="annotations-pane"),
    path("annotations/export.<slug:form>", notes.export_annotations, name="annotations-export"),
    path("annotations/take-over/", notes.take_over_annotations, name="annotations-take-over"),
    path("place/", reader.place, name="document-place"),
    path("pins/", reader.pins, name="document-pins"),
]

conversation_urls: Paths = [
    path("", conversations.conversations, name="conversations"),
    path("new/", conversations.conversation, name="conversation-new"),
    path("news/", conversations.news, name="conversation-news"),
    path("<uuid:pk>/", conversations.conversation, name="conversation"),
    path("<uuid:pk>/rename/", conversations.rename, name="conversation-rename"),
    path("<uuid:pk>/export.<slug:form>", exports.conversation, name="conversation-export"),
    *hiding(Conversation),
    path("beside/<uuid:pk>/", conversations.panel, name="chat-panel"),
    path("sources/<uuid:message_id>/", conversations.sources, name="answer-sources"),
    path("providers/", providers.providers, name="providers"),
    path("providers/offer/", providers.offer, name="provider-offer"),
    path("providers/key/", providers.connect_pasted_key, name="provider-key"),
    path("providers/local/", providers.local, name="provider-local"),
    path("providers/search/", providers.connect_embedder, name="provider-search"),
    path("providers/<str:name>/models/", providers.models, name="provider-models"),
    path("providers/<str:name>/disconnect/", providers.disconnect, name="provider-disconnect"),
    path("providers/<str:name>/test/", providers.test, name="provider-test"),
]

note_urls: Paths = [
    path("", notes.notes, name="notes"),
    path("new/", notes.new, name="note-new"),
    path("save/", notes.save, name="note-save"),
    path("add/<uuid:message_id>/", notes.add, name="note-add"),
    path("<uuid:pk>/", notes.note, name="note"),
    path("<uuid:pk>/versions/<int:revision>/restore/", notes.restore_words, name="note-version-restore"),
    path("<uuid:pk>/export.<slug:form>", exports.note, name="note-export"),
    path("<uuid:pk>/evidence.pdf", exports.note_evidence, name="note-evidence"),
    *hiding(Note),
    path("beside/<uuid:pk>/", notes.beside, name="document-notes"),
    path("beside/<uuid:pk>/quote/", notes.quote, name="document-quote"),
]

report_urls: Paths = [
    path("", reports.reports, name="reports"),
    path("new/", reports.new, name="report-new"),
    path("versions/", reports.versions, name="versions"),
    path("<uuid:pk>/", reports.report, name="report"),
    path("<uuid:pk>/work/", reports.work, name="report-work"),
    path("<uuid:pk>/delete/", reports.delete, name="report-delete"),
]

annotation_urls: Paths = [
    path("<uuid:pk>/", notes.change_annotation, name="annotation-change"),
    path("<uuid:pk>/delete/", notes.delete_annotation, name="annotation-delete"),
    path("<uuid:pk>/restore/", notes.restore_annotation, name="annotation-restore"),
]
