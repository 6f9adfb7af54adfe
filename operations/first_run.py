"""What a fresh installation needs before it answers. Every step may be repeated, or finished later."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.staticfiles.management.commands.collectstatic import Command as CollectStatic
from django.core.files.base import ContentFile
from django.core.management import call_command

from documents.files.uploads import UploadRefused, store_upload
from documents.ingestion.pipeline import ingest_document
from documents.models import Document, TemporaryPassword
from operations.handbook import SUGGESTED_QUESTIONS, draw_handbook
from operations.http.static_files import are_collected

HANDBOOK_NAME = "Pincite_handbook.pdf"


@dataclass(frozen=True, slots=True)
class FirstUser:
    """``password`` is known only to who made the user just now; '' on every later run."""

    user: User
    password: str


def prepare_database() -> None:
    call_command("migrate", verbosity=0, interactive=False)


def collect_static_files() -> None:
    """Copies them when one of the sources is newer than the last copy."""
    if not are_collected():
        call_command(CollectStatic(), verbosity=0, interactive=False)


def first_user() -> FirstUser:
    user = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if user is not None:
        return FirstUser(user, "")
    password = secrets.token_urlsafe(9)
    user = User.objects.create_superuser(
        settings.FIRST_USER, f"{settings.FIRST_USER}@localhost.localdomain", password
    )
    TemporaryPassword.objects.create(user=user)  # it was shown in a terminal, perhaps kept in a log
    return FirstUser(user, password)


def sample_document(owner: User) -> Document | None:
    """The handbook, taken in once; None when its owner has deleted it since."""
    document = Document.objects.filter(owner=owner, deleted_at=None, original_name=HANDBOOK_NAME).first()
    stamp = settings.VAR_DIR / "handbook-given"
    if document is None and not stamp.exists():
        try:
            document = store_upload(owner, ContentFile(draw_handbook()), HANDBOOK_NAME, queued=False)
            document.metadata["questions"] = SUGGESTED_QUESTIONS
            document.save(update_fields=["metadata"])
        except UploadRefused as refused:
            document = refused.existing
    if document is not None:
        ingest_document(document.pk)
        stamp.touch()
    return document
