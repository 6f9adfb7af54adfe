"""Storage in an S3-compatible bucket (PINCITE_S3_BUCKET). Needs django-storages."""

from __future__ import annotations

from typing import IO, Any, cast

from botocore.config import Config
from storages.backends.s3 import S3Storage

# By default boto3 tries to connect five times for a minute each, while a reader sees an empty page.
LIMITS = Config(connect_timeout=3, read_timeout=30, retries={"total_max_attempts": 3, "mode": "standard"})


class BucketFiles(S3Storage):
    """A bucket with range reads; django-storages would download the whole file."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.client_config: Config = self.client_config.merge(LIMITS)

    def open_part(self, name: str, start: int, length: int) -> IO[bytes]:
        """Implement ``documents.files.PartsOfFiles``. Raises botocore's ClientError."""
        entry = self.bucket.Object(self._normalize_name(name))
        return cast(IO[bytes], entry.get(Range=f"bytes={start}-{start + length - 1}")["Body"])
