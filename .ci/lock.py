"""`make lock`: writes requirements.lock, the versions installed here of all that pyproject.toml asks for."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent


def closure(requirements: list[str]) -> dict[str, str]:
    """Name and version of each required distribution and of what it requires in turn."""
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    open_ends = [Requirement(text) for text in requirements]
    while open_ends:
        requirement = open_ends.pop()
        for extra in ["", *requirement.extras]:
            key = (canonicalize_name(requirement.name), extra)
            if key in seen:
                continue
            seen.add(key)
            try:
                package = distribution(requirement.name)
            except PackageNotFoundError:
                raise SystemExit(
                    f"{requirement.name} is not installed: pip install -e '.[dev]' first."
                ) from None
            found[key[0]] = package.version
            for text in package.requires or []:
                needed = Requirement(text)
                if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                    open_ends.append(needed)
    return found


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    pins = sorted(closure(wanted).items())
    (ROOT / "requirements.lock").write_text("".join(f"{name}=={version}\n" for name, version in pins))


main()
