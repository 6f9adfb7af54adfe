"""Where files are kept, unless the settings name another storage."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage


class PartsOfFiles(Protocol):
    """What our views ask of a storage beside Django's own methods."""

    def open_part(self, name: str, start: int, length: int) -> IO[bytes]:
        """From byte ``start`` on. It may go on after ``length`` bytes: the reader stops there."""
        ...


class WholeFiles(FileSystemStorage):
    """Files on a disk of this machine; of one that could not be written whole, nothing is left."""

    def open_part(self, name: str, start: int, length: int) -> IO[bytes]:
        file = Path(self.path(name)).open("rb")  # noqa: SIM115  the caller closes it
        file.seek(start)
        return file

    def _save(self, name: str, content: File) -> str:
        try:
            return str(super()._save(name, content))  # type: ignore[misc]  # missing in the stubs
        except OSError:
            with suppress(OSError):
                self.delete(name)
            raise
