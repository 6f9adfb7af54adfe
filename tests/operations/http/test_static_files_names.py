"""Static files under hashed names are complete and never older than their sources."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from operations.http.static_files import HashedNames
from operations.management.commands.runapp import collect_static_files

IMPORTED = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?\s*)["'](\.[^"']+)["']""")


def test_modules_import_one_another_under_names_that_change_with_what_they_hold(
    tmp_path: Path, settings: Any
) -> None:
    settings.STATIC_ROOT = tmp_path
    collect_static_files()
    names = HashedNames()
    known = {tmp_path / hashed for hashed in names.hashed_files.values()}
    imported = set()
    for name in names.hashed_files:
        if name.startswith("js/"):
            module = tmp_path / names.stored_name(name)
            assert module.name != Path(name).name
            imported |= {(module.parent / path).resolve() for path in IMPORTED.findall(module.read_text())}
    assert len(imported) > 20
    assert imported <= known
    assert all(path.stat().st_mode & 0o004 for path in known), "root collects, the service's user reads"
    os.utime(tmp_path / names.manifest_name, (0, 0))
    assert HashedNames().stored_name("js/app.js") == "js/app.js", "a source is newer"
    assert HashedNames().stored_name("never/collected.css") == "never/collected.css"
