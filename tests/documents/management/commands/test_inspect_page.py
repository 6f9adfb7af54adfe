from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from documents.management.commands.inspect_page import LAYERS, RED
from tests.drawing import draw_pdf


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "drawn.pdf"
    path.write_bytes(draw_pdf("Draw me.", "And me."))
    return path


def colours(file: Path, *layers: str) -> set[object]:
    out = file.with_suffix(".png")
    call_command("inspect_page", file, 2, out=out, layers=list(layers))
    image = Image.open(out)
    return {colour for _, colour in image.getcolors(1 << 16) or ()}


def test_a_page_is_drawn_with_the_layers_that_are_asked_for(file: Path) -> None:
    red = tuple(bytes.fromhex(RED[1:]))
    assert red in colours(file, "order")
    assert red not in colours(file, "words")
    assert len(colours(file, *LAYERS)) > 10


def test_a_page_that_is_not_there_is_named(file: Path) -> None:
    with pytest.raises(CommandError, match=r"There is no page 3\."):
        call_command("inspect_page", file, 3)
