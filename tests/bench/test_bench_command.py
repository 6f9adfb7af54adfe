"""Every benchmark can be called: modules that are only part of one begin with an underscore."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command, load_command_class

from bench.management.commands.bench import benchmarks
from documents.models import Document
from tests.pdf.layout_drawing import PROSE, Drawing, justified


def test_the_benchmarks_are_those_the_readme_names() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    named = re.search(r"`bench ([\w\\|]+)`", readme)
    assert named and set(benchmarks()) == set(named[1].split("\\|"))


@pytest.mark.parametrize("name", sorted(benchmarks()))
def test_a_benchmark_says_what_it_measures(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        load_command_class("bench", "bench").create_parser("manage.py", "bench").parse_args([name, "--help"])
    assert ended.value.code == 0
    assert f"bench {name}" in capsys.readouterr().out


@pytest.mark.django_db
def test_bench_ingest_counts_pages_and_leaves_no_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    drawing.document.save(tmp_path / "prose.pdf")
    call_command("bench", "ingest", str(tmp_path), "--others", "--json")
    figures = json.loads(capsys.readouterr().out)
    assert (figures["files"], figures["failed"], figures["pages"]) == (1, 0, 1)
    assert figures["pages_per_second"]["whole"] > 0
    assert figures["pages_per_second"]["pymupdf4llm"] > 0
    assert figures["pages_per_second"]["pdfplumber"] > 0
    assert figures["chunks_indexed_per_second"] > 0
    assert not Document.objects.exists()
