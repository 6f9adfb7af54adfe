"""Word, PowerPoint, Excel and OpenDocument files as PDFs: by LibreOffice, where it is installed.

LibreOffice runs in a session of its own, without network, with limits on
memory, time and what it writes, in a profile made for this one file: macros
off, links into other files never followed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from django.conf import settings

from documents.pdf.failures import PROCESSOR_SECONDS, FailureCode, ParseFailure, file_failure
from documents.pdf.limits import MIB, wall_seconds
from documents.pdf.office_child import REFUSED, OfficeLimits

MEMORY_BYTES = 4096 * MIB  # of address space: LibreOffice maps 2 GB before it opens a file
OUT_OF_TIME = {128 + signal.SIGXCPU, 256 - signal.SIGXCPU}  # as a shell says it, and as Python does
NOT_INSTALLED = "Office files need LibreOffice, which this server does not have. Save the file as PDF first."
REGISTRY = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">{items}</oor:items>
"""
ITEM = (
    '<item oor:path="/org.openoffice.Office.{path}">'
    '<prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
)
CHOICES = (
    ("Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Writer/Content/Update", "Link", "0"),  # never
    ("Calc/Content/Update", "Link", "2"),  # never
)


def office_is_there() -> bool:
    return bool(program())


def program() -> str:
    """LibreOffice's path, or ''."""
    return shutil.which(settings.LIBREOFFICE) or ""


def office_to_pdf(source: Path, suffix: str) -> bytes:
    """The PDF LibreOffice makes of the file. Raises ParseFailure; leaves no process and no file behind."""
    if not office_is_there():
        raise ParseFailure(FailureCode.NOT_A_PDF, NOT_INSTALLED)
    with TemporaryDirectory(prefix="pincite-office-") as name:
        folder = Path(name)
        copy = folder / f"document{suffix}"
        shutil.copyfile(source, copy)
        write_profile(folder / "profile")
        status, said = run(command(folder, copy), folder)
        if status == REFUSED:
            raise ParseFailure(FailureCode.TOO_LARGE, said[:200])
        if status in OUT_OF_TIME:
            limit = PROCESSOR_SECONDS.format(settings.CONVERT_SECONDS)
            raise ParseFailure(FailureCode.TOOK_TOO_LONG, file_failure(FailureCode.TOOK_TOO_LONG, limit))
        made = copy.with_suffix(".pdf")
        if not made.exists():
            raise ParseFailure(FailureCode.DAMAGED, detail="LibreOffice made no PDF")
        return made.read_bytes()


def write_profile(folder: Path) -> None:
    items = "".join(ITEM.format(path=path, name=name, value=value) for path, name, value in CHOICES)
    (folder / "user").mkdir(parents=True)
    (folder / "user" / "registrymodifications.xcu").write_text(REGISTRY.format(items=items))


def command(folder: Path, copy: Path) -> list[str]:
    limits = OfficeLimits(MEMORY_BYTES, settings.UPLOAD_MAX_BYTES * 2, int(settings.CONVERT_SECONDS))
    confined = [sys.executable, "-s", "-m", "documents.pdf.office_child", str(os.getpid())]
    options = ["--headless", "--norestore", "--nolockcheck", "--nodefault", "--nologo"]
    return [
        *(*confined, msgspec.json.encode(limits).decode(), str(folder), program()),
        *(f"-env:UserInstallation={(folder / 'profile').as_uri()}", *options),
        *("--convert-to", "pdf", "--outdir", str(folder), str(copy)),
    ]


def run(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Exit status and what was said, after as long as conversions may take. Raises ParseFailure."""
    environment = {"PYTHONPATH": str(settings.BASE_DIR), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        arguments,
        cwd=settings.BASE_DIR,
        env=environment | {"HOME": str(folder), "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wall = wall_seconds(settings.CONVERT_SECONDS)  # CPU time is limited within (``office_child``)
    try:
        said, _ = process.communicate(timeout=wall)
        return process.returncode, said.decode(errors="replace")
    except subprocess.TimeoutExpired:
        message = file_failure(FailureCode.TOOK_TOO_LONG, f"{wall:.0f} seconds")
        raise ParseFailure(FailureCode.TOOK_TOO_LONG, message, "LibreOffice") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
