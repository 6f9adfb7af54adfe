"""`/api/reviews/…`: documents as rows, questions as columns; `/api/review-templates/…`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import models, transaction
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiExample,
    extend_schema,
    extend_schema_field,
    extend_schema_serializer,
    extend_schema_view,
)
from rest_framework import exceptions, generics, serializers, status, views
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from chat.providers.catalogue import PROVIDERS
from documents.api.common.callers import HasScope
from documents.api.common.errors import UNUSABLE, StateConflict, Unusable
from documents.api.common.fields import MayEdit, RowsViewSet, Strict, VisibleRelated, valid
from documents.models import Collection, Document
from retrieval.models import SavedSearch
from reviews.column_sets import (
    FIELDS,
    MOST_BYTES,
    MOST_COLUMNS,
    InvalidColumns,
    InvalidReview,
    columns_in,
    columns_of,
    keep_template,
    template_of,
    templates,
    values_of,
)
from reviews.models import Review, ReviewCell, ReviewColumn, ReviewTemplate
from reviews.review_commands import StaleCell, add_columns, join_sources, save_column, set_blind, start_review

if TYPE_CHECKING:
    View = views.APIView
else:
    View = object


@contextmanager
def as_api_errors() -> Iterator[None]:
    """Convert errors of commands: 422 for a refused change, 409 for one based on an old revision."""
    try:
        yield
    except StaleCell as error:
        raise StateConflict(str(error)) from None
    except InvalidColumns as error:
        raise Unusable(_("These columns cannot be used; see 'fields'."), columns=error.errors) from None
    except InvalidReview as error:
        raise Unusable(str(error)) from None


class ColumnSerializer(Strict, serializers.ModelSerializer):
    """One question asked of every document. A new ``question``, ``kind``, ``unit`` or ``choices`` makes
    its cells outdated."""

    choices = serializers.ListField(
        child=serializers.CharField(max_length=120), required=False, max_length=50
    )
    position = serializers.IntegerField(required=False, min_value=0, max_value=1000)

    class Meta:
        model = ReviewColumn
        fields = ["id", "position", "title", "question", "kind", "unit", "choices", "condition", "note"]
        validators: list[Any] = []  # the command reports a title that is taken


class TemplateField(serializers.CharField):
    """A template: the name of one of Pincite's, or the id of one that the caller may see."""

    def to_internal_value(self, data: Any) -> str:
        named = str(super().to_internal_value(data))
        if named in templates():
            return named
        try:
            own = ReviewTemplate.objects.visible_to(self.context["request"].user).filter(pk=UUID(named))
        except ValueError:
            raise serializers.ValidationError("There is no such template.") from None
        if not own.exists():
            raise exceptions.NotFound
        return named


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "Contracts, with the columns that come with Pincite",
            {"name": "Leases", "documents": ["7b0e6a3e-5f0f-4c6a-9f6e-0d4f5b1c2a3d"], "template": "contract"},
            request_only=True,
        )
    ]
)
class ReviewSerializer(Strict, serializers.ModelSerializer):
    """A table of answers: documents as rows, questions as columns. The documents are given, or those of a
    collection or saved search; with ``joins`` their new documents are added as rows."""

    documents = VisibleRelated(many=True, required=False, write_only=True, queryset=Document.objects.all())
    collection = VisibleRelated(required=False, allow_null=True, queryset=Collection.objects.all())
    search = VisibleRelated(required=False, allow_null=True, queryset=SavedSearch.objects.all())
    template = TemplateField(
        required=False, write_only=True, max_length=40,
        help_text="the id of one of your templates, or " + ", ".join(sorted(templates())),
    )  # fmt: skip
    provider = serializers.ChoiceField(
        [("", "the server's default"), *((name, name) for name in PROVIDERS)], required=False
    )
    columns = ColumnSerializer(many=True, read_only=True)
    name = serializers.CharField(max_length=200, required=False, help_text="the question if left out")
    question = serializers.CharField(
        max_length=1000, required=False,
        help_text="put to every document: columns are proposed for it unless a template is given",
    )  # fmt: skip
    tokens_left = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=10**12,
        help_text="tokens that a model may still use for this review; null: no limit",
    )  # fmt: skip
    progress = serializers.SerializerMethodField(help_text="cells by state")

    class Meta:
        model = Review
        fields = [
            "id", "name", "question", "documents", "collection", "search", "joins", "blind", "template",
            "provider", "tokens_left", "columns", "progress", "created_at", "updated_at",
        ]  # fmt: skip

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_progress(self, review: Review) -> dict[str, int]:
        cells = ReviewCell.objects.filter(row__review=review).order_by()
        return dict(cells.values_list("state").annotate(n=models.Count("pk")))

    def create(self, values: dict[str, Any]) -> Review:
        name = values.pop("name", "") or values.get("question", "")[:200]
        if not name:
            raise Unusable(_("Give a name or a question."))
        with as_api_errors():
            return start_review(self.context["request"].user, name, **values)

    def update(self, review: Review, values: dict[str, Any]) -> Review:
        is_blind = values.pop("blind", review.blind)
        if is_blind != review.blind and review.owner_id != self.context["request"].user.pk:
            raise exceptions.PermissionDenied("Only its owner may start and end blind marking.")
        with as_api_errors(), transaction.atomic():
            if is_blind != review.blind:
                set_blind(review, is_blind)
            changed: Review = super().update(review, values)
            if values.keys() & {"collection", "search"}:
                join_sources(changed)
        return changed


class ReviewChangeSerializer(ReviewSerializer):
    """The fields that can be changed; rows and columns have their own URLs."""

    class Meta(ReviewSerializer.Meta):
        fields = [name for name in ReviewSerializer.Meta.fields if name not in ("documents", "template")]

    documents = None  # type: ignore[assignment]
    template = None  # type: ignore[assignment]


@extend_schema_view(
    create=extend_schema(responses={201: ReviewSerializer} | UNUSABLE),
    partial_update=extend_schema(responses={200: ReviewChangeSerializer} | UNUSABLE),
)
class ReviewViewSet(RowsViewSet):
    """Your reviews, and those that others share with you."""

    queryset = Review.objects.prefetch_related("columns")
    serializer_class = ReviewSerializer
    permission_classes = [HasScope, MayEdit]
    ordering_fields = ["created_at", "updated_at"]

    def get_serializer_class(self) -> type[serializers.BaseSerializer]:
        return ReviewChangeSerializer if self.action == "partial_update" else ReviewSerializer


class ReviewPart(View):
    """Base of views under ``/api/reviews/<uuid:review_id>/…``; unsafe methods require the right to edit."""

    @cached_property
    def review(self) -> Review:
        if getattr(self, "swagger_fake_view", False):
            return Review()
        user, pk = self.request.user, self.kwargs["review_id"]
        review = get_object_or_404(Review.objects.visible_to(user), pk=pk)
        is_safe = self.request.method in SAFE_METHODS
        if not (is_safe or Review.objects.editable_by(user).filter(pk=pk).exists()):
            raise exceptions.PermissionDenied(MayEdit.message)
        return review

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the right to the review before the request's data."""
        super().initial(request, *args, **kwargs)
        assert self.review is not None


@extend_schema_view(post=extend_schema(responses={201: ColumnSerializer} | UNUSABLE))
class Columns(ReviewPart, generics.ListCreateAPIView):
    """The columns in their order."""

    serializer_class = ColumnSerializer
    filter_backends: list[Any] = []
    page_ordering = ["position"]

    def get_queryset(self) -> models.QuerySet:
        return ReviewColumn.objects.filter(review=self.review)

    def perform_create(self, serializer: Any) -> None:
        with as_api_errors():
            serializer.instance = save_column(self.review, ReviewColumn(**serializer.validated_data))


@extend_schema_view(patch=extend_schema(responses={200: ColumnSerializer} | UNUSABLE))
class ColumnDetail(ReviewPart, generics.RetrieveUpdateDestroyAPIView):
    """One column. Deleting it deletes its cells."""

    http_method_names = ["get", "patch", "delete", "head", "options"]
    serializer_class = ColumnSerializer

    def get_queryset(self) -> models.QuerySet:
        return ReviewColumn.objects.filter(review=self.review)

    def perform_update(self, serializer: Any) -> None:
        for name, value in serializer.validated_data.items():
            setattr(serializer.instance, name, value)
        with as_api_errors():
            save_column(self.review, serializer.instance)


class ColumnFileSerializer(Strict, serializers.Serializer):
    """Columns as a file. ``text`` is CSV (heads ``title``, ``question``, ``type``, ``unit``, ``choices``
    with ``|`` between them, ``note``) or the JSON of a template."""

    text = serializers.CharField(max_length=MOST_BYTES, trim_whitespace=False)


@extend_schema(request=ColumnFileSerializer, responses={201: ColumnSerializer(many=True)} | UNUSABLE)
class ColumnsFromFile(ReviewPart, views.APIView):
    """Import columns from a file. If one is invalid, none is imported; `fields` names it."""

    def post(self, request: Request, **kwargs: Any) -> Response:
        asked = valid(ColumnFileSerializer(data=request.data))
        with as_api_errors():
            _name, columns = columns_in(asked["text"].encode())
            add_columns(self.review, columns)
        return Response(ColumnSerializer(columns, many=True).data, status=status.HTTP_201_CREATED)


# --- Templates ---


class TemplateColumnSerializer(ColumnSerializer):
    """A column of a template, with the fields of a review's column."""

    position = None  # type: ignore[assignment]

    class Meta(ColumnSerializer.Meta):
        fields = list(FIELDS)


class TemplateSerializer(Strict, serializers.ModelSerializer):
    """A set of columns for reviews. Send ``columns``, or the ``review`` to copy them from."""

    owner = serializers.CharField(source="owner.username", read_only=True)
    columns = serializers.ListField(child=TemplateColumnSerializer(), required=False, max_length=MOST_COLUMNS)
    review = VisibleRelated(required=False, write_only=True, queryset=Review.objects.all())

    class Meta:
        model = ReviewTemplate
        fields = ["id", "name", "owner", "columns", "review", "created_at", "updated_at"]

    def create(self, values: dict[str, Any]) -> ReviewTemplate:
        user = self.context["request"].user
        with as_api_errors():
            if "review" in values:
                if "columns" in values:
                    raise Unusable("Send either columns or a review.")
                return template_of(values["review"], user, values["name"])
            return keep_template(user, values["name"], checked(values.get("columns", [])))

    def update(self, template: ReviewTemplate, values: dict[str, Any]) -> ReviewTemplate:
        with as_api_errors():
            if "columns" in values:
                values["columns"] = [values_of(column) for column in checked(values["columns"])]
        values.pop("review", None)
        return super().update(template, values)


def checked(listed: list[dict[str, Any]]) -> list[ReviewColumn]:
    return columns_of([(f"columns.{place}", dict(values)) for place, values in enumerate(listed)])


@extend_schema_view(
    create=extend_schema(responses={201: TemplateSerializer} | UNUSABLE),
    partial_update=extend_schema(responses={200: TemplateSerializer} | UNUSABLE),
)
@extend_schema(tags=["reviews"])
class TemplateViewSet(RowsViewSet):
    """Your own templates, and those that others share with you."""

    queryset = ReviewTemplate.objects.select_related("owner")
    serializer_class = TemplateSerializer
    permission_classes = [HasScope, MayEdit]
    ordering_fields = ["name", "created_at", "updated_at"]
    page_ordering = ["name", "created_at"]
