"""Hosts of a cluster on one machine: a network namespace each, on one bridge, and their programs.

Needs root. The caller runs in its own namespaces for network, mounts and process ids (``unshare``), which end
with it.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
from django.conf import settings
from django.db import DatabaseError, connection

from bench._installation import Broken
from operations.embedded import server
from operations.processes import manage

NETWORK, BRIDGE, MODEL_PORT = "10.77.0.", "pincite", 9100
WEB, WORKERS, NODES = ["web1", "web2"], ["worker1", "worker2", "worker3"], ["node1", "node2"]
NAMES = ["balancer", *WEB, *WORKERS, "primary", "standby", "redis", "bucket", *NODES]
ADDRESS = {name: f"{NETWORK}{number}" for number, name in enumerate(NAMES, 10)}
OWN_ADDRESS = f"{NETWORK}1"
S3_KEY, S3_SECRET = "cluster", "a secret of the drill"
PATIENCE = 120.0  # seconds until a missing event is a failure
DATABASE = "connect_timeout=3&keepalives_idle=5&keepalives_interval=2&tcp_user_timeout=9000"
POSTGRES = {
    "listen_addresses": "*",
    "shared_buffers": "128MB",
    "max_connections": "300",
    "max_wal_size": "4GB",
    "jit": "off",
    "tcp_keepalives_idle": "5",  # otherwise the locks of a host without power stay for two hours
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
}
CITUS = {"shared_preload_libraries": "citus", "citus.shard_count": "8"}


@dataclass(slots=True)
class Host:
    """A program with its own address. ``kill`` ends all its processes, like the loss of a host."""

    name: str
    command: Sequence[str]
    port: int = 0  # it responds here once it is up
    environment: dict[str, str] = field(default_factory=dict)
    as_postgres: bool = False
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return ADDRESS[self.name]

    def start(self) -> None:
        ip("link", "set", f"v-{self.name}", "up")
        log = (settings.VAR_DIR / f"{self.name}.log").open("ab")
        there = ["ip", "netns", "exec", self.name, "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"']
        if self.as_postgres and (user := server.unprivileged_user()):
            who = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        else:
            who = []
        self.process = subprocess.Popen(
            [*there, self.name, *who, *with_environment(self.environment), *self.command],
            cwd=settings.BASE_DIR,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        if self.port:
            wait(self.listens, f"{self.name} does not answer: see {log.name}")

    def listens(self) -> bool:
        with socket.socket() as probe:
            probe.settimeout(1)
            return not probe.connect_ex((self.address, self.port))

    def kill(self, *, power: bool) -> None:
        """Kill the processes. With ``power`` the link goes down first, so that no peer sees a closed
        connection.
        """
        if power:
            ip("link", "set", f"v-{self.name}", "down")
        for line in subprocess.check_output(["ip", "netns", "pids", self.name]).split():
            with suppress(ProcessLookupError):
                os.kill(int(line), signal.SIGKILL)
        if self.process:
            self.process.wait()


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def lay_network() -> None:
    """Create a bridge, and a namespace for each host, linked to it."""
    ip("link", "set", "lo", "up")
    ip("link", "add", BRIDGE, "type", "bridge")
    ip("addr", "add", f"{OWN_ADDRESS}/24", "dev", BRIDGE)
    ip("link", "set", BRIDGE, "up")
    Path("/run/netns").mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run/netns"], check=True)  # names of our own only
    for name in NAMES:
        ip("netns", "add", name)
        ip("link", "add", f"v-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "set", f"v-{name}", "master", BRIDGE)
        ip("-n", name, "addr", "add", f"{ADDRESS[name]}/24", "dev", "eth0")
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", name, "link", "set", "eth0", "up")


def wait(condition: Callable[[], object], what: str, patience: float = PATIENCE) -> float:
    """Return the seconds until the condition holds. Raises Broken."""
    begun = time.monotonic()
    while True:
        with suppress(DatabaseError, psycopg.Error, httpx.TransportError):
            if condition():
                return time.monotonic() - begun
        connection.close()
        if time.monotonic() - begun > patience:
            raise Broken(what)
        time.sleep(0.1)


# --- What runs there ---


def postgres(name: str, binaries: Path, more: dict[str, str], copy_of: str = "") -> Host:
    """Return a server with fresh data, or a standby of the given primary."""
    data = settings.VAR_DIR / name
    data.mkdir(mode=0o700)
    user = server.unprivileged_user()
    server.open_to(user, data)
    made = [f"{binaries}/initdb", *server.INITDB_OPTIONS, f"--pgdata={data}"]
    if copy_of:
        made = [f"{binaries}/pg_basebackup", "-h", ADDRESS[copy_of], "-U", "postgres", "-R", "-D", str(data)]
        made += ["--checkpoint=fast"]
    subprocess.run(made, check=True, cwd="/", stdout=subprocess.DEVNULL, **server.as_user(user))
    if not copy_of:
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all,replication all {NETWORK}0/24 trust\n")
    options = [part for key, value in (POSTGRES | more).items() for part in ("-c", f"{key}={value}")]
    command = [f"{binaries}/postgres", "-D", str(data), "-c", "unix_socket_directories=", *options]
    return Host(name, command, 5432, as_postgres=True)


def ours(name: str, *arguments: str, port: int = 0) -> Host:
    own = settings.VAR_DIR / "hosts" / name  # nothing is shared but what the settings name
    own.mkdir(parents=True)
    return Host(name, manage(*arguments), port, {"PINCITE_VAR": str(own), "PINCITE_WORKERS": "1"})


def hosts(binaries: Path, citus: bool) -> Iterator[Host]:
    """Yield the hosts in the order of their start."""
    yield postgres("primary", binaries, CITUS if citus else {})
    if citus:
        for name in NODES:
            yield postgres(name, binaries, CITUS)
    else:
        yield postgres("standby", binaries, {"hot_standby_feedback": "on"}, copy_of="primary")
    quiet = ["--save", "", "--appendonly", "no", "--protected-mode", "no"]
    yield Host("redis", ["redis-server", "--bind", ADDRESS["redis"], *quiet], 6379)
    files = settings.VAR_DIR / "bucket"
    (files / "pincite").mkdir(parents=True)
    keys = ["--auth-key", f"{S3_KEY},{S3_SECRET}"]
    yield Host("bucket", ["rclone", "serve", "s3", "--addr", ":9000", *keys, str(files)], 9000)
    for name in WEB:
        yield ours(name, "web", "--host", ADDRESS[name], "--port", "8000", port=8000)
    addresses = {"LISTEN": ":80", "WEB1": f"{ADDRESS['web1']}:8000", "WEB2": f"{ADDRESS['web2']}:8000"}
    balancer = ["haproxy", "-db", "-f", str(settings.BASE_DIR / "deploy/haproxy/haproxy.cfg")]
    yield Host("balancer", balancer, 80, addresses)
    for name in WORKERS:
        yield ours(name, "worker")


def with_environment(values: dict[str, str]) -> list[str]:
    """Return the beginning of a command line that sets these environment variables."""
    return ["env", *(f"{name}={value}" for name, value in values.items())]


def environment(citus: bool) -> dict[str, str]:
    """Set the environment of all our processes, including this one."""
    servers = ADDRESS["primary"] if citus else f"{ADDRESS['primary']},{ADDRESS['standby']}"
    url = f"postgres://postgres@{servers}/pincite?target_session_attrs=read-write&{DATABASE}"
    return {
        "DATABASE_URL": url,
        "DATABASE_REPLICA_URLS": "" if citus else f"postgres://postgres@{ADDRESS['standby']}/pincite",
        "PINCITE_VAR": str(settings.VAR_DIR / "cluster"),
        "PINCITE_SECRET_KEY": "a key that all hosts of the drill have, and nobody else",
        "PINCITE_ALLOWED_HOSTS": f"localhost,{ADDRESS['balancer']}",
        "PINCITE_TRUSTED_PROXIES": ADDRESS["balancer"],
        "PINCITE_REDIS": f"redis://{ADDRESS['redis']}:6379/0",
        "PINCITE_S3_BUCKET": "pincite",
        "PINCITE_S3_URL": f"http://{ADDRESS['bucket']}:9000",
        "AWS_ACCESS_KEY_ID": S3_KEY,
        "AWS_SECRET_ACCESS_KEY": S3_SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",  # rclone sends that of the file with each part
        "AWS_RESPONSE_CHECKSUM_VALIDATION": "when_required",
        "PINCITE_CHAT": "extractive",
        "PINCITE_COMPATIBLE_URL": f"http://{OWN_ADDRESS}:{MODEL_PORT}/v1",
        "DJANGO_SETTINGS_MODULE": "bench._settings",
        "PINCITE_LOG_LEVEL": "WARNING",
    }
