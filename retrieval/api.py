"""`/api/search/`: passages about a question; `/api/searches/`: the search history and saved searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import or_
from typing import Any, cast
from uuid import UUID

from django.db.models import Q
from django.urls import path
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_field, extend_schema_serializer
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from documents.api.common.fields import PlainView, Strict, VisibleRelated, VisibleRows, valid
from documents.api.units import UnitSerializer
from documents.ingestion.recognition import pages_left
from documents.models import CitationUnit, Collection, Document, RetrievalChunk
from documents.models.security import TokenScope
from retrieval.models import SavedSearch, SearchQuery
from retrieval.query.scope import OTHER_NAMES, Scope
from retrieval.results import (
    FULL_TEXT_LEVELS,
    LONGEST_LIST,
    MOST_CHUNKS,
    STRATEGIES,
    Hit,
    RagConfig,
    SearchOptions,
    SearchRecord,
    SearchResult,
)
from retrieval.search import search

YEAR: dict[str, Any] = {"required": False, "allow_null": True, "min_value": 0, "max_value": 3000}
PAGE: dict[str, Any] = {"required": False, "allow_null": True, "min_value": 1, "max_value": 1_000_000}


def words(help_text: str) -> serializers.ListField:
    child = serializers.CharField(max_length=200)
    return serializers.ListField(child=child, default=list, max_length=50, help_text=help_text)


class FiltersSerializer(Strict, serializers.Serializer):
    """Filters of a search. They combine; omitted ones do not filter."""

    documents = VisibleRelated(
        many=True, required=False, allow_null=True, queryset=Document.objects.all(), help_text="ids"
    )
    collection = VisibleRelated(required=False, allow_null=True, queryset=Collection.objects.all())
    tags = words("names; a document needs one of them")
    authors = words("parts of names; a document needs one of them")
    languages = words("codes such as 'en'")
    sections = words("parts of headings above the passage")
    section_types = words("such as 'methods'")
    chunk_types = serializers.ListField(
        child=serializers.ChoiceField([*CitationUnit.Type.values, "mixed", *OTHER_NAMES]),
        default=list,
        max_length=50,
        help_text="kinds; a passage needs one unit of one of them. text: prose; media: captions",
    )
    year_from = serializers.IntegerField(**YEAR)
    year_to = serializers.IntegerField(**YEAR)
    page_from = serializers.IntegerField(**PAGE)
    page_to = serializers.IntegerField(**PAGE)


depth = partial(serializers.IntegerField, required=False, min_value=1, max_value=LONGEST_LIST)
switch = partial(serializers.BooleanField, required=False)


class LevelField(serializers.ChoiceField):
    """The level that keyword search ranks; ``media`` is an alias of ``document``."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=[*FULL_TEXT_LEVELS, "media"], **options)

    def to_internal_value(self, data: Any) -> Any:
        chosen = super().to_internal_value(data)
        return "document" if chosen == "media" else chosen


class StrategiesSerializer(Strict, serializers.Serializer):
    """Depth and strategies of a search; omitted ones take the server's settings."""

    vector_limit = depth(help_text="passages that search by meaning brings; 60")
    keyword_limit = depth(help_text="passages that search by words brings; 60")
    top_k = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST_CHUNKS, help_text="passages kept in the end"
    )
    threshold = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text="least similarity in meaning; 0.1"
    )
    rerank = switch(help_text="order the best again, by a rerank model where one is set up")
    multi_query = switch(help_text="also search for variants of the question")
    hyde = switch(help_text="also search by a model's hypothetical answer (HyDE)")
    self_query = switch(help_text="read filters from the question")
    decomposition = switch(help_text="search for each part of a compound question")
    compression = switch(help_text="only the sentences about the question of each passage")
    fts_level = LevelField(required=False, allow_null=True, help_text="the level that keyword search ranks")


class RagConfigSerializer(StrategiesSerializer):
    """Settings for searching questions: depth, strategies and filters."""

    filters = FiltersSerializer(required=False)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        return config_of(super().to_internal_value(data)).stored()

    def to_representation(self, stored: dict[str, Any]) -> dict[str, Any]:
        return stored


def config_of(asked: dict[str, Any]) -> RagConfig:
    """Return the settings from validated data of ``RagConfigSerializer``."""
    filters = dict(asked.get("filters", {}))
    filters["documents"] = [row.pk for row in filters.get("documents") or ()]
    collection = filters.pop("collection", None)
    return RagConfig.read({**asked, "filters": {**filters, "collection": collection and collection.pk}})


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "In some documents",
            {
                "query": "capital expenditure 2018",
                "documents": ["7b0e6a3e-5f0f-4c6a-9f6e-0d4f5b1c2a3d"],
                "limit": 5,
                "chunk_types": ["table"],
            },
            request_only=True,
        )
    ]
)
class SearchRequestSerializer(FiltersSerializer):
    """A question and filters. Filters combine; omitted ones do not filter."""

    query = serializers.CharField(max_length=4000)
    limit = serializers.IntegerField(default=10, min_value=1, max_value=100)
    offset = serializers.IntegerField(default=0, min_value=0, max_value=10_000)
    fts_level = LevelField(default=None, allow_null=True, help_text="the level that keyword search ranks")
    off = serializers.ListField(
        child=serializers.ChoiceField(STRATEGIES),
        default=list,
        max_length=len(STRATEGIES),
        help_text="strategies that must not run",
    )
    rag_config = StrategiesSerializer(
        required=False, help_text="as for questions; its top_k overrides limit, its fts_level the other one"
    )


class ListRankSerializer(serializers.Serializer):
    """The passage's rank in one list."""

    list = serializers.CharField()
    rank = serializers.IntegerField(help_text="from 1")
    score = serializers.FloatField(help_text="in the list's own units")


class SnippetSerializer(serializers.Serializer):
    """An excerpt with the matched words."""

    text = serializers.CharField()
    marks = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2),
        help_text="[start, end) of matched words in the text",
    )


class HitSerializer(serializers.Serializer):
    """A passage about the question."""

    chunk = serializers.UUIDField(source="chunk_id")
    document = serializers.UUIDField(source="document_id")
    document_title = serializers.CharField()
    page = serializers.IntegerField(help_text="of the best unit, from 1")
    page_label = serializers.SerializerMethodField(help_text="printed on that page, or ''")
    lines_on_page = serializers.SerializerMethodField(help_text="of the best unit, counted on its page")
    page_start = serializers.IntegerField()
    page_end = serializers.IntegerField()
    file_name = serializers.SerializerMethodField()
    index = serializers.IntegerField(help_text="of the chunk in its document, from 0")
    previous_chunk = serializers.SerializerMethodField()
    next_chunk = serializers.SerializerMethodField()
    units = serializers.SerializerMethodField(help_text="all of the chunk, in reading order")
    unit_ids = serializers.ListField(child=serializers.UUIDField(), help_text="on the page, in reading order")
    best_unit_ids = serializers.ListField(child=serializers.UUIDField(), help_text="best first")
    score = serializers.FloatField(help_text="comparable within one answer only")
    similarity = serializers.SerializerMethodField(
        help_text="cosine with the question; null if vector search did not find it"
    )
    why = ListRankSerializer(many=True)
    snippet = SnippetSerializer()
    passage = serializers.CharField()
    context_header = serializers.CharField(help_text="title › section path › table caption")
    section_path = serializers.ListField(child=serializers.CharField())
    chunk_type = serializers.CharField()

    @extend_schema_field(serializers.CharField())
    def get_file_name(self, hit: Hit) -> str:
        return self._parts.file_names.get(hit.document_id, "")

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_previous_chunk(self, hit: Hit) -> UUID | None:
        return self._parts.chunks.get((hit.document_id, hit.index - 1))

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_next_chunk(self, hit: Hit) -> UUID | None:
        return self._parts.chunks.get((hit.document_id, hit.index + 1))

    @extend_schema_field(serializers.CharField())
    def get_page_label(self, hit: Hit) -> str:
        return str(self._best(hit).get("page_label", ""))

    @extend_schema_field(serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2))
    def get_lines_on_page(self, hit: Hit) -> list[int]:
        return list(self._best(hit).get("lines_on_page", (0, 0)))

    def _best(self, hit: Hit) -> Mapping[str, Any]:
        return self._parts.units.get(hit.best_unit_ids[0], {})

    @extend_schema_field(UnitSerializer(many=True))
    def get_units(self, hit: Hit) -> Any:
        return [self._parts.units[pk] for pk in hit.passage_unit_ids if pk in self._parts.units]

    @extend_schema_field(serializers.FloatField(allow_null=True))
    def get_similarity(self, hit: Hit) -> float | None:
        return next((rank.score for rank in hit.why if rank.list == "meaning of question"), None)

    @property
    def _parts(self) -> HitParts:
        return cast(HitParts, self.context["parts"])


@dataclass(frozen=True, slots=True)
class HitParts:
    """What hits do not hold: their units, files and neighbours, all read at once.

    Attributes:
        units: as they are shown.
        chunks: ids of the chunks beside the hits, by document and index.
    """

    units: Mapping[UUID, Mapping[str, Any]]
    file_names: Mapping[UUID, str]
    chunks: Mapping[tuple[UUID, int], UUID]

    @classmethod
    def of(cls, hits: Sequence[Hit]) -> HitParts:
        """Read them in four statements."""
        documents = {hit.document_id for hit in hits}
        beside = [Q(document=hit.document_id, index__in=(hit.index - 1, hit.index + 1)) for hit in hits]
        chunks = RetrievalChunk.objects.filter(reduce(or_, beside)) if hits else RetrievalChunk.objects.none()
        units = CitationUnit.objects.in_bulk([pk for hit in hits for pk in hit.passage_unit_ids])
        return cls(
            dict(zip(units, UnitSerializer(list(units.values()), many=True).data, strict=True)),
            dict(Document.objects.filter(pk__in=documents).values_list("pk", "original_name")),
            {(document, index): pk for pk, document, index in chunks.values_list("pk", "document", "index")},
        )


class StrategySerializer(serializers.Serializer):
    """The report of one strategy."""

    name = serializers.CharField()
    ran = serializers.BooleanField()
    milliseconds = serializers.FloatField()
    added = serializers.IntegerField()
    reason = serializers.CharField(help_text="why it did not run, or what went wrong")


class DerivedQuerySerializer(serializers.Serializer):
    """A query derived from yours."""

    text = serializers.CharField()
    by = serializers.CharField()


class SearchResultSerializer(serializers.Serializer):
    """The hits, and how they were found."""

    query = serializers.CharField()
    hits = HitSerializer(many=True)
    total = serializers.IntegerField()
    strategies = StrategySerializer(many=True)
    derived = DerivedQuerySerializer(many=True)
    filters = serializers.DictField(child=serializers.CharField())
    milliseconds = serializers.FloatField()
    message = serializers.CharField(help_text="why there is nothing, or nothing close")
    respelt = serializers.CharField(
        help_text="the query with near spellings of words that no passage has; '' if there are none"
    )
    preparing = serializers.IntegerField(
        help_text="documents in scope that are indexed again after an upgrade, and not found until then"
    )
    pages_left = serializers.SerializerMethodField(
        help_text="pages in scope that are still to be read, and could not be searched"
    )

    def get_pages_left(self, result: SearchResult) -> int:
        return int(self.context["pages_left"])


class Search(PlainView):
    """Return the passages about a question, best first."""

    serializer_class = SearchRequestSerializer
    scope = TokenScope.READ

    @extend_schema(operation_id="search", responses={200: SearchResultSerializer})
    def post(self, request: Request) -> Response:
        asked = valid(self.get_serializer(data=request.data))
        usual = SearchOptions(
            limit=asked["limit"],
            offset=asked["offset"],
            fts_level=asked["fts_level"],
            off=frozenset(asked["off"]),
            spelling=True,
            record=SearchRecord("api"),
        )
        options = config_of(asked.get("rag_config", {})).options(usual)
        searched = config_of({"filters": asked}).filters.narrow(Scope(request.user))
        result = search(asked["query"], searched, options)
        context = {"pages_left": pages_left(searched.documents()), "parts": HitParts.of(result.hits)}
        return Response(SearchResultSerializer(result, context=context).data)


class SearchQuerySerializer(serializers.ModelSerializer):
    """A search you made."""

    strategies = serializers.ListField(child=serializers.DictField())
    derived = serializers.JSONField()
    filters = serializers.DictField()

    class Meta:
        model = SearchQuery
        exclude = ["user"]


class SavedSearchSerializer(Strict, serializers.ModelSerializer):
    """A saved search; ``query`` is the query string of the search page, with ``q``."""

    name = serializers.CharField(max_length=120)
    query = serializers.RegexField(r"(^|&)q=[^&]", max_length=4000, help_text="q=tides&year=1998")

    class Meta:
        model = SavedSearch
        fields = ["id", "name", "query", "created_at"]

    def create(self, values: dict[str, Any]) -> SavedSearch:
        """Save the search; replace one of the same name."""
        place = {"user": self.context["request"].user, "name": values["name"]}
        return SavedSearch.objects.update_or_create(**place, defaults={"query": values["query"]})[0]


@extend_schema(tags=["search"])
class SavedSearches(VisibleRows, generics.ListCreateAPIView):
    """Your saved searches by name."""

    queryset = SavedSearch.objects.all()
    serializer_class = SavedSearchSerializer


@extend_schema(tags=["search"])
class SavedSearchDetail(VisibleRows, generics.RetrieveDestroyAPIView):
    """One saved search."""

    queryset = SavedSearch.objects.all()
    serializer_class = SavedSearchSerializer


@extend_schema(tags=["search"])
class SearchHistory(VisibleRows, generics.ListAPIView):
    """Your searches, latest first."""

    queryset = SearchQuery.objects.all()
    serializer_class = SearchQuerySerializer
    ordering_fields = ["created_at", "milliseconds"]


urlpatterns = [
    path("search/", Search.as_view(), name="search"),
    path("searches/", SearchHistory.as_view(), name="search-history"),
    path("saved-searches/", SavedSearches.as_view(), name="saved-search-list"),
    path("saved-searches/<uuid:pk>/", SavedSearchDetail.as_view(), name="saved-search-detail"),
]
