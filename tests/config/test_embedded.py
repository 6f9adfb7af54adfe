"""An embedded server that cannot be made says why, in PostgreSQL's own words."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from config.embedded import server


def test_initdb_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "INITDB_OPTIONS", (*server.INITDB_OPTIONS, "--locale=xx_YY"))
    with (
        tempfile.TemporaryDirectory(prefix="pincite-") as folder,  # one that PostgreSQL's user can reach
        pytest.raises(server.ServerUnavailable, match=r"initdb failed\. initdb: error: invalid locale name"),
    ):
        server.start(Path(folder) / "postgres")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (b"", ""),
        (b"LOG:  starting\nFATAL:  no room\nLOG:  shutting down\n", "FATAL:  no room"),
        (b"ERROR:  of a query long ago\n" + b"LOG:  checkpoint\n" * 9, "LOG:  checkpoint"),
        (b"LOG:  starting\nLOG:  \xff\n", "LOG:  \N{REPLACEMENT CHARACTER}"),
    ],
)
def test_the_last_error_is_what_is_told(output: bytes, said: str) -> None:
    assert server.complaint(output) == said
