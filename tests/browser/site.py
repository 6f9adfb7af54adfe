"""The product as its users have it: a real ASGI server and a real worker on the tests' own database."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

from django.db import connection

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 120  # on a machine that does much else


@dataclass(frozen=True, slots=True)
class Site:
    """Where the product runs, and what it says."""

    address: str
    var: Path

    def url(self, path: str) -> str:
        return self.address + path


@contextmanager
def running_site(var: Path, **settings: str) -> Iterator[Site]:
    """Server and worker until the block ends, with these settings; their files and logs are in ``var``."""
    port = free_port()
    environment = (
        os.environ
        | settings
        | {
            "PINCITE_VAR": str(var),
            "DATABASE_URL": database_url(),
            "PINCITE_WORKERS": "1",
        }
    )
    web = ["-m", "uvicorn", "config.asgi:application", "--port", str(port), "--log-level", "warning"]
    with (
        python(web, environment, var / "web.log"),
        python(["manage.py", "qcluster"], environment, var / "worker.log"),
    ):
        site = Site(f"http://127.0.0.1:{port}", var)
        wait_for(site.url("/account/sign-in/"), var / "web.log")
        yield site


@contextmanager
def python(arguments: list[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", *arguments], cwd=ROOT, env=environment, stdout=out, stderr=out
        )
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def database_url() -> str:
    """The tests' database, as other processes reach it."""
    parameters = connection.get_connection_params()
    host = quote(str(parameters["host"]), safe="")
    user, name = parameters.get("user", "postgres"), connection.settings_dict["NAME"]
    password = f":{quote(parameters['password'])}" if parameters.get("password") else ""
    port = f":{parameters['port']}" if parameters.get("port") else ""
    return f"postgres://{user}{password}@{host}{port}/{name}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            with urlopen(url, timeout=2):
                return
        except (URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"{url} did not answer:\n{log.read_text()[-2000:]}")
