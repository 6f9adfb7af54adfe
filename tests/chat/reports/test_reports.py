"""Comparisons of stored documents: the job, its page with both readers, the API, MCP, rights."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat.answers.context import AnswerSources
from chat.models import Citation, Report
from chat.reports import evidence_report
from chat.reports.evidence_report import first_facts, row
from chat.reports.report_commands import InvalidReport, new_report, new_versions
from chat.reports.report_queue import claim, pause, start, work_on_next
from chat.tasks import work_on_report
from documents.models import Document, Page
from retrieval.query.scope import Scope
from tests.agents.test_mcp_server_fuzzed import answer_of_mcp, rpc
from tests.api_clients import client_of
from tests.conftest import ingest
from tests.reviews.test_value_lines import WORKFORCE, draw_tables

OLD = "The fare for one trip is $12 and must be paid before boarding the ship.\nDogs travel free of charge."
NEW = "The fare for one trip is $15 and must be paid before boarding the ship.\nDogs travel free of charge."


@pytest.fixture
def versions(alice: User) -> list[Document]:
    return [ingest(alice, OLD, name="old.pdf"), ingest(alice, NEW, name="new.pdf")]


def test_a_comparison_is_made_in_the_background_and_shown_in_two_readers(
    client: Client, alice: User, versions: list[Document]
) -> None:
    client.force_login(alice)
    old, new = versions
    Document.objects.update(title="Fares")
    form = {"document": [str(new.pk), str(old.pk)], "order": ["2", "1"]}
    assert "Fares (new.pdf)" in client.get("/reports/versions/", form).content.decode()
    assert client.post("/reports/versions/", {"document": str(old.pk)}).status_code == 422
    made = client.post("/reports/versions/", form)
    assert b"every 2s" in client.get(made["Location"]).content
    assert work_on_report() and not work_on_report()
    Page.objects.filter(document=old).update(label="31")
    page = " ".join(client.get(f"{made['Location']}?kind=number").content.decode().split())
    assert (
        page.index("Old version · <a") < page.index(">p. 31</a>") < page.index(">p. 1</a>")
    )  # printed, else not
    assert "<del>$12</del> <ins>$15</ins>" in page and "Fares (old.pdf) → Fares (new.pdf)" in page
    assert f"/documents/{old.pk}/framed/?page=1" in page and f"/documents/{new.pk}/framed/?page=1" in page
    assert client.get("/reports/").status_code == 200


def test_the_api_and_mcp_start_and_read_a_comparison(
    alice: User, bob: User, versions: list[Document]
) -> None:
    ids = [str(document.pk) for document in versions]
    api = client_of(alice)
    made = api.post("/api/reports/", {"documents": ids}, format="json").json()
    assert made["state"] == "waiting" and made["versions"] == ids
    work_on_next()
    read = api.get(f"/api/reports/{made['id']}/").json()
    (pair,) = read["result"]["comparisons"]
    assert read["state"] == "done" and pair["counts"] == {"number": 1}
    assert client_of(bob).get(f"/api/reports/{made['id']}/").status_code == 404
    assert client_of(bob).post("/api/reports/", {"documents": ids}, format="json").status_code == 404
    call = rpc("tools/call", {"name": "compare_versions", "arguments": {"report": made["id"]}})
    assert "$15" in str(answer_of_mcp(api, call)["result"])
    assert "cannot access it" in str(answer_of_mcp(client_of(bob), call)["result"])


def test_one_document_is_no_comparison(alice: User, versions: list[Document]) -> None:
    with pytest.raises(InvalidReport, match="at least two"):
        new_versions(alice, versions[:1])


def test_a_document_deleted_meanwhile_is_said_and_the_work_can_start_again(
    alice: User, versions: list[Document]
) -> None:
    made = new_versions(alice, versions)
    Document.objects.filter(pk=versions[0].pk).update(deleted_at=timezone.now())
    work_on_next()
    made.refresh_from_db()
    assert made.state == Report.State.FAILED and "was deleted" in made.error
    Document.objects.filter(pk=versions[0].pk).update(deleted_at=None)
    start(made)
    work_on_next()
    made.refresh_from_db()
    assert (made.state, made.error) == (Report.State.DONE, "")


def test_paused_work_waits_and_work_of_a_dead_worker_is_taken_up(
    alice: User, versions: list[Document]
) -> None:
    made = new_versions(alice, versions)
    pause(made)
    assert claim() is None
    start(made)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert claim() is None, "a right ends where its owner's does"
    User.objects.filter(pk=alice.pk).update(is_active=True)
    assert claim() == made and claim() is None
    Report.objects.update(alive_at=timezone.now() - timezone.timedelta(minutes=11))
    assert claim() == made


def test_an_evidence_report_quotes_what_stands_there_and_goes_on_after_a_pause(
    client: Client, alice: User, versions: list[Document]
) -> None:
    client.force_login(alice)
    question = "What is the fare for one trip? How do dogs travel?"
    draft = client.post("/reports/new/", {"question": question, "document": str(versions[0].pk)})
    assert (
        "What is the fare for one trip?\nHow do dogs travel?"
        in client.get(draft["Location"]).content.decode()
    )
    Report.objects.all().delete()
    form = {"question": question, "outline": "What is the fare for one trip?\nHow do dogs travel?"}
    made = client.post("/reports/new/", form | {"document": str(versions[0].pk)})
    report = Report.objects.get()
    report.outline[1]["is_done"] = True  # as after a pause before the first
    report.save()
    work_on_next()
    report.refresh_from_db()
    assert report.state == Report.State.DONE and report.note is not None
    assert "## What is the fare for one trip?" in report.note.content and "dogs" not in report.note.content
    quotes = list(report.note.citations.values_list("quote", flat=True))
    assert any("$12" in quote for quote in quotes) and not any("$15" in quote for quote in quotes)
    assert client.get(made["Location"])["Location"] == f"/notes/{report.note.pk}/"


def test_an_evidence_report_says_what_each_document_says_and_where_they_differ(
    alice: User, versions: list[Document]
) -> None:
    silent = ingest(alice, "The museum opens at nine.", name="silent.pdf")
    made = new_report(alice, "What is the fare?", [*versions, silent], "What is the fare for one trip?")
    work_on_next()
    made.refresh_from_db()
    assert made.note is not None
    content = re.sub(r"\[\[cite[^\]]*\]\]", "", made.note.content)
    assert "| silent | nothing found |" in content and "**The sources differ**" in content
    assert "Not read" not in content
    (line,) = [one for one in content.splitlines() if one.startswith("- old: “The fare for one trip is $12")]
    assert "new: “The fare for one trip is $15" in line


@pytest.mark.parametrize(("question", "outline"), [("", ""), ("Why?", "a\n" * 101)])
def test_a_report_without_question_or_with_too_many_sections_is_refused(
    client: Client, alice: User, question: str, outline: str
) -> None:
    client.force_login(alice)
    answer = client.post("/reports/new/", {"question": question, "outline": outline})
    assert answer.status_code == 422 and not Report.objects.exists()


def test_a_report_says_which_chosen_documents_it_could_not_read(
    alice: User, bob: User, versions: list[Document]
) -> None:
    unread = ingest(alice, "The fare is unknown.", name="unread.pdf")
    deleted = ingest(alice, "The fare is $99.", name="deleted.pdf")
    chosen = [*versions, unread, deleted]
    made = new_report(alice, "Fares", chosen, "What is the fare for one trip?\nHow do dogs travel?")
    work_on_next()
    Document.objects.filter(pk=unread.pk).update(indexed_at=None, status=Document.Status.FAILED)
    Document.objects.filter(pk=deleted.pk).update(deleted_at=timezone.now())
    work_on_next()
    made.refresh_from_db()
    assert made.state == Report.State.DONE and made.note is not None
    _, _, second = made.note.content.partition("## How do dogs travel?")
    assert "| unread |" not in second and "| old |" in second
    remark = "Missing from some or all sections: 1 document that was deleted or is hidden from you; unread."
    assert second.rstrip().endswith(f"---\n\n*{remark}*")


def test_a_section_is_written_again_without_a_document_that_is_deleted_meanwhile(
    alice: User, versions: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = new_report(alice, "Fares", versions, "What is the fare for one trip?")

    def deleting(question: str, found: AnswerSources) -> list[Citation]:
        Document.objects.filter(pk=versions[1].pk).update(deleted_at=timezone.now())
        return first_facts(question, found)

    monkeypatch.setattr(evidence_report, "first_facts", deleting)
    monkeypatch.setattr(
        evidence_report,
        "distinct_labels",
        lambda found: {one.pk: one.title for one in found if not one.deleted_at},
    )
    work_on_next()
    made.refresh_from_db()
    assert made.state == Report.State.WAITING
    work_on_next()
    made.refresh_from_db()
    assert made.state == Report.State.DONE and made.note is not None
    assert "$12" in made.note.content and "1 document that was deleted" in made.note.content


def test_a_row_of_evidence_shows_a_value_with_its_names_and_a_sentence_as_printed() -> None:
    value = Citation(claim="Purchases of equipment, 2018: ($1,577 million)", quote="(1,577)", page_number=3)
    assert row([value], "one", is_quoted=False).startswith(
        "| one | Purchases of equipment, 2018: ($1,577 million)[["
    )
    words = "Dogs travel free of charge."
    sentence = Citation(claim=words, quote=words, page_number=3)
    assert row([sentence], "two", is_quoted=True).startswith(f"| two | “{words}”[[")
    assert row([value, sentence], "two", is_quoted=True).count("[[") == 2  # as the parties of a contract
    assert row([], "three", is_quoted=True) == "| three | see the passages |"


def test_a_report_on_a_thousand_documents_names_only_some_of_those_it_could_not_read(
    alice: User, versions: list[Document]
) -> None:
    failed = [
        Document(
            owner=alice, title=f"Timetable {number}", status=Document.Status.FAILED, sha256=f"{number:064}"
        )
        for number in range(1000)
    ]
    Document.objects.bulk_create(failed)
    made = new_report(alice, "Fares", [*versions, *failed], "What is the fare for one trip?")
    work_on_next()
    made.refresh_from_db()
    assert made.state == Report.State.DONE and made.note is not None
    assert "$12" in made.note.content and len(made.note.content) < 3000
    assert "Missing from some or all sections: Timetable" in made.note.content


def test_a_row_says_what_is_asked_or_that_nothing_was_found(alice: User) -> None:
    texts = {
        "ferry": "The ferry has 340 employees on two coasts.\nFares differ by season.",
        "museum": "Two former employees sued it over their pensions.\nIn the museum hang 90 pictures.",
    }
    ids = [ingest(alice, text, name=f"{name}.pdf").pk for name, text in texts.items()]
    scope = Scope(alice, document_ids=tuple(ids))
    table, _ = evidence_report.evidence_table("How many employees does it have?", scope)
    assert "| ferry | “The ferry has 340 employees on two coasts.”" in table
    pictures, _ = evidence_report.evidence_table("How many pictures hang in the museum?", scope)
    assert (
        "| museum | “In the museum hang 90 pictures.”" in pictures and "| ferry | nothing found |" in pictures
    )
    risks, _ = evidence_report.evidence_table("What are the risks from pensions of employees?", scope)
    assert "| ferry | “The ferry has" not in risks


def test_a_row_has_what_an_announcement_announces_and_no_question_of_the_document(alice: User) -> None:
    lead = "We see two main limitations of Harbour Ferry Line. First, it sails only at high water."
    texts = {
        "ferry": f"# Harbour Ferry Line\n{lead}\nFares differ by season.",
        "museum": "Did you describe the limitations of your collection? It has 90 pictures.",
        "inn": "The innkeeper limits breakfast to ten guests.\nThe company had 41 employees in May.",
    }
    ids = [ingest(alice, text, name=f"{name}.pdf").pk for name, text in texts.items()]
    scope = Scope(alice, document_ids=tuple(ids))
    table, _ = evidence_report.evidence_table("What are the main limitations?", scope)
    row = next(line for line in table.splitlines() if line.startswith("| Harbour"))
    assert "two main limitations" in row and "only at high water" in row and "Fares" not in row
    assert "| museum | “Did" not in table and "| inn | “" not in table
    employees, _ = evidence_report.evidence_table("How many employees does the company have?", scope)
    assert "| inn | “The company had 41 employees in May.”" in employees


def test_a_row_of_a_table_counts_what_its_columns_head_names(alice: User) -> None:
    filing = ingest(alice, pdf=draw_tables(("Workforce by region", WORKFORCE)), name="filing.pdf")
    shares = "Employees of the company may buy shares of the company."
    other = ingest(alice, "The company had 41 employees in May.", shares, name="other.pdf")
    table, _ = evidence_report.evidence_table(
        "How many employees does the company have?", Scope(alice, document_ids=(filing.pk, other.pk))
    )
    row = next(line for line in table.splitlines() if line.startswith("| filing"))
    assert "93,516" in row
    assert "41 employees" in table and "buy shares" not in table  # nor among the passages


def test_a_difference_of_two_documents_is_said_once_and_documents_not_cited_are_counted(alice: User) -> None:
    fares = {
        "one": "The fare of the ferry is $12.",
        "two": "The fare of the ferry is $15.",
        "three": "It rains.",
    }
    documents = [ingest(alice, text, name=f"{name}.pdf") for name, text in fares.items()]
    made = new_report(alice, "What is the fare of the ferry?", documents, "What is the fare of the ferry?")
    while work_on_next():
        pass
    made.refresh_from_db()
    assert made.note is not None
    assert len(re.findall("^- (?:one|two): “", made.note.content, re.M)) == 1
    assert "2 of 3 documents are cited" in made.note.content


def test_a_row_of_parties_has_no_sentence_that_only_names_a_party(alice: User) -> None:
    made = 'This lease is made on 4 May 2031 between Quay Ltd ("Landlord") and Tarn GmbH ("Tenant").'
    clause = "4. Deposit\nThe Landlord returns the deposit within ten days after both parties agree."
    pages = [
        ingest(alice, f"LEASE OF A BOATHOUSE\n{made}", clause, name=name).pk
        for name in ("one.pdf", "two.pdf")
    ]
    table, cited = evidence_report.evidence_table(
        "Who are the parties?", Scope(alice, document_ids=tuple(pages))
    )
    assert {one.claim for one in cited} == {"Quay Ltd", "Tarn GmbH"} and "deposit" not in table
