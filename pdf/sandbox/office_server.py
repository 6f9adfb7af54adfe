"""``python -m pdf.sandbox.office_server PARENT LIMITS FOLDER PROGRAM …``: run LibreOffice, confined.

When the parent ends, or this process gets SIGTERM, the whole session is killed.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

import msgspec

from pdf.convert.depth_limits import check_archive
from pdf.failures import ParseFailure
from pdf.sandbox.confinement import confine_office, die_with_parent

REFUSED = 65  # exit status (EX_DATAERR of sysexits.h)


class OfficeLimits(msgspec.Struct, frozen=True):
    """Limits of each process: address space and file size in bytes, CPU time in seconds."""

    memory_bytes: int
    file_bytes: int
    seconds: int


def main() -> None:
    parent, limits, folder, *command = sys.argv[1:]
    signal.signal(signal.SIGTERM, _end_session)
    die_with_parent(int(parent), by=signal.SIGTERM)
    _limit(msgspec.json.decode(limits, type=OfficeLimits))
    confine_office(command[0], folder)
    die_with_parent(int(parent), by=signal.SIGTERM)  # a change of user clears it
    refuse_what_is_too_deep(command[-1])
    sys.exit(subprocess.call(command, stdin=subprocess.DEVNULL))


def refuse_what_is_too_deep(path: str) -> None:
    """Exit with the reason on standard output for a file that LibreOffice would try for minutes."""
    if not Path(path).is_file():
        return
    try:
        check_archive(Path(path).read_bytes())
    except ParseFailure as failure:
        sys.stdout.write(failure.message)
        sys.exit(REFUSED)


def _limit(limits: OfficeLimits) -> None:
    for kind, value in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_CPU, limits.seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))


def _end_session(signum: int, frame: FrameType | None) -> None:
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
