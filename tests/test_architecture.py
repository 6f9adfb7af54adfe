"""Architecture: directions of imports, templates that compile, modules that stay unloaded."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template

from pdf.sandbox import client

ROOT = Path(settings.BASE_DIR)
ORDER = (
    "text",
    "pdf",
    "domains",
    "citing",
    "documents",
    "retrieval",
    "chat",
    "reviews",
    "agents",
    "operations",
    "config",
    "bench",
)  # each may import from itself and from its left


def sources(package: str) -> list[Path]:
    return [path for path in sorted((ROOT / package).rglob("*.py")) if "migrations" not in path.parts]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of every import, also those inside functions and type-checking blocks."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module


@pytest.mark.parametrize("package", ORDER)
def test_imports_run_in_one_direction(package: str) -> None:
    forbidden = ORDER[ORDER.index(package) + 1 :]
    back = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources(package)
        for line, name in imports(path)
        if name.split(".")[0] in forbidden
    ]
    assert not back


@pytest.mark.parametrize("package", ORDER)
def test_no_import_is_relative(package: str) -> None:
    relative = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources(package)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not relative


def reads_environment(module: ast.Module) -> bool:
    """Asks for a variable; writing one for a library is another matter."""
    written = {
        id(node.value)
        for node in ast.walk(module)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    }
    return any(
        isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"} and id(node) not in written
        for node in ast.walk(module)
    )


def test_only_the_settings_read_the_environment() -> None:
    readers = {
        str(path.relative_to(ROOT))
        for package in ORDER
        for path in sources(package)
        if reads_environment(tree(path))
    }
    assert readers <= {"config/environment.py", "config/settings.py", "config/asgi.py"}


def template_names() -> list[str]:
    folders = [ROOT / "templates", *(ROOT / package / "templates" for package in ORDER)]
    return sorted(
        {
            str(path.relative_to(folder))
            for folder in folders
            for path in folder.rglob("*")
            if path.suffix in {".html", ".txt"} and path.is_file()
        }
    )


@pytest.mark.parametrize("name", template_names())
def test_every_template_compiles_and_holds_no_inline_script_or_style(name: str) -> None:
    source = get_template(name).template.source  # type: ignore[attr-defined]
    assert "<script>" not in source
    assert "<style" not in source
    assert ' style="' not in source
    assert " onclick=" not in source


def loaded_by(imports: str) -> set[str]:
    """The modules of a new process that imports these."""
    code = f"import {imports}, sys; print(*(name for name, module in sys.modules.items() if module))"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(found.stdout.split())


def test_neither_web_nor_worker_loads_what_reads_pdfs() -> None:
    """Hostile files are read in a child; MuPDF and its model would cost each process 80 MB and a second."""
    loaded = loaded_by("config.asgi, config.urls, documents.tasks")
    assert {"pdf.api", "chat.answers.write_answer"} <= loaded
    assert not {"pymupdf", "onnxruntime", "rapidocr_onnxruntime"} & loaded


def test_the_layout_model_is_not_loaded_with_mupdf() -> None:
    loaded = loaded_by("pdf.sandbox.server, pdf.layout.pipeline")
    assert "pymupdf" in loaded
    assert not {"onnxruntime", "pymupdf.layout"} & loaded


LAYERS = ("values", "words", "cells")  # of citing/comparison; each may import from itself and from its left


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_of_comparison_import_in_one_direction(layer: str) -> None:
    allowed = tuple(f"citing.comparison.{name}." for name in LAYERS[: LAYERS.index(layer) + 1])
    back = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources(f"citing/comparison/{layer}")
        for line, name in imports(path)
        if name.startswith("citing.comparison") and not name.startswith(allowed)
    ]
    assert not back


def test_citing_runs_without_django() -> None:
    code = (
        "import sys; from citing.batch import Case, check;"
        "print(check(Case('The fee is $5.', passage='The fee is $5 a month.')).verdict,"
        " [name for name in sys.modules if name.partition('.')[0] in ('django', 'documents', 'chat')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "exact []\n"


@pytest.mark.parametrize("environment", ["our settings", "the readers of PDFs"])
def test_onnx_runtime_sends_no_telemetry(tmp_path: Path, environment: str) -> None:
    """With telemetry, it writes a file of its session among the temporary ones as soon as it is imported."""
    ours = environment == "our settings"
    code = "import config.settings, onnxruntime" if ours else "import onnxruntime"
    variables = {**(os.environ if ours else client._ENVIRONMENT), "TMPDIR": str(tmp_path)}
    variables.pop("ORT_DISABLE_TELEMETRY" if ours else "", None)
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=variables, check=True)
    assert not list(tmp_path.iterdir())
