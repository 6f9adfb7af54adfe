"""The number, length and names of modules, and the names of their tests. `pytest -s` prints the figures."""

from __future__ import annotations

import ast
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.test_architecture import ORDER, ROOT, sources, tree

MOST_MODULES = 310  # without tests, migrations and the faces of packages
LEAST_LINES, MOST_LINES = 40, 500

# Django, DRF and this project's providers call a module so, in each app or package that has one.
CONVENTIONAL = {"admin", "api", "apps", "base", "models", "receivers", "registry", "server", "urls", "views"}
# A layer serves the resource of the module's name: `documents/api/papers.py`, `documents/views/papers.py`.
LAYERS = {"admin", "api", "commands", "exports", "models", "providers", "templatetags", "views"}
# Names that end in -ing and are the field's own nouns.
NOUNS = {"anchoring", "chunking", "citing", "docling", "ranking"}
# Django finds these classes by their names: in a module, or in a model's or serializer's body.
CLASSES_OF_DJANGO = {"Command", "Config", "DatabaseWrapper", "Media", "Meta"}
# Choices in the body of a model, read with its name: ``Document.Status``.
CHOICES_OF_MODELS = {"Kind", "Status", "Type"}
NOUNS_OF_FUNCTIONS = {"finding", "heading", "spelling", "standing"}
NOUNS_OF_CLASSES = {"Finding", "Heading", "Listing", "Ordering", "Pairing", "Ranking", "Ruling"}
# Small modules that something finds by name (Django, django-q2, a command line, a protocol), or that are the
# only door to a library: sentencex.
SEAMS = CONVENTIONAL | {"asgi", "formats", "language_model", "s3_storage", "signals"}
SEAMS |= {"storage", "tasks", "sentences"}
# Modules that one other imports and that would fit into it, with the reason why they stay apart.
OWN_SUBJECTS = {
    "agents.openai_responses": "one protocol; `agents.views` has the URLs of several",
    "retrieval.embeddings.openai": "one provider of several; loaded, with its SDK, only where it is chosen",
}
# Modules with a test file of their own name.
LEAST_WITH_TESTS = 108


@cache
def modules() -> dict[Path, int]:
    """Lines of each module, without the faces of packages."""
    found = [path.relative_to(ROOT) for package in ORDER for path in sources(package)]
    return {path: len((ROOT / path).read_text().splitlines()) for path in found if path.stem != "__init__"}


def dotted(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)


@cache
def single_importers() -> dict[str, Path]:
    """Modules that exactly one other imports, with the importer."""
    known = {dotted(path) for path in modules()}
    importers: defaultdict[str, set[Path]] = defaultdict(set)
    for package in ORDER:
        for path in sources(package):
            for node in ast.walk(tree(path)):
                if isinstance(node, ast.Import):
                    names = {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    names = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                else:
                    continue
                for name in names & known:
                    importers[name].add(path.relative_to(ROOT))
    return {name: paths.pop() for name, paths in sorted(importers.items()) if len(paths) == 1}


@cache
def names_in_strings() -> set[str]:
    """String constants of the code: settings and URL maps name modules so, and programs to run (``-m``)."""
    return {
        node.value
        for package in ORDER
        for path in sources(package)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def is_resource_of_layer(name: str) -> bool:
    *packages, stem = name.split(".")
    return bool(LAYERS & set(packages)) or stem in CONVENTIONAL


def is_named_in_strings(name: str) -> bool:
    return any(text == name or text.startswith(f"{name}.") for text in names_in_strings())


def would_be_too_long(name: str, importer: Path) -> bool:
    lines = len((ROOT / importer).read_text().splitlines())
    return modules()[Path(*name.split(".")).with_suffix(".py")] + lines > MOST_LINES


def test_there_are_no_more_modules_than_there_were() -> None:
    lines = list(modules().values())
    print(
        f"\n{len(lines)} modules of {sum(lines)} lines, median {statistics.median(lines):.0f},"
        f" longest {max(lines)}; {sum(count < LEAST_LINES for count in lines)} under {LEAST_LINES} lines;"
        f" {len(single_importers())} are imported by one other"
    )
    assert len(lines) <= MOST_MODULES
    assert 100 <= statistics.median(lines) <= 300


def test_a_module_that_one_other_imports_is_part_of_it() -> None:
    """Except if both would be too long, if its name finds it, or if a URL map or app config connects it."""
    apart = {
        name
        for name, importer in single_importers().items()
        if not would_be_too_long(name, importer)
        and not is_resource_of_layer(name)
        and not is_named_in_strings(name)
        and importer.stem not in {"apps", "urls"}
    }
    assert apart == set(OWN_SUBJECTS)


def test_no_module_is_too_long() -> None:
    assert not [str(path) for path, lines in modules().items() if lines > MOST_LINES]


def test_no_module_is_too_small_to_be_one() -> None:
    small = [path for path, lines in modules().items() if lines < LEAST_LINES]
    assert not [str(path) for path in small if path.parent.name not in LAYERS and path.stem not in SEAMS]


def test_no_module_or_package_is_called_by_a_bare_gerund() -> None:
    names = {part for path in modules() for part in (*path.parent.parts, path.stem)}
    assert not {name for name in names if name.endswith("ing") and "_" not in name} - NOUNS


def test_no_two_modules_of_an_app_have_one_name() -> None:
    counts = Counter(
        (path.parts[0], path.stem)
        for path in modules()
        if path.stem not in CONVENTIONAL and not LAYERS & set(path.parts[:-1])
    )
    assert not {name for name, count in counts.items() if count > 1}


def test_the_tests_of_a_module_are_named_after_it_or_after_its_package() -> None:
    """Layers, and seams that others find by name, are tested through pages, API and commands of their app."""
    exempt = SEAMS | {"settings"}
    subjects = [path for path in modules() if not LAYERS & set(path.parts[:-1]) and path.stem not in exempt]
    own = [path for path in subjects if has_tests(path.parent, path.stem.strip("_"))]
    print(f"\n{len(own)} of {len(subjects)} modules have a test file of their own name")
    without = [path for path in subjects if path not in own and not has_tests(path.parent, path.parent.name)]
    assert not [str(path) for path in without]
    assert len(own) >= LEAST_WITH_TESTS


def has_tests(folder: Path, name: str) -> bool:
    """Return whether ``tests/<folder>`` has ``test_<name>.py`` or ``test_<name>_<subject>.py``."""
    files = {path.stem for path in (ROOT / "tests" / folder).glob("test_*.py")}
    return any(stem == f"test_{name}" or stem.startswith(f"test_{name}_") for stem in files)


def definitions(*types: type[ast.stmt]) -> Iterator[str]:
    for path in modules():
        for node in ast.walk(tree(ROOT / path)):
            if isinstance(node, types):
                yield node.name  # type: ignore[attr-defined]


def test_no_function_is_called_by_a_bare_gerund() -> None:
    """A library's own name of a method it calls has capitals inside: ``pushPending``."""
    names = {name.removeprefix("_") for name in definitions(ast.FunctionDef, ast.AsyncFunctionDef)}
    gerunds = {name for name in names if name.endswith("ing") and name.isalpha() and name.islower()}
    assert gerunds == NOUNS_OF_FUNCTIONS


def test_no_class_is_called_by_a_bare_gerund() -> None:
    names = {name.strip("_") for name in definitions(ast.ClassDef)}
    assert {name for name in names if name.endswith("ing") and name.istitle()} == NOUNS_OF_CLASSES


def test_no_two_classes_have_one_name() -> None:
    counts = Counter(definitions(ast.ClassDef))
    doubled = {name for name, count in counts.items() if count > 1}
    assert not doubled - CLASSES_OF_DJANGO - CHOICES_OF_MODELS
