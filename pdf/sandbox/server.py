"""``python -m pdf.sandbox.server PARENT``: answers requests about hostile files, one after the other.

Reads frames from standard input, writes frames to standard output. It knows
nothing of Django, of settings, of secrets, and opens no file of a request.
Each request is answered by a fork, which begins as clean as the first did and can
reach that request's files only: its start takes a millisecond, that of Python and
MuPDF a third of a second.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import time
import traceback

from pdf.failures import FailureCode, ParseFailure
from pdf.sandbox.confinement import (
    adopt_orphans,
    confine,
    confine_to_files,
    die_with_parent,
    is_alone,
    limit_cpu,
    limit_memory,
)
from pdf.sandbox.handlers import answer
from pdf.sandbox.messages import Failed, Frames, Request, files_of, send, with_files

_REQUEST_SECONDS = 30.0
_LOOK_SECONDS = 0.02
# The readers of a file's fork end with it, by the kernel's signal.
_LEFT_BEHIND_SECONDS = 1.0


def main() -> None:
    die_with_parent(int(sys.argv[1]))
    adopt_orphans()
    out = _own_standard_output()
    confine()
    gc.disable()  # pages make thousands of tuples and no cycles; the process is short-lived
    requests: Frames[Request] = Frames(0, Request)
    try:
        while request := requests.next(time.monotonic() + _REQUEST_SECONDS):
            _see_through(_forked(request, out))
            if not is_alone(_LEFT_BEHIND_SECONDS):
                sys.exit(1)  # a file that left a process behind gets no hold of the next one's answers
    except TimeoutError:
        return


def _forked(request: Request, out: int) -> int:
    """The process that answers the request."""
    parent = os.getpid()
    if child := os.fork():
        return child
    try:
        die_with_parent(parent)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # further requests are none of this one's business
        request = with_files(request, confine_to_files(files_of(request)))
        die_with_parent(parent)  # a change of user forgets it
        _answer(request, out)
        os._exit(0)
    finally:
        os._exit(1)


def _see_through(fork: int) -> None:
    """Until it ends, or is done with because the next request is there. We end as badly as it does."""
    while not select.select([0], [], [], _LOOK_SECONDS)[0]:
        ended, status = os.waitpid(fork, os.WNOHANG)
        if ended and os.WIFSIGNALED(status):
            os.kill(os.getpid(), os.WTERMSIG(status))
        if ended and status:
            sys.exit(1)
        if ended:
            return
    os.kill(fork, signal.SIGKILL)
    os.waitpid(fork, 0)


def _answer(request: Request, out: int) -> None:
    limit_memory(request.limits.memory_bytes)
    limit_cpu(request.limits.seconds(0))
    try:
        answer(request, lambda message: send(out, message))
    except ParseFailure as failure:
        send(out, Failed(failure.code, failure.message, failure.detail))
    except MemoryError:
        send(out, Failed(FailureCode.TOO_MUCH_MEMORY, detail="layout"))
    except BrokenPipeError:
        return
    except Exception:
        send(out, Failed(FailureCode.INTERNAL, detail=traceback.format_exc(limit=-8)))


def _own_standard_output() -> int:
    """Keeps the pipe for frames; what C libraries print goes nowhere."""
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    return kept


if __name__ == "__main__":
    main()
