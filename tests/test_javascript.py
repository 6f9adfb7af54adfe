"""Unit tests of our JavaScript, in Node's own test runner: ``tests/js/*.test.mjs``."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
PATH = os.pathsep.join(
    [os.environ.get("PATH", ""), str(ROOT / ".venv/bin")]
)  # there it came with npm's wheel
NODE = shutil.which("node", path=PATH)
FILES = sorted((ROOT / "tests/js").glob("*.test.mjs"))


@pytest.mark.skipif(NODE is None, reason="needs node")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_a_module_decides_as_its_unit_tests_say(file: Path) -> None:
    ran = subprocess.run(
        [str(NODE), "--test", str(file)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]
