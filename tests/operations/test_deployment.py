"""Deployment files are valid for their programs, if installed, and name only what exists."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands
from django.test import Client

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SETTING = re.compile(r"\bPINCITE_[A-Z0-9_]+\b")
METRIC = re.compile(r"\b((?:pincite|django|process)_[a-z_]+)")
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
FILES = [ROOT / "Dockerfile", ROOT / "compose.yaml", *(path for path in DEPLOY.rglob("*") if path.is_file())]


def run(*command: str | Path) -> str:
    """Return the program's output. Fail if it fails; skip if it is not installed."""
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"needs {command[0]}")
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def commands_of(path: Path) -> list[str]:
    """The commands of manage.py that the file starts."""
    if path.name == "Dockerfile":
        return re.findall(r'^CMD \["(\w+)"', path.read_text(), re.M)
    if path.suffix == ".service":
        return re.findall(r"manage\.py (\w+)", path.read_text())
    found = []
    for document in yaml.safe_load_all(path.read_text()):
        if "services" in document:
            parts = document["services"].values()
            found += [part["command"][0] for part in parts if part.get("image") == "pincite"]
        elif "template" in document.get("spec", {}):
            found += [part["args"][0] for part in document["spec"]["template"]["spec"]["containers"]]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_setting_that_a_file_names_is_one_of_ours(path: Path) -> None:
    known = set(SETTING.findall((ROOT / "config/settings.py").read_text()))
    assert set(SETTING.findall(path.read_text())) <= known


@pytest.mark.parametrize(
    "path",
    [ROOT / "Dockerfile", ROOT / "compose.yaml", DEPLOY / "kubernetes/pincite.yaml", *UNITS],
    ids=lambda path: path.name,
)
def test_every_command_that_a_file_starts_exists(path: Path) -> None:
    found = commands_of(path)
    assert found
    assert set(found) <= set(get_commands())


def test_the_image_copies_what_is_there_and_runs_as_nobody_in_particular() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    assert copied
    assert all((ROOT / name).exists() for names in copied for name in names)
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users and users[-1] not in ("root", "0")
    assert any(line.startswith("HEALTHCHECK ") for line in lines)


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_systemd_reads_its_units(unit: Path, tmp_path: Path) -> None:
    """As they are, but for the place of Python, which is only there where it is deployed."""
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace("/opt/pincite/.venv/bin/python", "/usr/bin/env"))
    assert "lacks" not in run("systemd-analyze", "verify", copy)


def test_kustomize_builds_the_manifests() -> None:
    built = [part for part in yaml.safe_load_all(run("kubectl", "kustomize", DEPLOY / "kubernetes")) if part]
    kinds = {part["kind"] for part in built}
    assert {"Deployment", "Service", "Ingress", "Job", "ConfigMap"} <= kinds
    for part in built:
        template: dict[str, Any] = part.get("spec", {}).get("template", {}) if "spec" in part else {}
        if template:
            assert template["spec"]["securityContext"]["runAsNonRoot"]
            assert all(":" in container["image"] for container in template["spec"]["containers"])


def test_haproxy_reads_its_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"LISTEN": "127.0.0.1:1", "WEB1": "127.0.0.1:2", "WEB2": "127.0.0.1:3"}.items():
        monkeypatch.setenv(name, value)
    run("haproxy", "-c", "-f", DEPLOY / "haproxy/haproxy.cfg")


def test_prometheus_reads_the_alerts() -> None:
    assert "SUCCESS" in run("promtool", "check", "rules", DEPLOY / "monitoring/alerts.yaml")


@pytest.mark.django_db
def test_alerts_and_dashboard_ask_for_metrics_that_exist(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = "token"
    client.get("/healthz")
    told = client.get("/metrics", headers={"authorization": "Bearer token"}).content.decode()
    exposed = set(re.findall(r"^# TYPE (\S+)", told, re.M))
    exposed |= {f"{name}_bucket" for name in re.findall(r"^# TYPE (\S+) histogram", told, re.M)}
    panels = json.loads((DEPLOY / "monitoring/grafana.json").read_text())["panels"]
    rules = yaml.safe_load((DEPLOY / "monitoring/alerts.yaml").read_text())["groups"][0]["rules"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    asked += [rule["expr"] for rule in rules]
    assert len(asked) > 10
    assert {name for text in asked for name in METRIC.findall(text)} <= exposed


def audited(tmp_path: Path, python: str, npm: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run .ci/audit in a folder where pip-audit and npm answer so."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/audit", tmp_path / ".ci/audit")
    tools = tmp_path / ".venv/bin"
    tools.mkdir(parents=True)
    for name, answer in (("python", python), ("npm", npm)):
        (tools / name).write_text(f"#!/bin/sh\n{answer}\n")
        (tools / name).chmod(0o755)
    return subprocess.run(
        [tmp_path / ".ci/audit"],
        env={"PATH": f"{tools}:/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


CI = {"CI": "true"}
CLEAN = ("echo No known vulnerabilities found", "echo found 0 vulnerabilities")


@pytest.mark.parametrize(
    ("python", "npm", "environment", "status", "says"),
    [
        (*CLEAN, CI, 0, "requirements-cluster.lock: nothing known"),
        ("echo No module named pip_audit; exit 1", CLEAN[1], CI, 1, "requirements.lock: NOT CHECKED"),
        ("exit 0", CLEAN[1], CI, 1, "requirements-dev.lock: NOT CHECKED"),
        (CLEAN[0], "echo npm error; exit 1", CI, 1, "package-lock.json: NOT CHECKED"),
        (CLEAN[0], "exit 1", {}, 0, "1 of 5 locks were NOT CHECKED: package-lock.json"),
        (
            CLEAN[0],
            "exit 1",
            CI | {"PINCITE_AUDIT": "offline"},
            0,
            "1 of 5 locks were not checked: package-lock",
        ),
        ("echo Found 1 known vulnerability; exit 1", CLEAN[1], {"PINCITE_AUDIT": "offline"}, 1, "known"),
        (CLEAN[0], "echo 2 high severity vulnerabilities; exit 1", {"PINCITE_AUDIT": "offline"}, 1, "known"),
    ],
)
def test_an_audit_passes_only_what_it_checked(
    tmp_path: Path, python: str, npm: str, environment: dict[str, str], status: int, says: str
) -> None:
    """F12: it passed without pip-audit, and saw neither the cluster's lock nor npm's."""
    done = audited(tmp_path, python, npm, **environment)
    assert (done.returncode, says in done.stdout) == (status, True), done.stdout + done.stderr
