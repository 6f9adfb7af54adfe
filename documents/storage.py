"""Where files are kept, unless the settings name another storage."""

from __future__ import annotations

from contextlib import suppress

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage


class WholeFiles(FileSystemStorage):
    """Files on a disk of this machine; of one that could not be written whole, nothing is left."""

    def _save(self, name: str, content: File) -> str:
        try:
            return str(super()._save(name, content))  # type: ignore[misc]  # missing in the stubs
        except OSError:
            with suppress(OSError):
                self.delete(name)
            raise
