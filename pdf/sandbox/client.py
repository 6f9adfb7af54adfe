"""The worker's side of a request: start the child, read its answers, end it.

``subprocess``, not ``multiprocessing``: django-q2's workers are daemonic and may not have such children.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec

from pdf.failures import PROCESSOR_SECONDS, FailureCode, ParseFailure, file_failure
from pdf.sandbox.confinement import FROM_OUTSIDE, killed_for_memory
from pdf.sandbox.messages import (
    Answer,
    Failed,
    Finished,
    Frames,
    Limits,
    MoreTime,
    Opened,
    RecogniseRequest,
    Request,
    frame,
    wall_seconds,
    widen,
)
from pdf.sandbox.progress import STUCK_SECONDS, Progress, processor_seconds

Result = TypeVar("Result")
ATTEMPTS = 3
_ROOT = Path(__file__).resolve().parent.parent.parent
# Not the worker's environment, which contains secrets. One thread for linear algebra: more would only need
# address space.
_ENVIRONMENT = {
    "PYTHONPATH": str(_ROOT),
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "2",
    "ORT_DISABLE_TELEMETRY": "1",
}
# Seconds between two checks whether work in the background is over.
_LOOK_SECONDS = 1.0
# To start Python and send the answers, in addition to the file's time.
_GRACE_SECONDS = 3.0
# Less than the time a child waits for its next request (``server``).
_SURELY_WAITING_SECONDS = 20.0
# Niceness of OCR in the background: a ninth of a normal share. With less, a page would take an hour when
# twenty processes compete for two processors.
_BACKGROUND_PRIORITY = 10
# Idle children, each with the time of its last answer: as many as can work at the same time.
_kept: list[tuple[float, subprocess.Popen[bytes]]] = []
_MOST_KEPT = os.cpu_count() or 1
_kept_lock = threading.Lock()


class Killed(ParseFailure):
    """The child was killed from outside, which is not the file's fault."""

    def __init__(self, signal_name: str) -> None:
        message = f"The process that read this file was ended from outside {ATTEMPTS} times. Try again."
        super().__init__(FailureCode.INTERNAL, message, signal_name)


def retry_if_killed(work: Callable[[], Result]) -> Result:
    """Return ``work()``; retry it when its child was killed from outside. Raises ParseFailure."""
    for _ in range(ATTEMPTS - 1):
        with contextlib.suppress(Killed):
            return work()
    return work()


def _never() -> bool:
    return False


def answers_of(request: Request, is_over: Callable[[], bool] = _never) -> Iterator[Answer]:
    """Yield the child's answers. Raises ParseFailure, and leaves no process behind then.

    ``is_over`` is asked each second of work in the background and ends it when true.

    A finished child is kept for the next request, since its start takes a third of a second. It exits when
    there is none within half a minute.
    """
    if isinstance(request, RecogniseRequest) and request.background:
        yield from _asked_in_background(request, is_over)
        return
    has_answered = False
    if kept := _take_idle_child():
        try:
            for answer in _asked(kept, request):
                has_answered = True
                yield answer
            return
        except ParseFailure as failure:
            if has_answered or failure.code != FailureCode.INTERNAL:
                raise  # otherwise the previous file has damaged the child: start another
    yield from _asked(_started(), request)


def _asked_in_background(request: Request, is_over: Callable[[], bool]) -> Iterator[Answer]:
    """Use a separate child that is not kept: without root its priority cannot be raised again."""
    process = _started()
    try:
        os.setpriority(os.PRIO_PGRP, process.pid, _BACKGROUND_PRIORITY)
        assert process.stdout
        widen(process.stdout.fileno())
        _write(process, frame(request))
        yield from _answers(process, request.limits, is_over)
    finally:
        _end(process)


def _asked(process: subprocess.Popen[bytes], request: Request) -> Iterator[Answer]:
    has_answered = False
    try:
        assert process.stdin and process.stdout
        widen(process.stdout.fileno())
        _write(process, frame(request))
        yield from _answers(process, request.limits)
        has_answered = True
    finally:
        if not (has_answered and _keep(process)):
            _end(process)


def _keep(process: subprocess.Popen[bytes]) -> bool:
    with _kept_lock:
        may = len(_kept) < _MOST_KEPT
        if may:
            _kept.append((time.monotonic(), process))
        return may


def _take_idle_child() -> subprocess.Popen[bytes] | None:
    """Return the child that was used last, if it still waits, and end those that do not."""
    with _kept_lock:
        while _kept:
            since, process = _kept.pop()
            if _waits(since, process):
                return process
            _end(process)
    return None


def _waits(since: float, process: subprocess.Popen[bytes]) -> bool:
    """Return whether the child is alive, will not time out soon, and has sent nothing unrequested."""
    assert process.stdout
    is_early = time.monotonic() - since < _SURELY_WAITING_SECONDS
    return is_early and process.poll() is None and not select.select([process.stdout], [], [], 0)[0]


def _started() -> subprocess.Popen[bytes]:
    """Start a child. It ends with the thread that starts it, so a lasting one serves all but the main."""
    if threading.current_thread() is threading.main_thread():
        return _start()
    with _kept_lock:
        starter = _starters[0] if _starters else ThreadPoolExecutor(1, "sandbox-starter")
        _starters[:] = [starter]
    return starter.submit(_start).result()


_starters: list[ThreadPoolExecutor] = []


def _forget_in_fork() -> None:
    """A forked process has neither the thread nor the children."""
    global _kept_lock
    _starters.clear()
    _kept.clear()
    _kept_lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_in_fork)


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-s", "-m", "pdf.sandbox.server", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=_ROOT,
        env=_ENVIRONMENT,
        process_group=0,  # in the worker's session, since the kernel schedules by session
    )


def _write(process: subprocess.Popen[bytes], body: bytes) -> None:
    assert process.stdin
    try:
        process.stdin.write(body)
        process.stdin.flush()
    except BrokenPipeError:
        raise ParseFailure(FailureCode.INTERNAL, detail="the child ended before the request") from None


def _answers(
    process: subprocess.Popen[bytes], limits: Limits, is_over: Callable[[], bool] = _never
) -> Iterator[Answer]:
    assert process.stdout
    frames: Frames[Answer] = Frames(process.stdout.fileno(), Answer)
    began = time.monotonic()
    killed_before = killed_for_memory()
    deadline, pages = began + wall_seconds(limits.seconds(0)) + _GRACE_SECONDS, 0
    progress = Progress(lambda: processor_seconds([process.pid]), 2 * STUCK_SECONDS)  # its readers first
    while True:
        try:
            answer = frames.next(min(deadline, time.monotonic() + _LOOK_SECONDS))
        except TimeoutError:
            if is_over():
                return
            if time.monotonic() < deadline and not progress.is_stuck:
                continue
            message = file_failure(FailureCode.TOOK_TOO_LONG, f"{time.monotonic() - began:.0f} seconds")
            raise ParseFailure(FailureCode.TOOK_TOO_LONG, message, "no progress") from None
        except msgspec.MsgspecError as error:
            raise ParseFailure(FailureCode.INTERNAL, detail=f"invalid answer: {error}") from None
        if isinstance(answer, Failed):
            raise ParseFailure(answer.code, answer.message, answer.detail)
        if answer is None:
            raise _died(process, limits.seconds(pages), killed_for_memory() > killed_before)
        if isinstance(answer, Opened):
            pages = min(answer.page_count, limits.pages)
            deadline = began + wall_seconds(limits.seconds(pages)) + _GRACE_SECONDS
        if isinstance(answer, MoreTime):
            deadline = max(deadline, _later(answer, limits, pages, began))
        yield answer
        if isinstance(answer, Finished):
            return


def _later(wanted: MoreTime, limits: Limits, pages: int, began: float) -> float:
    """Return the new deadline for a stage and the layout after it, within the total limit."""
    layout = wall_seconds(limits.seconds(pages) - limits.reading_seconds(pages))
    latest = began + wall_seconds(limits.seconds(pages)) + limits.most_extra_seconds
    return min(time.monotonic() + wanted.seconds + layout, latest) + _GRACE_SECONDS


def _died(process: subprocess.Popen[bytes], seconds: float, out_of_memory: bool) -> ParseFailure:
    """Return why the child ended without an answer; ``seconds`` is its limit of CPU time."""
    status = process.wait()
    if -status in FROM_OUTSIDE and out_of_memory:
        message = file_failure(FailureCode.TOO_MUCH_MEMORY, "the memory this server has")
        return ParseFailure(FailureCode.TOO_MUCH_MEMORY, message, "killed by the OOM killer")
    if -status in FROM_OUTSIDE:
        return Killed(signal.Signals(-status).name)
    if status == -signal.SIGXCPU:
        limit = PROCESSOR_SECONDS.format(seconds)
        return ParseFailure(
            FailureCode.TOOK_TOO_LONG, file_failure(FailureCode.TOOK_TOO_LONG, limit), "CPU time"
        )
    return ParseFailure(FailureCode.INTERNAL, detail=f"the child ended with {status}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the child, its fork and the fork's readers, which are one process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream and not stream.closed:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
