"""Files of documents: uploads, downloads by URL, formats and conversion, storage, pictures of pages.

This module has the default storage, on a local disk.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage


class PartsOfFiles(Protocol):
    """A storage with range reads."""

    def open_part(self, name: str, start: int, length: int) -> IO[bytes]:
        """Open the file at byte ``start``. It may be longer than ``length``: the reader stops there."""
        ...


class WholeFiles(FileSystemStorage):
    """Files on a local disk. A file that cannot be written completely is deleted."""

    def open_part(self, name: str, start: int, length: int) -> IO[bytes]:
        file = Path(self.path(name)).open("rb")  # noqa: SIM115  closed by the caller
        file.seek(start)
        return file

    def _save(self, name: str, content: File) -> str:
        try:
            return str(super()._save(name, content))  # type: ignore[misc]  # missing in the stubs
        except OSError:
            with suppress(OSError):
                self.delete(name)
            raise
