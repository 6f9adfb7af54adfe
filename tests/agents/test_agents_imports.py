"""What a web process imports when it starts."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.test_architecture import ORDER, sources, tree
from tests.test_modules import dotted

SDKS = {"anthropic", "mcp", "openai"}


def names_imported(module: ast.Module) -> Iterator[str]:
    """Yield what the module imports while it is being imported itself, not what its functions do."""
    for node in module.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_the_pages_are_there_without_the_packages_of_agents_and_models() -> None:
    """They take a second of processor time in each process that knows the URLs."""
    paths = {dotted(path): path for package in ORDER for path in sources(package)}
    constants = (node for node in ast.walk(tree(paths["config.urls"])) if isinstance(node, ast.Constant))
    included = [node.value for node in constants if node.value in paths]
    waiting = ["config.urls", *included]
    imported = set(waiting)
    while waiting:
        for name in names_imported(tree(paths[waiting.pop()])):
            if name in paths and name not in imported:
                waiting.append(name)
            imported.add(name)
    assert "agents.openai_api" in imported
    assert {name.split(".")[0] for name in imported} & SDKS == set()
