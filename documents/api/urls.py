"""URLs of the documents API. Ids are UUIDs; page numbers count from 1."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path
from rest_framework.routers import SimpleRouter

from documents.api.documents import DocumentViewSet, ImportBlocks
from documents.api.jobs import JobDetail, JobList
from documents.api.library import Access, AccessWay, CollectionViewSet, ShareViewSet, TagViewSet
from documents.api.pages import PageDetail, PageImage, PageList, PageWords, TableDetail, TablesOfDocument
from documents.api.papers import AddPaper, Around, AttachPdf, FindPapers, ImportPapers, Reference
from documents.api.tokens import TokenViewSet
from documents.api.units import (
    ChunkDetail,
    ChunksOfDocument,
    UnitContext,
    UnitDetail,
    UnitSiblings,
    UnitsOfDocument,
    UnitsOfPage,
)


class UuidRouter(SimpleRouter):
    """A router whose ids are UUIDs."""

    def __init__(self) -> None:
        super().__init__(use_regex_path=False)

    def get_lookup_regex(self, viewset: type, lookup_prefix: str = "") -> str:
        return "<uuid:pk>"


router = UuidRouter()
router.register("collections", CollectionViewSet, "collection")
router.register("tags", TagViewSet, "tag")
router.register("shares", ShareViewSet, "share")
router.register("tokens", TokenViewSet, "token")

DOCUMENT = "documents/<uuid:document_id>"
urlpatterns: list[URLPattern | URLResolver] = [
    path("documents/", DocumentViewSet.as_view({"get": "list", "post": "create"}), name="document-list"),
    path("documents/import/", ImportBlocks.as_view(), name="document-import"),
    path(
        "documents/<uuid:pk>/",
        DocumentViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="document-detail",
    ),
    path("documents/<uuid:pk>/status/", DocumentViewSet.as_view({"get": "progress"}), name="document-status"),
    path("documents/<uuid:pk>/retry/", DocumentViewSet.as_view({"post": "retry"}), name="document-retry"),
    path(f"{DOCUMENT}/access/", Access.as_view(), name="document-access"),
    path(f"{DOCUMENT}/access/<str:way>/", AccessWay.as_view(), name="document-access-way"),
    path(f"{DOCUMENT}/pages/", PageList.as_view(), name="page-list"),
    path(f"{DOCUMENT}/pages/<int:number>/", PageDetail.as_view(), name="page-detail"),
    path(f"{DOCUMENT}/pages/<int:number>/image/", PageImage.as_view(), name="page-image"),
    path(f"{DOCUMENT}/pages/<int:number>/words/", PageWords.as_view(), name="page-words"),
    path(f"{DOCUMENT}/pages/<int:number>/units/", UnitsOfPage.as_view(), name="page-units"),
    path(f"{DOCUMENT}/units/", UnitsOfDocument.as_view(), name="document-units"),
    path(f"{DOCUMENT}/chunks/", ChunksOfDocument.as_view(), name="document-chunks"),
    path(f"{DOCUMENT}/tables/", TablesOfDocument.as_view(), name="document-tables"),
    path(f"{DOCUMENT}/tables/<int:index>/", TableDetail.as_view(), name="table-detail"),
    path(f"{DOCUMENT}/reference/", Reference.as_view(), name="document-reference"),
    path(f"{DOCUMENT}/citing/", Around.as_view(direction="citing"), name="document-citing"),
    path(f"{DOCUMENT}/references/", Around.as_view(direction="references"), name="document-references"),
    path(f"{DOCUMENT}/pdf/", AttachPdf.as_view(), name="document-pdf"),
    path("papers/", AddPaper.as_view(), name="paper-add"),
    path("papers/search/", FindPapers.as_view(), name="paper-search"),
    path("papers/import/", ImportPapers.as_view(), name="paper-import"),
    path("units/<uuid:pk>/", UnitDetail.as_view(), name="unit-detail"),
    path("units/<uuid:pk>/context/", UnitContext.as_view(), name="unit-context"),
    path("units/<uuid:pk>/siblings/", UnitSiblings.as_view(), name="unit-siblings"),
    path("chunks/<uuid:pk>/", ChunkDetail.as_view(), name="chunk-detail"),
    path("jobs/", JobList.as_view(), name="job-list"),
    path("jobs/<uuid:pk>/", JobDetail.as_view(), name="job-detail"),
    *router.urls,
]
