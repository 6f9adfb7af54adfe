"""Paths of the search pages."""

from __future__ import annotations

from django.urls import path

from retrieval import views

urlpatterns = [
    path("", views.search_view, name="search"),
    path("similar/<uuid:pk>/", views.similar, name="search-similar"),
    path("picture/<uuid:pk>.png", views.picture, name="search-picture"),
    path("models/", views.spaces, name="search-models"),
    path("save/", views.save_search, name="search-save"),
    path("saved/<uuid:pk>/forget/", views.forget_saved, name="search-forget-saved"),
    path("history/", views.history, name="search-history"),
    path("history/forget/", views.forget_all, name="search-forget-all"),
    path("history/<uuid:pk>/forget/", views.forget, name="search-forget"),
]
