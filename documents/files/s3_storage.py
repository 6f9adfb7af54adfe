"""Files in an S3-compatible bucket (PINCITE_S3_BUCKET). Imported only where django-storages is installed."""

from __future__ import annotations

from typing import IO, cast

from storages.backends.s3 import S3Storage


class BucketFiles(S3Storage):
    """A bucket that parts of a file can be had from; django-storages gets the whole file for each."""

    def open_part(self, name: str, start: int, length: int) -> IO[bytes]:
        """See ``documents.files.storage.PartsOfFiles``. Raises botocore's ClientError."""
        entry = self.bucket.Object(self._normalize_name(name))
        return cast(IO[bytes], entry.get(Range=f"bytes={start}-{start + length - 1}")["Body"])
