"""Sentences that a model left uncited, and what providers cite for several at once."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from chat.answers.events import CitedEvent, DoneEvent
from chat.answers.message_presenters import shown_message
from chat.answers.question_commands import start_conversation
from chat.models import Citation
from chat.providers.base import NativeCitation, StreamEnd, TextDelta
from tests.chat.answers.test_write_answer import Answered, Citing, alias_of, answered  # noqa: F401
from tests.chat.scripted_provider import Scripted
from tests.conftest import Ingest

pytestmark = pytest.mark.django_db


def test_a_sentence_without_a_marker_is_matched_and_said_to_be(answered: Answered) -> None:  # noqa: F811
    model = Scripted(["Acme sold 1,577 red anvils in 2018. Everybody was delighted with them."])
    answer, events = answered(model)
    citation = Citation.objects.get(message=answer)
    assert citation.matched and citation.verdict in ("exact", "normalized")
    assert citation.number == 1 and citation.position == 0 and citation.page_number == 1
    assert answer.content.startswith(f"Acme sold 1,577 red anvils in 2018[[cite:{citation.unit_id}:1]]. Ev")
    assert len(answer.uncited) == 1
    (shown,) = shown_message(answer).citations
    assert shown.matched and "matched by Pincite" in shown.standing
    assert 'data-matched="true"' in shown_message(answer).html
    assert [event.citation.id for event in events if isinstance(event, CitedEvent)] == [str(citation.pk)]


def test_a_false_sentence_without_a_marker_is_not_matched(answered: Answered) -> None:  # noqa: F811
    answer, _ = answered(Scripted(["Acme sold 1,678 red anvils in 2018."]))
    assert not answer.citations.exists() and len(answer.uncited) == 1


def test_matched_and_cited_sentences_are_numbered_as_they_are_read(answered: Answered) -> None:  # noqa: F811
    model = Citing(
        lambda alias: (
            "Acme sold 1,577 red anvils to Wile Coyote in the desert during 2018. "
            f"Pills cost 49 dollars for a jar [[cite:{alias('pills cost')}:2|49 dollars]]. "
            "The anvils weighed twelve tons and fell from a great height."
        )
    )
    answer, events = answered(
        model, "What do anvils and earthquake pills cost, and how many anvils were sold?"
    )
    rows = list(answer.citations.order_by("position"))
    assert [row.matched for row in rows] == [True, False, True]
    assert [row.number for row in rows] == [1, 2, 1]  # one paragraph holds both
    for row in rows:
        assert answer.content[row.claim_start : row.claim_end].endswith("]]")
        assert str(row.unit_id) in answer.content[row.claim_start : row.claim_end]
    done = events[-1]
    assert isinstance(done, DoneEvent) and not done.uncited
    assert [shown.id for shown in done.citations] == [str(row.pk) for row in rows]


def test_every_sentence_of_a_natively_cited_block_is_cited(answered: Answered) -> None:  # noqa: F811
    block = "Acme sold 1,577 red anvils in 2018. The anvils weighed twelve tons."

    class Native(Scripted):
        def stream(self, prompt):  # type: ignore[no-untyped-def]
            self.prompts.append(prompt)
            yield TextDelta("Two things. ")
            yield TextDelta(block)
            yield NativeCitation(alias_of(self, "anvils"), "", block)
            yield StreamEnd()

    answer, _ = answered(Native([]))
    rows = list(answer.citations.order_by("position"))
    assert len(rows) == 2 and not any(row.matched for row in rows)
    assert rows[0].claim.startswith("Acme sold") and rows[1].claim.startswith("The anvils")


@pytest.mark.parametrize("written", ["[{}]", "【u{}】", "[{}†source]", "[CHUNK:{}]"])
def test_a_weak_models_markers_become_citations(answered: Answered, written: str) -> None:  # noqa: F811
    model = Citing(lambda alias: f"Acme sold 1,577 red anvils in 2018 {written.format(alias('anvils')[1:])}.")
    answer, events = answered(model)
    citation = Citation.objects.get(message=answer)
    assert not citation.matched and citation.verdict in ("exact", "normalized")
    assert answer.content == f"Acme sold 1,577 red anvils in 2018 [[cite:{citation.unit_id}:1]]."
    assert "†" not in events[-1].html and "CHUNK" not in events[-1].html  # type: ignore[union-attr]


def test_a_sentence_that_rules_cannot_judge_gets_the_passage_as_found(answered: Answered) -> None:  # noqa: F811
    answer, _ = answered(
        Scripted(["In 2018 the firm had sold 1,577 red anvils to Coyote out in the desert."])
    )
    citation = Citation.objects.get(message=answer)
    assert citation.matched and citation.page_number == 1 and not answer.uncited
    assert citation.verdict in ("found", "exact", "normalized")


def test_a_sentence_taken_from_a_page_and_changed_is_cited_and_differs(answered: Answered) -> None:  # noqa: F811
    copied = (
        "Acme sold 1,577 red anvils to Wile Coyote in the desert during 2018. The anvils weighed twelve tons"
    )
    changed = (
        "1,577 red anvils to Wile Coyote in the desert during 2018; the anvils weighed twelve tons and fell"
    )
    answer, _ = answered(Scripted([f"Acme had not sold {changed} from a small height."]))
    assert copied[:10] not in answer.content
    citation = Citation.objects.get(message=answer)
    assert citation.matched and citation.verdict not in ("exact", "normalized")
    assert not answer.uncited


@pytest.mark.parametrize(
    ("text", "uncited"),
    [
        ("You asked how many red anvils Acme did sell in 2018.", 0),
        ("The red anvils that Acme sold in 2018.", 0),
        ("I hope this helps you with your work!", 0),
        ("Everybody was delighted with the anvils.", 1),
    ],
)
def test_a_sentence_that_repeats_the_question_or_says_nothing_claims_nothing(
    answered: Answered,  # noqa: F811
    text: str,
    uncited: int,
) -> None:
    answer, _ = answered(Scripted([text]), "How many red anvils did Acme sell in 2018?")
    assert len(answer.uncited) == uncited
    assert not answer.citations.exists()


def test_the_question_chooses_among_equal_values(
    answered: Answered,  # noqa: F811
    alice: User,
    ingested: Ingest,
) -> None:
    farm = ingested(
        alice,
        "The price of the farm was reduced in December to 2,400 pounds an acre.\n"
        "In February the farm is under offer at 2,400 pounds an acre.",
        name="farm.pdf",
    )
    model = Citing(lambda alias: f"It is 2,400 pounds [[cite:{alias('farm')}:1|2,400 pounds]].")
    question = "At what price is the farm under offer in February?"
    answer, _ = answered(model, question, start_conversation(alice, [farm]))
    assert "offer at 2,400" in Citation.objects.get(message=answer).quote
