"""One module makes, checks, masks and lists the tokens of all kinds."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from agents.models import ReaderEmbed, Webhook
from chat.models import Conversation, Message
from chat.models.conversation import share_answer, token_of
from documents import tokens
from documents.models import ApiToken
from documents.tokens import ANSWER_LINK, API, EMBED, KINDS, WEBHOOK, valid_tokens
from operations.observability.logs import masked
from tests.conftest import Ingest

APPS = ("documents", "retrieval", "chat", "reviews", "agents", "operations", "config")
MADE_ELSEWHERE = re.compile(
    r"\bSigner\(|salted_hmac\(|token_urlsafe\(|Fernet\(|token_generator\b(?! =)|TokenGenerator\("
)
# Not tokens: the server's key, the key of second factors, and the first user's password.
ALLOWED = {
    "documents/tokens.py",
    "config/environment.py",
    "operations/accounts/sign_in.py",
    "operations/management/commands/runapp.py",
}


def test_no_other_module_makes_tokens() -> None:
    made = set()
    for app in APPS:
        for path in (settings.BASE_DIR / app).rglob("*.py"):
            if MADE_ELSEWHERE.search(path.read_text()):
                made.add(str(path.relative_to(settings.BASE_DIR)))
    assert made == ALLOWED, "make it in documents/tokens.py, or say here why it is no token"


def test_a_signed_id_is_known_by_its_own_kind_only() -> None:
    row = uuid4()
    assert ANSWER_LINK.id_in(ANSWER_LINK.token_of(row)) == row
    assert EMBED.id_in(ANSWER_LINK.token_of(row)) is None
    for forged in ("", row.hex, f"{row.hex}:{'x' * 43}", ANSWER_LINK.token_of(row)[:-1], "ü:x"):
        assert ANSWER_LINK.id_in(forged) is None


def test_keys_and_secrets_are_masked_wherever_they_stand_in_a_log() -> None:
    for secret in (API.new(), WEBHOOK.of(uuid4())):
        line = masked(f"POST of {secret!r} failed")
        assert secret[8:] not in line and "POST of" in line


@pytest.mark.django_db
def test_all_that_gives_access_is_on_the_account_page_without_its_secret(
    alice: User, bob: User, ingested: Ingest
) -> None:
    document = ingested(alice, "Owls hoot.", name="Owls.pdf")
    conversation = Conversation.objects.create(owner=alice)
    Message.objects.create(conversation=conversation, position=0, role="user", content="What?")
    answer = Message.objects.create(
        conversation=conversation, position=1, role="assistant", content="They hoot.", status="complete"
    )
    link = share_answer(answer)
    _, key = ApiToken.objects.issue(alice, "a script", ["read"])
    day, past = timezone.now() + timedelta(days=1), timezone.now() - timedelta(days=1)
    sites = ["https://zoo.example"]
    embed = ReaderEmbed.objects.create(owner=alice, document=document, origins=sites, expires_at=day)
    ReaderEmbed.objects.create(
        owner=alice, document=document, origins=["https://old.example"], expires_at=past
    )
    webhook = Webhook.objects.create(owner=alice, url="https://hooks.example/", events=["document.ready"])

    assert [token.kind for token in valid_tokens(alice)] == list(KINDS)
    assert not list(valid_tokens(bob))
    browser = Client()
    browser.force_login(alice)
    german = browser.get("/account/", headers={"accept-language": "de"})
    assert german.status_code == 200 and "API-Token" in german.content.decode()
    page = browser.get("/account/").content.decode()
    for shown in ("They hoot.", "zoo.example", "https://hooks.example/", "a script"):
        assert shown in page
    assert "old.example" not in page
    for secret in (key, token_of(link), embed.token, webhook.secret):
        assert secret not in page


def test_each_kind_is_listed() -> None:
    assert set(tokens._listers) == set(KINDS)
