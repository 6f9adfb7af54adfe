"""`/api/reviews/<id>/…`: rows, cells with their evidence, the queue, agreement, shares."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import django_filters
import msgspec
from django.db import models
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_serializer, extend_schema_view
from rest_framework import exceptions, generics, mixins, serializers, status, views
from rest_framework.request import Request
from rest_framework.response import Response

from chat.providers.registry import provider_named
from documents.api.common.callers import caller
from documents.api.common.errors import UNUSABLE, Unusable
from documents.api.common.fields import Strict, VisibleRelated, valid
from documents.api.library import SharedWithParty
from documents.models import Document
from retrieval.provider_calls import ProviderError
from reviews.api.reviews import ReviewPart, View, as_api_errors
from reviews.cell_answers import fill_estimate
from reviews.models import Review, ReviewCell, ReviewColumn, ReviewRow, ReviewShare, ReviewTemplate
from reviews.question_answer import column_answers
from reviews.review_commands import add_rows, agreements, cancel_filling, change_cell, fill_cells, fillable
from reviews.review_presenters import blinded, grid, visible_rows


class RowSerializer(serializers.ModelSerializer):
    """One document of a review."""

    title = serializers.CharField(source="document_title", read_only=True)
    document = serializers.UUIDField(
        source="document_id", read_only=True, allow_null=True, help_text="null if it was deleted for good"
    )
    is_deleted = serializers.BooleanField(
        read_only=True, help_text="the document is in the bin or deleted for good"
    )

    class Meta:
        model = ReviewRow
        fields = ["id", "document", "title", "is_deleted", "position", "created_at"]


class NewRowsSerializer(Strict, serializers.Serializer):
    documents = VisibleRelated(many=True, queryset=Document.objects.all())


class AddedSerializer(serializers.Serializer):
    added = serializers.IntegerField(help_text="number of new rows")


OBJECTS = {"type": "array", "items": {"type": "object", "additionalProperties": {}}}


@extend_schema(responses={200: OBJECTS})
class Answer(ReviewPart, views.APIView):
    """What the documents say to each column, counted over all that you may see: `documents` is the
    denominator, `states` divides it; sums and ranges by unit, lists by value, each with its cells."""

    def get(self, request: Request, **kwargs: Any) -> Response:
        answers = column_answers(grid(self.review, caller(request)))
        return Response(msgspec.to_builtins(answers))


class RowsPart(ReviewPart):
    """Base of views on the rows of documents that the caller may see."""

    serializer_class = RowSerializer

    def get_queryset(self) -> models.QuerySet:
        if getattr(self, "swagger_fake_view", False):
            return ReviewRow.objects.none()
        return visible_rows(self.review, caller(self.request)).select_related("document")


class Rows(RowsPart, generics.ListAPIView):
    """The rows of documents that you may see."""

    filter_backends: list[Any] = []
    page_ordering = ["position"]

    @extend_schema(request=NewRowsSerializer, responses={201: AddedSerializer} | UNUSABLE)
    def post(self, request: Request, **kwargs: Any) -> Response:
        asked = valid(NewRowsSerializer(data=request.data, context=self.get_serializer_context()))
        with as_api_errors():
            added = add_rows(self.review, asked["documents"], caller(request))
        return Response({"added": added}, status=status.HTTP_201_CREATED)


class RowDetail(RowsPart, generics.RetrieveDestroyAPIView):
    """One row. Deleting it deletes its cells; the document stays."""


class ReviewCellSerializer(serializers.ModelSerializer):
    """The answer to a column's question from a row's document.

    ``value`` is typed by the column's kind: a string; ``{"number", "unit"}``; ``{"number",
    "currency"}`` in whole units of the currency, each with "period" if it is of a part of a year; an
    ISO date; true or false; one of the choices; a list of them. The first citation supports the value.
    """

    document = serializers.UUIDField(source="row.document_id", read_only=True, allow_null=True)

    class Meta:
        model = ReviewCell
        fields = [
            "id", "row", "document", "column", "state", "value", "text", "citations", "answered_by",
            "by_person", "mark", "comment", "error", "usage", "revision", "updated_at",
        ]  # fmt: skip
        read_only_fields = fields


class CellChangeSerializer(Strict, serializers.Serializer):
    """Your own value as text, your mark of the present one, or a comment."""

    revision = serializers.IntegerField(
        min_value=0, help_text="the revision your change is based on; 409 if it has changed"
    )
    text = serializers.CharField(required=False, allow_blank=True, max_length=10_000)
    mark = serializers.ChoiceField(["", *ReviewCell.Mark.values], required=False)
    comment = serializers.CharField(required=False, allow_blank=True, max_length=2000)


class CellFilter(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(choices=ReviewCell.State.choices)
    column = django_filters.UUIDFilter()
    row = django_filters.UUIDFilter()

    class Meta:
        model = ReviewCell
        fields: list[str] = []


class Cells(ReviewPart, generics.ListAPIView):
    """The cells of documents that you may see, row by row."""

    serializer_class = ReviewCellSerializer
    filterset_class = CellFilter
    page_ordering = [
        "row_position",
        "column__position",
    ]  # a cursor reads the first field as an attribute of the cell

    def get_queryset(self) -> models.QuerySet:
        if getattr(self, "swagger_fake_view", False):
            return ReviewCell.objects.none()
        cells = ReviewCell.objects.filter(row__review=self.review).visible_to(caller(self.request))
        cells = cells.annotate(row_position=models.F("row__position"))
        return cells.select_related("row").prefetch_related("citations")

    def paginate_queryset(self, queryset: Any) -> Any:
        page = super().paginate_queryset(queryset)
        return None if page is None else blinded(page, self.review, caller(self.request))


class CellDetail(Cells, generics.RetrieveAPIView):
    """One cell."""

    filterset_class = None  # type: ignore[assignment]
    filter_backends: list[Any] = []

    def get_object(self) -> ReviewCell:
        return blinded([super().get_object()], self.review, caller(self.request))[0]

    @extend_schema(operation_id="reviews_cells_retrieve")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.retrieve(request, *args, **kwargs)

    @extend_schema(request=CellChangeSerializer, responses={200: ReviewCellSerializer} | UNUSABLE)
    def patch(self, request: Request, **kwargs: Any) -> Response:
        cell, changes = self.get_object(), valid(CellChangeSerializer(data=request.data))
        with as_api_errors():
            change_cell(cell.pk, caller(request), changes.pop("revision"), changes)
        return Response(ReviewCellSerializer(self.get_object()).data)


class ChosenSerializer(Strict, serializers.Serializer):
    """The chosen cells; by default all that are not filled."""

    cells = serializers.ListField(child=serializers.UUIDField(), required=False, max_length=5000)
    column = serializers.UUIDField(required=False)
    again = serializers.BooleanField(required=False, default=False, help_text="also cells that are filled")


class EstimatedSerializer(ChosenSerializer):
    """The chosen cells as query parameters, hence fewer."""

    cells = serializers.ListField(child=serializers.UUIDField(), required=False, max_length=500)

    def to_internal_value(self, data: Any) -> Any:
        if data.get("column") == "":  # DRF would treat an empty form field as missing
            raise serializers.ValidationError({"column": ["Must be a valid UUID."]})
        return super().to_internal_value(data)


class FillSerializer(ChosenSerializer):
    """The cells to fill; by default all that are not filled."""

    budget = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=10**12,
        help_text="tokens a model may use for this review from now on; null: no limit",
    )  # fmt: skip


class CountSerializer(serializers.Serializer):
    cells = serializers.IntegerField()


class ChosenCells(ReviewPart, views.APIView):
    """Base of views on chosen cells of a review."""

    def chosen(self, request: Request, wanted: dict[str, Any]) -> models.QuerySet[ReviewCell]:
        cells = ReviewCell.objects.filter(row__review=self.review).visible_to(caller(request))
        if "cells" in wanted:
            cells = cells.filter(pk__in=wanted["cells"])
            if cells.count() < len(set(wanted["cells"])):
                raise exceptions.NotFound
        if "column" in wanted:
            get_object_or_404(ReviewColumn.objects.filter(review=self.review), pk=wanted["column"])
            cells = cells.filter(column=wanted["column"])
        return fillable(cells, again=wanted["again"])


@extend_schema(request=FillSerializer, responses={202: CountSerializer})
class Fill(ChosenCells):
    """Put cells in the queue; they are filled in the background."""

    scope = rate = "ask"

    def post(self, request: Request, **kwargs: Any) -> Response:
        wanted = valid(FillSerializer(data=request.data))
        cells = self.chosen(request, wanted)
        if "budget" in wanted:
            Review.objects.filter(pk=self.review.pk).update(tokens_left=wanted["budget"])
        return Response({"cells": fill_cells(cells, again=wanted["again"])}, status=status.HTTP_202_ACCEPTED)


class EstimateSerializer(serializers.Serializer):
    """The maximum cost of filling the chosen cells. Without a model there are no calls."""

    provider = serializers.CharField()
    cells = serializers.IntegerField()
    calls = serializers.IntegerField()
    tokens = serializers.IntegerField(help_text="of prompts and replies together")
    tokens_left = serializers.IntegerField(allow_null=True, help_text="of the review's budget")


@extend_schema(parameters=[EstimatedSerializer], responses={200: EstimateSerializer} | UNUSABLE)
class Estimate(ChosenCells):
    """Estimate the cost of filling cells."""

    def get(self, request: Request, **kwargs: Any) -> Response:
        asked = valid(EstimatedSerializer(data=request.query_params))
        try:
            provider = provider_named(self.review.provider)
        except ProviderError as error:
            raise Unusable(error.message) from None
        cells = self.chosen(request, asked).select_related("row")
        found = fill_estimate(self.review, cells, provider)
        header = {"provider": provider.model or provider.name, "tokens_left": self.review.tokens_left}
        return Response(header | {name: getattr(found, name) for name in ("cells", "calls", "tokens")})


@extend_schema(request=None, responses={200: CountSerializer})
class CancelFilling(ReviewPart, views.APIView):
    """Remove waiting cells from the queue."""

    scope = "ask"

    def post(self, request: Request, **kwargs: Any) -> Response:
        return Response({"cells": cancel_filling(self.review)})


class AgreementSerializer(serializers.Serializer):
    """Two reviewers, and the cells that both marked while marks were blind."""

    first = serializers.CharField()
    second = serializers.CharField()
    cells = serializers.IntegerField(help_text="marked by both")
    agreed = serializers.IntegerField()
    both_accepted = serializers.IntegerField()
    both_wrong = serializers.IntegerField()
    first_only = serializers.IntegerField(help_text="accepted by the first only")
    second_only = serializers.IntegerField()
    kappa = serializers.FloatField(
        allow_null=True, help_text="Cohen's kappa; null if chance agreement is complete"
    )
    disputed = serializers.ListField(child=serializers.UUIDField(), help_text="cells on which they disagree")


class AgreementsSerializer(serializers.Serializer):
    blind = serializers.BooleanField(help_text="marks are still blind: agreement is shown afterwards")
    pairs = AgreementSerializer(many=True)


@extend_schema(responses={200: AgreementsSerializer})
class Agreements(ReviewPart, views.APIView):
    """Agreement of each pair of reviewers on blind marks."""

    def get(self, request: Request, **kwargs: Any) -> Response:
        found = {"blind": self.review.blind, "pairs": agreements(self.review, caller(request))}
        return Response(AgreementsSerializer(found).data)


# --- Shares ---


@extend_schema_serializer(component_name="ReviewShare")
class PartySerializer(SharedWithParty):
    """A right to a review or a template, given to one user or one group of yours."""

    class Meta:
        model = ReviewShare
        fields = ["id", "user", "group", "can_write", "created_at"]
        validators: list[Any] = []  # a repeated share updates the right


class OwnShares(View):
    """Shares of a review or a template; only its owner sees and changes them."""

    serializer_class = PartySerializer
    filter_backends: list[Any] = []
    page_ordering = ["pk"]

    @cached_property
    def shared(self) -> Review | ReviewTemplate:
        user, keys = self.request.user, self.kwargs
        found: Review | ReviewTemplate = (
            get_object_or_404(Review.objects.visible_to(user), pk=keys["review_id"])
            if "review_id" in keys
            else get_object_or_404(ReviewTemplate.objects.visible_to(user), pk=keys["template_id"])
        )
        if found.owner_id != self.request.user.pk:
            raise exceptions.PermissionDenied("Only its owner can share this.")
        return found

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        assert self.shared is not None

    def get_queryset(self) -> models.QuerySet:
        if getattr(self, "swagger_fake_view", False):
            return ReviewShare.objects.none()
        return self.shared.shares.select_related("user", "group")


@extend_schema_view(post=extend_schema(responses={201: PartySerializer} | UNUSABLE))
@extend_schema(tags=["reviews"])
class Shares(OwnShares, generics.ListCreateAPIView):
    """The shares of a review or template. Sharing again with the same user or group changes the right."""

    def perform_create(self, serializer: Any) -> None:
        values = serializer.validated_data
        party = {"user": values.get("user"), "group": values.get("group")}
        rights = {"can_write": values.get("can_write", False)}
        serializer.instance, _made = self.shared.shares.update_or_create(**party, defaults=rights)


@extend_schema(tags=["reviews"])
class ShareDetail(OwnShares, mixins.DestroyModelMixin, generics.RetrieveAPIView):
    """One share. Deleting it ends it."""

    def delete(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.destroy(request, *args, **kwargs)
