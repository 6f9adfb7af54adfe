"""`make run` with a real server, a real worker, a separate data folder, and Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from django.conf import settings

from operations.processes import is_alive

pytestmark = pytest.mark.worker
WITHIN = 150.0  # on a busy machine; a few seconds on an idle one


def wait_for(condition: Callable[[], object], what: str | Callable[[], str], seconds: float = WITHIN) -> None:
    """Wait until ``condition()``; ``what`` says what is wrong where it stays false, a function then."""
    give_up_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up_at, what() if callable(what) else what
        time.sleep(0.1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class App:
    """One `manage.py runapp`, and what it printed."""

    def __init__(self, var: Path, port: int) -> None:
        self.var, self.log = var, var.parent / f"{var.name}-{time.monotonic_ns()}.log"
        environment = {**os.environ, "PINCITE_VAR": str(var), "PINCITE_PORT": str(port)}
        environment.pop("DATABASE_URL", None)
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(settings.BASE_DIR / "manage.py"), "runapp"],
            env=environment,
            stdout=self.log.open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @property
    def printed(self) -> str:
        return self.log.read_text()

    def url(self) -> str:
        wait_for(
            lambda: "runs at" in self.printed or self.process.poll() is not None, "no address was printed"
        )
        found = re.search(r"runs at (\S+)", self.printed)
        assert found, self.printed
        return found[1]

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(WITHIN)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Not pytest's own: each run of pytest shuts their parent to PostgreSQL's user, also while others run."""
    with tempfile.TemporaryDirectory(prefix="pincite-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def run_app(tmp_path: Path) -> Iterator[Callable[..., App]]:
    apps: list[App] = []

    def start(port: int | None = None) -> App:
        apps.append(App(tmp_path / "var", port or free_port()))
        return apps[-1]

    yield start
    for app in apps:
        if app.process.poll() is None:
            app.interrupt()
    wait_for(lambda: not postgres_of(tmp_path / "var"), "a server was left behind")


def get(url: str) -> tuple[int, dict]:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError:
        return 0, {}


def status_with_token(url: str) -> tuple[int, str | None]:
    """Status and Retry-After of a request whose token the database must be asked about."""
    request = urllib.request.Request(url, headers={"Authorization": "Token " + "0" * 40})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers["Retry-After"]
    except urllib.error.HTTPError as error:
        return error.code, error.headers["Retry-After"]


def postgres_of(var: Path) -> list[int]:
    """Process ids of the data folder's server and its caretaker."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if str(var / "postgres") in (process.info["cmdline"] or [])
    ]


def test_from_an_empty_folder_to_a_running_app_and_back_to_nothing(run_app, tmp_path: Path) -> None:
    first = run_app()
    url = first.url()
    assert ("Pincite runs as root" in first.printed) == (os.geteuid() == 0)
    assert re.search(r"/documents/[0-9a-f-]{36}/$", url), "the address is the sample document's"
    assert re.search(r"password: \S+", first.printed)
    root = url[: url.index("/documents")]
    wait_for(lambda: get(f"{root}/readyz")[0] == 200, "never became ready")
    family = first.family()
    assert len(family) >= 6, "web, worker, cluster, sentinel, and the sentinel's own"
    server = int((tmp_path / "var/postgres/postmaster.pid").read_text().split()[0])
    assert server in postgres_of(tmp_path / "var")
    first.interrupt()
    assert not [process for process in family if is_alive(process)]
    assert not postgres_of(tmp_path / "var")


@pytest.mark.slow
def test_a_run_survives_its_database_refuses_a_second_and_is_found_again(run_app, tmp_path: Path) -> None:
    first = run_app()
    url = first.url()
    root, family = url[: url.index("/documents")], first.family()
    wait_for(lambda: get(f"{root}/readyz")[0] == 200, "never became ready")
    server = int((tmp_path / "var/postgres/postmaster.pid").read_text().split()[0])
    asked = f"{root}/api/documents/"
    wait_for(lambda: status_with_token(asked) == (401, None), "an unknown token is looked up in the database")
    os.kill(server, signal.SIGINT)  # PostgreSQL's fast shutdown: every connection is cut
    seen = set()
    wait_for(lambda: seen.add(status_with_token(asked)) or (503, "5") in seen, f"no 503: {seen}")
    wait_for(
        lambda: seen.add(status_with_token(asked)) or status_with_token(asked)[0] == 401, "never came back"
    )
    assert seen <= {(401, None), (503, "5")}

    second = run_app()
    assert second.process.wait(WITHIN) == 1
    assert "already running" in second.printed
    first.interrupt()
    assert not [process for process in family if is_alive(process)]
    assert not postgres_of(tmp_path / "var")

    again = run_app()
    assert again.url().endswith(url[url.index("/documents") :]), "the data was kept"
    assert "password" not in again.printed


@pytest.mark.slow
def test_a_killed_run_and_a_port_in_use_are_healed(run_app, tmp_path: Path) -> None:
    first = run_app()
    first.url()
    family = first.family()
    first.process.kill()
    wait_for(lambda: not any(is_alive(process) for process in family), "a process outlived its parent")
    assert not postgres_of(tmp_path / "var"), "its caretaker stopped the server"
    pid_file = tmp_path / "var/postgres/postmaster.pid"
    pid_file.write_text(
        f"{os.getpid()}\n"
    )  # as after a kill -9 of the server; the process id now belongs to another program

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        second = run_app(port)
        assert f":{port}/" not in second.url()
        assert f"Port {port} is in use" in second.printed
