"""``python -m documents.pdf.child PARENT``: answers one request about one hostile file, and ends.

Reads one frame from standard input, writes frames to standard output. It knows
nothing of Django, of settings, of secrets; it may write no file and open no socket.
"""

from __future__ import annotations

import gc
import os
import sys
import time
import traceback

import documents.pdf.mupdf  # noqa: F401  first of all: it keeps the layout model from being imported

# isort: split
from documents.pdf.answering import answer
from documents.pdf.confinement import confine, die_with_parent, limit_memory
from documents.pdf.failures import FailureCode, ParseFailure
from documents.pdf.messages import Failed, Frames, Request, send

_REQUEST_SECONDS = 30.0


def main() -> None:
    die_with_parent(int(sys.argv[1]))
    confine()
    gc.disable()  # pages make thousands of tuples and no cycles; the process is short-lived
    out = _own_standard_output()
    request: Request | None = Frames[Request](0, Request).next(time.monotonic() + _REQUEST_SECONDS)
    if request is None:
        return
    limit_memory(request.limits.memory_bytes)
    try:
        answer(request, lambda message: send(out, message))
    except ParseFailure as failure:
        send(out, Failed(failure.code, failure.detail))
    except MemoryError:
        send(out, Failed(FailureCode.TOO_MUCH_MEMORY, "layout"))
    except BrokenPipeError:
        return
    except Exception:
        send(out, Failed(FailureCode.INTERNAL, traceback.format_exc(limit=-8)))


def _own_standard_output() -> int:
    """Keeps the pipe for frames; what C libraries print goes nowhere."""
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    return kept


if __name__ == "__main__":
    main()
