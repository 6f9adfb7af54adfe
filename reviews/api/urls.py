"""URLs of the API of reviews."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from documents.api.urls import UuidRouter
from reviews.api.cells import (
    Agreements,
    Answer,
    CancelFilling,
    CellDetail,
    Cells,
    Estimate,
    Fill,
    RowDetail,
    Rows,
    ShareDetail,
    Shares,
)
from reviews.api.reviews import ColumnDetail, Columns, ColumnsFromFile, ReviewViewSet, TemplateViewSet

router = UuidRouter()
router.register("reviews", ReviewViewSet, "review")
router.register("review-templates", TemplateViewSet, "review-template")

REVIEW = "reviews/<uuid:review_id>"

urlpatterns: list[URLPattern | URLResolver] = [
    path(f"{REVIEW}/columns/", Columns.as_view(), name="review-columns"),
    path(f"{REVIEW}/columns/from-file/", ColumnsFromFile.as_view(), name="review-columns-from-file"),
    path(f"{REVIEW}/columns/<uuid:pk>/", ColumnDetail.as_view(), name="review-column"),
    path(f"{REVIEW}/rows/", Rows.as_view(), name="review-rows"),
    path(f"{REVIEW}/rows/<uuid:pk>/", RowDetail.as_view(), name="review-row"),
    path(f"{REVIEW}/cells/", Cells.as_view(), name="review-cells"),
    path(f"{REVIEW}/cells/<uuid:pk>/", CellDetail.as_view(), name="review-cell"),
    path(f"{REVIEW}/fill/", Fill.as_view(), name="review-fill"),
    path(f"{REVIEW}/estimate/", Estimate.as_view(), name="review-estimate"),
    path(f"{REVIEW}/agreement/", Agreements.as_view(), name="review-agreement"),
    path(f"{REVIEW}/answer/", Answer.as_view(), name="review-answer"),
    path(f"{REVIEW}/cancel/", CancelFilling.as_view(), name="review-cancel"),
    *[
        path(f"{prefix}/shares/{end}", view.as_view(), name=f"{name}-{view.__name__.lower()}")
        for prefix, name in ((REVIEW, "review"), ("review-templates/<uuid:template_id>", "review-template"))
        for end, view in (("", Shares), ("<int:pk>/", ShareDetail))
    ],
    *router.urls,
]
