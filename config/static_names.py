"""Static files under names that change with what they hold, so that browsers keep them for good.

Modules that import one another are rewritten as they are collected. What is asked for
by a path that is put together at run time (pdf.js's worker, fonts and tables) keeps its name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.storage import HashedFilesMixin, ManifestStaticFilesStorage


class HashedNames(ManifestStaticFilesStorage):
    support_js_module_import_aggregation = True
    # Of JavaScript only our own: libraries come built, and name sources that they do not bring.
    patterns = HashedFilesMixin.patterns[:1]
    _js_module_import_aggregation_patterns = (
        "js/*.js",
        HashedFilesMixin._js_module_import_aggregation_patterns[1],  # type: ignore[attr-defined]
    )

    def load_manifest(self) -> Any:
        """Nothing while what was collected is older than its sources: their own names then serve."""
        return super().load_manifest() if are_collected() else ({}, "")

    def stored_name(self, name: str) -> str:
        known: str | None = self.hashed_files.get(self.hash_key(self.clean_name(name)))
        return known or name


def are_collected() -> bool:
    """Whether they were, after the last of their sources changed."""
    manifest = Path(settings.STATIC_ROOT) / HashedNames.manifest_name
    newest = max((path.stat().st_mtime for path in static_sources()), default=0)
    return manifest.exists() and manifest.stat().st_mtime > newest


def static_sources() -> list[Path]:
    roots = [settings.BASE_DIR / "static", settings.BASE_DIR / "node_modules/.package-lock.json"]
    return [path for root in roots for path in [root, *root.rglob("*")] if path.exists()]
