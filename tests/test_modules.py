"""The names of modules' tests, and modules that import each other."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.test_architecture import ORDER, ROOT, sources, tree

# A layer serves the resource of the module's name: `documents/api/papers.py`, `documents/views/papers.py`.
LAYERS = {"admin", "api", "commands", "exports", "models", "providers", "templatetags", "views"}
# Django, DRF, django-q2, providers and protocols find these modules by their names, in each app that has one.
FOUND_BY_NAME = {"admin", "api", "apps", "asgi", "base", "formats", "language_model", "models", "receivers"}
FOUND_BY_NAME |= {"registry", "s3_storage", "sentences", "server", "settings", "signals", "storage", "tasks"}
FOUND_BY_NAME |= {"urls", "views"}


@cache
def modules() -> list[Path]:
    """The modules without the faces of packages."""
    found = [path.relative_to(ROOT) for package in ORDER for path in sources(package)]
    return [path for path in found if path.stem != "__init__"]


def test_the_tests_of_a_module_are_named_after_it_or_after_its_package() -> None:
    """Layers, and modules found by name, are tested through pages, API and commands of their app."""
    subjects = [p for p in modules() if not LAYERS & set(p.parts[:-1]) and p.stem not in FOUND_BY_NAME]
    names = {path: (path.stem.strip("_"), path.parent.name) for path in subjects}
    assert not [str(path) for path in subjects if not has_tests(path.parent, *names[path])]


def has_tests(folder: Path, *names: str) -> bool:
    """Return whether ``tests/<folder>`` has ``test_<name>.py`` or ``test_<name>_<subject>.py``."""
    files = {path.stem for path in (ROOT / "tests" / folder).glob("test_*.py")}
    return any(stem == f"test_{name}" or stem.startswith(f"test_{name}_") for name in names for stem in files)


def dotted(path: Path) -> str:
    relative = path.relative_to(ROOT)
    return ".".join(relative.parent.parts if path.stem == "__init__" else relative.with_suffix("").parts)


@cache
def imported_modules() -> dict[str, set[str]]:
    """The modules that each module imports, also inside functions and for types alone."""
    paths = {dotted(path): path for package in ORDER for path in sources(package)}
    graph: dict[str, set[str]] = {name: set() for name in paths}
    for name, path in paths.items():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                full = [f"{node.module}.{alias.name}" for alias in node.names]
                graph[name] |= {module if module in paths else node.module for module in full}
    return {name: found & paths.keys() - {name} for name, found in graph.items()}


def test_no_modules_import_each_other() -> None:
    TopologicalSorter(imported_modules()).prepare()  # raises CycleError, which names the modules of a circle
