"""Access to the admin's dashboard."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from documents.models import Document
from retrieval.models import SearchQuery


@pytest.fixture
def helper(db: None) -> User:
    """Staff, with no permission at all."""
    return User.objects.create_user("helper", is_staff=True)


def dashboard(user: User) -> str:
    page = Client()
    page.force_login(user)
    return page.get("/admin/dashboard/").content.decode()


def test_the_dashboard_shows_staff_only_what_their_permissions_cover(alice: User, helper: User) -> None:
    """S20."""
    SearchQuery.objects.create(user=alice, query="layoffs in Berlin", milliseconds=900)
    Document.objects.create(
        owner=alice, title="Merger with Zanzibar", status="parsing", started_at=timezone.now(),
        lease=uuid4(), lease_expires_at=timezone.now() + timedelta(minutes=1), lease_holder="here:1",
    )  # fmt: skip
    shown = dashboard(helper)
    for private in ("layoffs", "Zanzibar", "Slowest searches", "Documents by state", "Put back"):
        assert private not in shown, private
    assert "no permission" in shown
    helper.user_permissions.add(Permission.objects.get(codename="view_document"))
    assert "Zanzibar" in dashboard(helper) and "layoffs" not in dashboard(helper)
    helper.user_permissions.add(Permission.objects.get(codename="view_searchquery"))
    assert "layoffs" in dashboard(helper)
