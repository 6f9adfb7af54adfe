"""Read a hostile file job by job in forked processes, so that a page that hangs or crashes costs that page.

The child (``pdf.sandbox.server``) never opens the file. It forks a reader,
which opens it and sends one frame per job. When the reader dies or hangs, its
current job fails and another reader continues with the next one. A fork takes
about a millisecond, since everything is already imported.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from pdf.failures import MEGABYTES, PROCESSOR_SECONDS, FailureCode, ParseFailure, file_failure
from pdf.sandbox.confinement import (
    FROM_OUTSIDE,
    address_space,
    confine_reader,
    die_with_parent,
    killed_for_memory,
    limit_cpu,
    limit_cpu_for_good,
    limit_memory_for_good,
)
from pdf.sandbox.messages import MIB, WALL_FOR_CPU, Failed, Frames, Opened, send, widen
from pdf.sandbox.progress import Progress

T = TypeVar("T")
Job = int
# Opens the file; returns the number of pages and the function that does a job.
JobFactory = Callable[[], tuple[int, Callable[[Job], T]]]


# Attempts at a job whose reader was killed from outside.
ATTEMPTS = 3
_LOOK_SECONDS = 1.0  # between two looks whether a reader makes progress
_SECONDS_TO_END = 2.0  # of a process that has closed its pipe


class JobLimits(msgspec.Struct, frozen=True):
    """Limits of the readers of one file.

    Attributes:
        memory_bytes: address space.
        opening_seconds: CPU time for opening the file.
        job_seconds: CPU time for a job.
        deadline: of all jobs, on ``time.monotonic()``.
        wall_for_cpu: wall time of a job per second of CPU time.
        cpu_seconds: CPU time for all jobs together.
    """

    memory_bytes: int
    opening_seconds: float
    job_seconds: float
    deadline: float
    wall_for_cpu: float = WALL_FOR_CPU
    cpu_seconds: float = math.inf


class _Budget:
    """The CPU time of all readers of one file: limit and use."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._spent = 0.0
        self._running: set[int] = set()

    def begin(self, process: int) -> None:
        self._running.add(process)

    def end(self, process: int, spent: float) -> None:
        self._running.discard(process)
        self._spent += spent

    @property
    def is_spent(self) -> bool:
        return self._spent + sum(map(cpu_seconds_of, self._running)) >= self.seconds


# Address space of the child before any request: Python, numpy, MuPDF.
_USUAL_BYTES = 256 * 1024 * 1024
_MOST_DESCRIPTORS = 1024


class JobFailure(msgspec.Struct, frozen=True, tag="given_up"):
    """The job failed."""

    job: Job
    code: FailureCode
    detail: str = ""
    limit: str = ""  # the limit that was exceeded, in words
    message: str = ""  # for users, where the code's label is not specific enough


class JobResult(msgspec.Struct, Generic[T], frozen=True, tag="done"):
    job: Job
    value: T


def run_first_job(prepare: JobFactory[T], kind: Any, allowance: JobLimits) -> tuple[int, T | None]:
    """Return the number of pages and the value of job 0, or None where it failed.

    Raises ParseFailure when the file cannot be opened.
    """
    for _ in range(ATTEMPTS):
        with _Reader(prepare, [0], kind, allowance) as reader:
            first = reader.next(allowance.opening_seconds)
            answer = reader.next(allowance.job_seconds) if isinstance(first, Opened) else None
        if not reader.was_killed:
            break
    if isinstance(first, Opened):
        return first.page_count, answer.value if isinstance(answer, JobResult) else None
    if isinstance(first, Failed):
        raise ParseFailure(first.code, first.message, first.detail)
    message = file_failure(reader.cause, reader.limit)
    raise ParseFailure(reader.cause, message, f"while opening: {reader.detail}")


def answers(
    prepare: JobFactory[T], jobs: Sequence[Job], kind: Any, allowance: JobLimits, at_once: int = 1
) -> Iterator[JobResult[T] | JobFailure]:
    """Yield one answer per job, in order, from ``at_once`` readers. ``kind`` is the type of a job's value.

    The readers take turns: while one's answer is awaited, the others work.
    """
    budget = _Budget(allowance.cpu_seconds)
    turns = [_one_by_one(prepare, jobs[first::at_once], kind, allowance, budget) for first in range(at_once)]
    for number in range(len(jobs)):
        yield next(turns[number % at_once])


def readers_for(jobs: int, most: int, jobs_each: int) -> int:
    """Return the number of readers, each with at least ``jobs_each`` jobs, at most ``most``."""
    return max(1, min(most, jobs // jobs_each))


def _one_by_one(
    prepare: JobFactory[T], jobs: Sequence[Job], kind: Any, allowance: JobLimits, budget: _Budget
) -> Iterator[JobResult[T] | JobFailure]:
    rest, killed = list(jobs), 0
    while rest and time.monotonic() < allowance.deadline and not budget.is_spent:
        before = len(rest)
        with _Reader(prepare, rest, kind, allowance, budget) as reader:
            if isinstance(reader.next(allowance.opening_seconds), Opened):
                for answer in reader.answers(len(rest)):
                    rest.pop(0)
                    yield answer
                    if budget.is_spent:
                        break
        killed = killed + 1 if reader.was_killed and len(rest) == before else int(reader.was_killed)
        if rest and not budget.is_spent and not (reader.was_killed and killed < ATTEMPTS):
            yield JobFailure(rest.pop(0), reader.cause, reader.detail, reader.limit)
            killed = 0
    over = PROCESSOR_SECONDS.format(budget.seconds) if budget.is_spent else "its time"
    yield from (
        JobFailure(job, FailureCode.TOOK_TOO_LONG, "no time left", f"{over} for the file") for job in rest
    )


class _Reader(Generic[T]):
    """One forked process and its pipe. ``cause`` is why it ended, once it has."""

    def __init__(
        self,
        prepare: JobFactory[T],
        jobs: Sequence[Job],
        kind: Any,
        allowance: JobLimits,
        budget: _Budget | None = None,
    ) -> None:
        self._allowance, self._budget = allowance, budget or _Budget(math.inf)
        self.cause, self.detail, self.limit = FailureCode.DAMAGED, "", ""
        self.was_killed = False
        self._seconds = allowance.opening_seconds
        self._killed_for_memory = killed_for_memory()
        parent, (answers, out) = os.getpid(), os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(answers)
            _read(prepare, jobs, out, parent, allowance)
        os.close(out)
        self._budget.begin(self._pid)
        widen(answers)
        self._descriptor = answers
        self._frames: Frames[Opened | Failed | JobResult[T] | JobFailure] = Frames(
            answers, Opened | Failed | JobResult[kind] | JobFailure
        )

    def __enter__(self) -> _Reader[T]:
        return self

    def __exit__(self, *error: object) -> None:
        ended, status, usage = os.wait4(self._pid, os.WNOHANG)
        if not ended:
            os.kill(self._pid, signal.SIGKILL)
            _, status, usage = os.wait4(self._pid, 0)
        self._budget.end(self._pid, usage.ru_utime + usage.ru_stime)
        os.close(self._descriptor)
        if ended and os.WIFSIGNALED(status) and not self.detail:
            self._ended_by(signal.Signals(os.WTERMSIG(status)))

    def _ended_by(self, number: signal.Signals) -> None:
        """Set the cause. Our limits end a reader by SIGXCPU or an error; SIGKILL comes from outside."""
        self.detail = number.name
        if number == signal.SIGXCPU:
            self.cause = FailureCode.TOOK_TOO_LONG
            self.limit = PROCESSOR_SECONDS.format(self._seconds)
        elif number in FROM_OUTSIDE and killed_for_memory() > self._killed_for_memory:
            self.cause, self.limit = FailureCode.TOO_MUCH_MEMORY, "the memory this server has"
        elif number in FROM_OUTSIDE:
            self.cause, self.was_killed = FailureCode.INTERNAL, True

    def answers(self, count: int) -> Iterator[JobResult[T] | JobFailure]:
        """Yield up to ``count`` answers; fewer when the process dies or hangs."""
        for _ in range(count):
            answer = self.next(self._allowance.job_seconds)
            if not isinstance(answer, JobResult | JobFailure):
                return
            yield answer

    def next(self, seconds: float) -> Opened | Failed | JobResult[T] | JobFailure | None:
        """Return the next answer, or None when there is none within that CPU time."""
        began, self._seconds = time.monotonic(), seconds
        try:
            answer = self._in_time(
                min(began + seconds * self._allowance.wall_for_cpu, self._allowance.deadline)
            )
        except TimeoutError:
            self.cause, self.detail = FailureCode.TOOK_TOO_LONG, "no progress"
            self.limit = f"{time.monotonic() - began:.0f} seconds"
            return None
        except msgspec.ValidationError as error:
            self.cause, self.detail = FailureCode.INTERNAL, str(error)
            return None
        if isinstance(answer, Failed):
            self.cause, self.detail = answer.code, answer.detail or answer.code
            if answer.code == FailureCode.TOO_MUCH_MEMORY:
                self.limit = memory_limit(self._allowance)
        if isinstance(answer, JobFailure) and answer.code == FailureCode.TOO_MUCH_MEMORY:
            answer = msgspec.structs.replace(answer, limit=memory_limit(self._allowance))
        if answer is None:
            self._wait_for_end()
        return answer

    def _in_time(self, deadline: float) -> Opened | Failed | JobResult[T] | JobFailure | None:
        """Return the next answer. Raises TimeoutError at the deadline, and for a reader that is stuck."""
        progress = Progress(lambda: cpu_seconds_of(self._pid))
        while time.monotonic() < deadline:
            try:
                return self._frames.next(min(deadline, time.monotonic() + _LOOK_SECONDS))
            except TimeoutError:
                if progress.is_stuck:
                    raise
        raise TimeoutError

    def _wait_for_end(self) -> None:
        """Wait for the end of a process whose pipe is closed: on a busy machine its status comes later."""
        latest = time.monotonic() + _SECONDS_TO_END
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while os.waitid(os.P_PID, self._pid, how) is None and time.monotonic() < latest:
            time.sleep(0.002)


def memory_limit(allowance: JobLimits) -> str:
    return MEGABYTES.format(allowance.memory_bytes // MIB)


def cpu_seconds_of(process: int) -> float:
    """Return the CPU time of a running child; 0 where unknown."""
    try:
        return time.clock_gettime((~process << 3) | 2)  # CPUCLOCK_SCHED of linux/posix-timers.h
    except OSError:
        return 0.0


def _read(
    prepare: JobFactory[T], jobs: Sequence[Job], out: int, parent: int, allowance: JobLimits
) -> None:  # pragma: no cover (runs in the fork, and never returns)
    try:
        die_with_parent(parent)
        _close_other_pipes(out)
        # Pages parsed before, in the process it is forked from.
        inherited = max(0, address_space() - _USUAL_BYTES)
        limit_memory_for_good(allowance.memory_bytes + inherited)
        limit_cpu_for_good(allowance.opening_seconds + len(jobs) * max(allowance.job_seconds, 0.0))
        confine_reader()
        limit_cpu(allowance.opening_seconds)
        count, work = prepare()
        send(out, Opened(count))
        for job in jobs:
            limit_cpu(allowance.job_seconds)
            send(out, _answer(work, job))
    except ParseFailure as failure:
        send(out, Failed(failure.code, failure.message, failure.detail))
    except MemoryError:
        send(out, Failed(FailureCode.TOO_MUCH_MEMORY))
    except Exception as error:
        send(out, Failed(FailureCode.DAMAGED, detail=repr(error)[:500]))
    finally:
        os._exit(0)


def _close_other_pipes(own: int) -> None:
    """Close the pipes to the worker and of other readers."""
    for descriptor in range(3, min(_MOST_DESCRIPTORS, resource.getrlimit(resource.RLIMIT_NOFILE)[0])):
        with contextlib.suppress(OSError):
            if descriptor != own and stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                os.close(descriptor)


def _answer(work: Callable[[Job], T], job: Job) -> JobResult[T] | JobFailure:
    try:
        return JobResult(job, work(job))
    except MemoryError:
        return JobFailure(job, FailureCode.TOO_MUCH_MEMORY)
    except ParseFailure as failure:
        return JobFailure(job, failure.code, failure.detail, message=failure.message)
    except Exception as error:  # MuPDF raises many types; a bad page must not end the document
        return JobFailure(job, FailureCode.DAMAGED, repr(error)[:500])
