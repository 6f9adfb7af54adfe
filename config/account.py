"""Paths of an account: sign in and out, the password, API tokens."""

from __future__ import annotations

from django.contrib.auth import views
from django.urls import path

urlpatterns = [
    path("sign-in/", views.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("sign-out/", views.LogoutView.as_view(), name="logout"),
]
