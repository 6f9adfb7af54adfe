"""The confined child: its restrictions, and the effects of hostile files."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pymupdf
import pytest

from pdf.api import USUAL_LIMITS, parse_file
from pdf.failures import FailureCode, ParseFailure, page_failure
from pdf.sandbox import client
from pdf.sandbox.messages import Limits
from pdf.sandbox.reader_pool import JobFailure, JobLimits, JobResult, answers, run_first_job
from tests.drawing import draw_pdf
from tests.sandbox_children import stop_idle_children

SOON = Limits(base_seconds=12, stall_seconds=1)


@pytest.fixture
def saved(tmp_path: Path) -> Callable[[bytes], Path]:
    def save(content: bytes) -> Path:
        path = tmp_path / "file.pdf"
        path.write_bytes(content)
        return path

    return save


def hanging_pdf(*, pages_before: int = 1, pages_after: int = 1) -> bytes:
    """A page whose forms call each other 12^8 times, between pages of plain text."""
    document = pymupdf.open()
    for number in range(pages_before + 1 + pages_after):
        document.new_page().insert_text((72, 100), f"Page {number + 1} is plain.")
    page = document[pages_before]
    inner = 0
    for depth in range(9):
        form = document.get_new_xref()
        resources = f"/Resources << /XObject << /F {inner} 0 R >> >>" if depth else ""
        document.update_object(form, f"<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] {resources} >>")
        document.update_stream(form, b"/F Do " * 12 if depth else b"0 0 m 9 9 l S")
        inner = form
    document.xref_set_key(page.xref, "Resources", f"<< /XObject << /F {inner} 0 R >> >>")
    contents = document.get_new_xref()
    document.update_object(contents, "<<>>")
    document.update_stream(contents, b"/F Do")
    document.xref_set_key(page.xref, "Contents", f"{contents} 0 R")
    return bytes(document.tobytes())


def code_of(path: Path, limits: Limits = USUAL_LIMITS) -> FailureCode:
    with pytest.raises(ParseFailure) as raised:
        parse_file(path, limits=limits)
    assert len(raised.value.message) <= 200
    assert str(path) not in raised.value.message
    return raised.value.code


def test_a_file_comes_back_as_pages_and_units(saved: Callable[[bytes], Path]) -> None:
    seen: list[tuple[int, int]] = []
    document = parse_file(
        saved(draw_pdf("# Costs\nThe total was 12 kroner.", "Second page.", title="Report\0")),
        on_progress=lambda done, total: seen.append((done, total)),
    )
    assert document.page_count == 2
    assert [page.number for page in document.pages] == [1, 2]
    assert "The total was 12 kroner." in document.pages[0].text
    assert document.metadata["title"].startswith("Report")
    assert "\0" not in document.metadata["title"]
    assert seen[-1][1] == 2


def test_only_the_pages_wanted_come_back_as_the_whole_file_has_them(saved: Callable[[bytes], Path]) -> None:
    path = saved(draw_pdf("First page.", "Second page.", "Third page."))
    assert parse_file(path, pages=[2]).pages == parse_file(path).pages[1:2]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"<html>%PDF</html>", FailureCode.NOT_A_PDF),
        (b"", FailureCode.NOT_A_PDF),
        (b"%PDF-1.7\nnothing else", FailureCode.DAMAGED),
        (b"x" * 1030 + draw_pdf("text"), FailureCode.NOT_A_PDF),
        (
            draw_pdf("secret", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="abc"),
            FailureCode.PASSWORD_PROTECTED,
        ),
        (draw_pdf(""), FailureCode.NO_TEXT),
    ],
    ids=["html", "empty", "header only", "header too late", "password", "blank"],
)
def test_each_kind_of_bad_file_has_its_code(
    saved: Callable[[bytes], Path], content: bytes, code: FailureCode
) -> None:
    assert code_of(saved(content)) == code


def without_count(content: bytes) -> bytes:
    """The PDF, its page tree without the number of its pages."""
    return re.sub(rb"/Count (\d+)", lambda match: b"/Kount" + b" " + match[1], content)


@pytest.mark.parametrize(
    "broken",
    [
        without_count(draw_pdf("Ferries run hourly.", "Trains run daily.")),
        draw_pdf("Ferries run hourly.", "Trains run daily.").replace(b"%PDF-", b"%____", 1),
        re.sub(
            rb"startxref\s+\d+",
            b"startxref\n1",
            draw_pdf("Ferries run hourly.", "Trains run daily."),
            count=1,
        ),
        draw_pdf("Ferries run hourly.", "Trains run daily.").replace(b"/Count 2", b"/Count 1999999999", 1),
        re.sub(rb"(/Kids\s*\[[^]]*)\]", rb"\1 ", draw_pdf("Ferries run hourly.", "Trains run daily.")),
        draw_pdf("Ferries run hourly.", "Trains run daily.").replace(b"/Kids[4 0 R", b"/Kids[2 0 R 4 0 R", 1),
    ],
    ids=[
        "no count",
        "no header",
        "no cross-reference table",
        "a false count",
        "an array of pages that does not end",
        "a page tree that leads back to its root",
    ],
)
def test_what_other_readers_open_is_read(saved: Callable[[bytes], Path], broken: bytes) -> None:
    assert [page.text.strip() for page in parse_file(saved(broken)).pages] == [
        "Ferries run hourly.",
        "Trains run daily.",
    ]


def test_a_page_tree_that_leads_in_a_circle_ends(saved: Callable[[bytes], Path]) -> None:
    content = without_count(draw_pdf("one")).replace(b"/Kids[4 0 R", b"/Kids[2 0 R 2 0 R 4 0 R", 1)
    with contextlib.suppress(ParseFailure):
        assert parse_file(saved(content), limits=SOON).page_count <= Limits().pages


def test_the_password_opens_the_file(saved: Callable[[bytes], Path]) -> None:
    path = saved(draw_pdf("secret", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="abc"))
    assert parse_file(path, password="abc").pages[0].text.strip() == "secret"


def test_limits_on_size_pages_and_words_are_told_apart(saved: Callable[[bytes], Path]) -> None:
    path = saved(draw_pdf("one", "two"))
    assert code_of(path, Limits(file_bytes=100)) == FailureCode.TOO_LARGE
    assert code_of(path, Limits(pages=1)) == FailureCode.TOO_MANY_PAGES
    with pytest.raises(ParseFailure, match="holds more words") as refused:
        parse_file(path, limits=Limits(words=1))
    assert refused.value.code == FailureCode.TOO_LARGE


def test_a_page_that_hangs_costs_that_page(saved: Callable[[bytes], Path]) -> None:
    pages = parse_file(saved(hanging_pdf()), limits=SOON).pages
    assert [page.text.strip() for page in pages] == ["Page 1 is plain.", "", "Page 3 is plain."]
    assert [page.failure for page in pages] == [
        "",
        page_failure(FailureCode.TOOK_TOO_LONG, "1 seconds of processor time"),
        "",
    ]


@pytest.mark.slow
def test_a_file_of_nothing_but_a_hanging_page_took_too_long_and_leaves_no_process(
    saved: Callable[[bytes], Path],
) -> None:
    stop_idle_children()
    assert code_of(saved(hanging_pdf(pages_before=0, pages_after=0)), SOON) == FailureCode.TOOK_TOO_LONG
    assert not children_of(os.getpid())


# --- The readers: hostile jobs -------------------------------------------------------


def allowance(**changes: float) -> JobLimits:
    values = {"memory_bytes": 2**30, "opening_seconds": 5.0, "job_seconds": 1.0, "deadline": 60.0} | changes
    return JobLimits(
        int(values["memory_bytes"]),
        values["opening_seconds"],
        values["job_seconds"],
        time.monotonic() + values["deadline"],
    )


def misbehave(job: int) -> str:
    if job == 2:
        faulthandler.disable()  # pytest's; it would print a traceback
        os.abort()
    if job == 3:
        while True:
            pass
    if job == 4:
        return "x" * len(bytearray(2**31))
    if job == 5:
        raise RuntimeError("MuPDF says no")
    return f"read {job}"


@pytest.mark.slow
def test_crash_hang_memory_and_error_each_cost_one_job() -> None:
    found = list(answers(lambda: (6, misbehave), range(1, 7), str, allowance()))
    assert [answer.job for answer in found] == list(range(1, 7))
    assert found[0] == JobResult(1, "read 1")
    assert found[5] == JobResult(6, "read 6")
    codes = [answer.code for answer in found if isinstance(answer, JobFailure)]
    assert codes == [
        FailureCode.DAMAGED,
        FailureCode.TOOK_TOO_LONG,
        FailureCode.TOO_MUCH_MEMORY,
        FailureCode.DAMAGED,
    ]


@pytest.mark.slow
def test_what_was_read_before_does_not_count_against_the_next_reader() -> None:
    read_before = bytearray(900 * 2**20)
    (answer,) = answers(
        lambda: (1, lambda _: len(bytearray(100 * 2**20))), [1], int, allowance(memory_bytes=2**29)
    )
    assert answer == JobResult(1, 100 * 2**20)
    del read_before


def test_jobs_without_time_left_are_given_up() -> None:
    (answer,) = answers(lambda: (1, misbehave), [1], str, allowance(deadline=0))
    assert isinstance(answer, JobFailure)
    assert answer.code == FailureCode.TOOK_TOO_LONG


def test_a_file_that_cannot_be_opened_raises_why() -> None:
    def prepare() -> tuple[int, Callable[[int], str]]:
        raise ParseFailure(FailureCode.NO_PAGES)

    with pytest.raises(ParseFailure) as raised:
        run_first_job(prepare, str, allowance())
    assert raised.value.code == FailureCode.NO_PAGES


# --- The child: confined, and killed ------------------------------------------------

TRY = """
import os, socket, subprocess, sys
from pdf.sandbox.confinement import confine, limit_memory
confine()
limit_memory(2**30)
def refused(attempt):
    try:
        attempt()
    except (OSError, MemoryError):
        return True
    return False
print(refused(lambda: socket.socket()), refused(lambda: subprocess.run(["true"])),
      refused(lambda: os.write(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT), b"x")),
      refused(lambda: bytearray(2**31)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is Linux's")
def test_a_confined_process_has_no_network_no_programs_no_files_and_little_memory(tmp_path: Path) -> None:
    tried = subprocess.run(
        [sys.executable, "-c", TRY, str(tmp_path / "written")], capture_output=True, text=True, check=True
    )
    assert tried.stdout.split() == ["True"] * 4


LEFT_BEHIND = """
import os, signal, time
from pdf.sandbox.confinement import adopt_orphans, is_alone
adopt_orphans()
told, tell = os.pipe()
if not os.fork():
    if not (orphan := os.fork()):
        os.setsid()
        time.sleep(600)
    os.write(tell, str(orphan).encode())
    os._exit(0)
orphan = int(os.read(told, 20))
before = is_alone(0.5)
os.kill(orphan, signal.SIGKILL)
print(before, is_alone(60))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux")
def test_what_a_file_leaves_running_is_known() -> None:
    tried = subprocess.run([sys.executable, "-c", LEFT_BEHIND], capture_output=True, text=True, check=True)
    assert tried.stdout.split() == ["False", "True"]


def test_the_child_imports_neither_django_nor_the_layout_model() -> None:
    told = "import sys, pdf.sandbox.server; print(sorted({name.split('.')[0] for name in sys.modules}))"
    modules = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout
    assert "pymupdf" in modules
    for heavy in ("django", "onnxruntime", "cv2"):
        assert f"'{heavy}'" not in modules


def test_the_child_knows_no_secret_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_SECRET_KEY", "hush")
    assert "hush" not in str(client._ENVIRONMENT)
    assert not re.search("KEY|TOKEN|PASSWORD|DATABASE", " ".join(client._ENVIRONMENT))


def test_a_child_that_answered_is_asked_again_and_one_that_is_gone_is_replaced(
    saved: Callable[[bytes], Path],
) -> None:
    path = saved(draw_pdf("One page."))
    stop_idle_children()
    assert parse_file(path).page_count == 1
    ((_, child),) = client._kept
    assert parse_file(path).page_count == 1
    assert [kept for _, kept in client._kept] == [child]
    child.kill()
    child.wait()
    assert parse_file(path).page_count == 1
    assert [kept for _, kept in client._kept] != [child]


def test_a_child_that_ends_as_it_is_asked_costs_the_file_nothing(
    saved: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(draw_pdf("One page."))
    parse_file(path)
    ((_, child),) = client._kept
    child.terminate()
    child.wait()
    monkeypatch.setattr(client, "_waits", lambda since, process: process is child)
    assert parse_file(path).page_count == 1


def test_a_file_that_failed_takes_its_child_along(saved: Callable[[bytes], Path]) -> None:
    parse_file(saved(draw_pdf("One page.")))
    ((_, child),) = client._kept
    code_of(saved(b"%PDF-1.7"))
    assert child.poll() is not None
    assert not client._kept


def test_a_child_started_for_a_thread_outlives_it_and_answers_the_next(
    saved: Callable[[bytes], Path],
) -> None:
    path = saved(draw_pdf("One page."))
    stop_idle_children()
    children = set()
    for _ in range(2):
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(parse_file, path).result().page_count == 1
        ((_, child),) = client._kept
        children.add(child.pid)
        assert child.poll() is None
    assert len(children) == 1
    stop_idle_children()
    assert not children_of(os.getpid())


def test_no_more_children_are_kept_than_can_work_at_once(
    saved: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(draw_pdf("One page."))
    stop_idle_children()
    monkeypatch.setattr(client, "_MOST_KEPT", 1)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(parse_file, [path] * 3))
    assert len(children_of(os.getpid())) == len(client._kept) == 1


def children_of(parent: int) -> set[int]:
    lines = subprocess.run(
        ["ps", "-eo", "pid=,sid=,args="], capture_output=True, text=True, check=True
    ).stdout
    return {int(line.split()[0]) for line in lines.splitlines() if f"pdf.sandbox.server {parent}" in line}


@pytest.mark.skipif(sys.platform != "linux", reason="the parent-death signal is Linux's")
def test_the_child_and_its_readers_die_with_the_worker(saved: Callable[[bytes], Path]) -> None:
    path = saved(hanging_pdf(pages_before=0, pages_after=0))
    worker = subprocess.Popen([sys.executable, "-c", f"from pdf.api import *; parse_file({str(path)!r})"])
    wait_until(lambda: len(children_of(worker.pid)) >= 2)
    worker.kill()
    worker.wait()
    wait_until(lambda: not children_of(worker.pid))


def wait_until(happened: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# --- Killed from outside, and limits that are named ----------------------------------


def shooting(monkeypatch: pytest.MonkeyPatch, most: int) -> list[subprocess.Popen[bytes]]:
    """Kills the first children that are started; returns them."""
    started, victims = client._started, []

    def shot() -> subprocess.Popen[bytes]:
        process = started()
        if len(victims) < most:
            process.kill()
            victims.append(process)
        return process

    def write(process: subprocess.Popen[bytes], body: bytes) -> None:
        """As ``client._write``, to a child that may be dead already."""
        with contextlib.suppress(BrokenPipeError):
            assert process.stdin
            process.stdin.write(body)
            process.stdin.flush()

    stop_idle_children()
    monkeypatch.setattr(client, "_started", shot)
    monkeypatch.setattr(client, "_write", write)
    return victims


def test_a_file_whose_child_is_killed_is_read_again(
    saved: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On 9a9b452 it failed at once, and was said to have taken too much memory."""
    victims = shooting(monkeypatch, 2)
    assert parse_file(saved(draw_pdf("One page."))).pages[0].text.strip() == "One page."
    assert len(victims) == 2


def test_a_file_whose_child_is_killed_each_time_says_so(
    saved: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    victims = shooting(monkeypatch, 100)
    with pytest.raises(ParseFailure, match="ended from outside 3 times") as raised:
        parse_file(saved(draw_pdf("One page.")))
    assert raised.value.code == FailureCode.INTERNAL
    assert len(victims) == client.ATTEMPTS


def test_a_child_that_the_system_killed_for_want_of_memory_says_that(
    saved: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    shooting(monkeypatch, 100)
    killed = iter(range(100))
    monkeypatch.setattr(client, "killed_for_memory", lambda: next(killed))
    with pytest.raises(ParseFailure, match="more than the memory this server has") as raised:
        parse_file(saved(draw_pdf("One page.")))
    assert raised.value.code == FailureCode.TOO_MUCH_MEMORY


def test_a_reader_that_is_killed_is_begun_anew_with_the_page_it_was_at() -> None:
    with tempfile.TemporaryFile() as counted:

        def killed_at_first(job: int) -> str:
            if job == 2 and os.fstat(counted.fileno()).st_size < 2:
                os.write(counted.fileno(), b"x")
                os.kill(os.getpid(), signal.SIGKILL)
            return f"read {job}"

        found = list(answers(lambda: (3, killed_at_first), range(1, 4), str, allowance()))
    assert found == [JobResult(job, f"read {job}") for job in (1, 2, 3)]


def test_a_page_whose_reader_is_killed_each_time_is_given_up() -> None:
    def killed_always(job: int) -> str:
        if job == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return f"read {job}"

    found = list(answers(lambda: (3, killed_always), range(1, 4), str, allowance()))
    assert found[0] == JobResult(1, "read 1") and found[2] == JobResult(3, "read 3")
    assert isinstance(found[1], JobFailure) and found[1].code == FailureCode.INTERNAL


def test_a_killed_reader_whose_pipe_closes_first_is_not_taken_for_a_damaged_page() -> None:
    def killed_later(job: int) -> str:
        if job == 2:
            os.closerange(3, 256)
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGKILL)
        return f"read {job}"

    found = list(answers(lambda: (3, killed_later), range(1, 4), str, allowance()))
    assert isinstance(found[1], JobFailure) and found[1].code == FailureCode.INTERNAL


def test_who_waits_for_a_processor_is_not_too_slow() -> None:
    """On 9a9b452 four times the limit of processor time ended a job by the clock."""

    def slow(job: int) -> str:
        time.sleep(1)
        return "read"

    assert list(answers(lambda: (1, slow), [1], str, allowance(job_seconds=0.2))) == [JobResult(1, "read")]


def test_the_processor_time_of_a_file_is_counted_over_all_its_readers() -> None:
    def busy(job: int) -> str:
        end = time.process_time() + 0.4
        while time.process_time() < end:
            pass
        return f"read {job}"

    whole = msgspec.structs.replace(allowance(job_seconds=5), cpu_seconds=0.9)
    found = list(answers(lambda: (8, busy), range(1, 9), str, whole, at_once=2))
    given_up = [answer for answer in found if isinstance(answer, JobFailure)]
    assert 3 <= len(given_up) <= 7
    assert {answer.limit for answer in given_up} == {"0.9 seconds of processor time for the file"}


@pytest.mark.slow
def test_a_limit_that_was_met_is_named(saved: Callable[[bytes], Path]) -> None:
    assert (
        "more than 1 seconds of processor time"
        in parse_file(saved(hanging_pdf()), limits=SOON).pages[1].failure
    )
    with pytest.raises(ParseFailure, match="more than 1 seconds of processor time"):
        parse_file(saved(hanging_pdf(pages_before=0, pages_after=0)), limits=SOON)
