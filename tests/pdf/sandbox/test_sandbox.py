"""What code that has taken over the sandbox cannot do, tried in the real process."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.conf import settings

from operations.observability.health import hostile_files_are_confined
from pdf.api import draw_plain_page
from pdf.sandbox import client, confinement, seccomp
from pdf.sandbox.office_server import OfficeLimits
from tests.drawing import draw_pdf
from tests.sandbox_children import stop_idle_children

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux confines")
# The real child, except that drawing a page is an attack.
HOSTILE = """
import sys
from pathlib import Path
from pdf.sandbox import server
from tests.documents import escapes
worker = int(sys.argv[1])
server.plain_picture = lambda page, dpi: escapes.attempts(Path({folder!r}), worker)
server.main()
"""
POSSIBLE = {"a thread"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("target")


@pytest.fixture(scope="module")
def outcomes(folder: Path) -> dict[str, str]:
    (folder / "mine").write_text("a secret key")
    folder.chmod(0o777)
    file = folder.parent / "file.pdf"
    file.write_bytes(draw_pdf("Harmless words."))
    file.chmod(0o600)
    with pytest.MonkeyPatch.context() as patch:
        popen = subprocess.Popen

        def hostile(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
            if "pdf.sandbox.server" in command:
                at = command.index("-m")
                command = [*command[:at], "-c", HOSTILE.format(folder=str(folder)), *command[at + 2 :]]
            return popen(command, **options)

        patch.setattr(client.subprocess, "Popen", hostile)
        stop_idle_children()
        found: dict[str, str] = json.loads(draw_plain_page(file, 1))
        stop_idle_children()
    return found


def test_hostile_code_reaches_nothing_but_its_own_file(folder: Path, outcomes: dict[str, str]) -> None:
    assert (folder / "mine").read_text() == "a secret key"
    assert sorted(path.name for path in folder.iterdir()) == ["mine"]
    assert {name for name, error in outcomes.items() if not error} == POSSIBLE
    assert len(outcomes) > 70


@pytest.mark.parametrize(
    "way",
    [
        *("socket by the library", "unix socket", "netlink socket", "packet socket", "vsock", "socket pair"),
        *("io_uring", "pidfd_open", "pidfd_getfd", "memory of the worker", "memory of the worker, to read"),
        *("environment of the worker", "descriptors of the worker", "reading another file", "truncate"),
        *("truncating as it is opened", "unlink", "rename", "chmod", "symlink", "signal to the worker"),
        *("signal to all", "signal by an owner of a pipe", "ptrace", "add_key", "keyctl", "mount", "memfd"),
        *(
            "exec",
            "exec of a descriptor",
            "fork",
            "dumpable again",
            "the way to the worker",
            "requests of others",
            "more processor time",
        ),
    ],
)
def test_this_way_out_is_closed(outcomes: dict[str, str], way: str) -> None:
    assert outcomes[way]


def test_threads_can_be_started_since_text_recognition_needs_them(outcomes: dict[str, str]) -> None:
    assert outcomes["a thread"] == ""


def test_our_own_processes_hide_their_memory_from_those_of_the_same_user() -> None:
    shown = "import os; os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'config.settings'); import django;"
    shown += "django.setup(); import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", shown], capture_output=True, text=True, check=True
    )
    assert told.stdout.split()[-1] == "0"


# In LibreOffice's place: told of its own folder, the worker, another folder and a socket.
OFFICE = """
import os, socket, subprocess, sys
worker, target, listening, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
def refused(attempt):
    try:
        attempt()
    except OSError:
        return True
def connect():
    socket.socket(socket.AF_UNIX).connect(listening)
def send():
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", listening)
tries = dict(
    inet=lambda: socket.socket(), netlink=lambda: socket.socket(16, 3, 0), connect=connect, send=send,
    read=lambda: open(target + "/mine").read(), write=lambda: open(target + "/mine", "w"),
    truncate=lambda: os.truncate(target + "/mine", 0), unlink=lambda: os.unlink(target + "/mine"),
    rename=lambda: os.rename(target + "/mine", target + "/moved"),
    chmod=lambda: os.chmod(target + "/mine", 0),
    symlink=lambda: os.symlink("x", target + "/link"), environ=lambda: open(f"/proc/{worker}/environ").read(),
    memory=lambda: open(f"/proc/{worker}/mem", "rb"), signal=lambda: os.kill(worker, 0),
)
open(folder + "/made", "w").write(" ".join(name for name, attempt in tries.items() if not refused(attempt)))
subprocess.run(["/bin/true"], check=True)
"""
SYSTEM_PYTHON = Path("/usr/bin/python3")


@pytest.mark.skipif(not SYSTEM_PYTHON.exists(), reason="needs a program that any user may start")
def test_office_files_are_converted_by_a_program_that_reaches_its_own_folder_only(tmp_path: Path) -> None:
    # LibreOffice may remove its user's files in /tmp, where its socket is: as root it has an id of its own.
    target = (tmp_path if os.geteuid() == 0 else settings.VAR_DIR) / "target"
    folder = tmp_path / "folder"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    folder.mkdir()
    for path in (tmp_path, *tmp_path.parents[:3]):
        if (mode := path.stat().st_mode) & 0o055 != 0o055:  # not of /tmp, which may be another user's
            path.chmod(mode | 0o755)
    (target / "mine").write_text("a secret key")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(target / "socket"))
        listening.listen()
        limits = msgspec.json.encode(OfficeLimits(2**32, 2**20, 60)).decode()
        arguments = [str(os.getpid()), str(target), str(target / "socket"), str(folder)]
        child = [
            sys.executable,
            "-s",
            "-m",
            "pdf.sandbox.office_server",
            str(os.getpid()),
            limits,
            str(folder),
        ]
        command = [*child, str(SYSTEM_PYTHON), "-c", OFFICE, *arguments]
        subprocess.run(command, cwd=settings.BASE_DIR, check=True, timeout=60, env={"PATH": "/usr/bin:/bin"})
    assert (folder / "made").read_text() == (
        "" if confinement.version() >= 6 or not os.getuid() else "signal"
    )
    assert (target / "mine").read_text() == "a secret key"
    assert not (target / "link").is_symlink()


def test_what_the_kernel_cannot_do_is_said_to_the_administrator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "version", lambda: 0)
    monkeypatch.setattr(seccomp, "is_possible", lambda: False)
    told = [message.msg for message in hostile_files_are_confined()]
    assert any("no Landlock" in message for message in told)
    assert any("no seccomp filter" in message for message in told)
