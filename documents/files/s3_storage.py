"""Storage in an S3-compatible bucket (PINCITE_S3_BUCKET). Needs django-storages."""

from __future__ import annotations

from typing import IO, cast

from storages.backends.s3 import S3Storage


class BucketFiles(S3Storage):
    """A bucket with range reads; django-storages would download the whole file."""

    def open_part(self, name: str, start: int, length: int) -> IO[bytes]:
        """Implement ``documents.files.storage.PartsOfFiles``. Raises botocore's ClientError."""
        entry = self.bucket.Object(self._normalize_name(name))
        return cast(IO[bytes], entry.get(Range=f"bytes={start}-{start + length - 1}")["Body"])
