"""The section that each block stands in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from documents.pdf.fast.blocks import Block
from documents.pdf.fast.sheets import Sheet

# What common headings of papers and reports call their sections; the first that matches counts.
_TYPES = [
    (
        "abstract",
        r"abstract|(?:executive )?summary|zusammenfassung|résumé|resumen|аннотация|摘要|要旨|الملخص",
    ),
    (
        "introduction",
        r"introduction|background|overview|einleitung|введение|引言|はじめに|مقدمة",
    ),
    ("related_work", r"related work|literature review|previous work"),
    (
        "methods",
        r"(?:materials? and )?methods?|methodology|experimental(?: setup| design)?|approach|методы|方法",
    ),
    ("results", r"results?|findings|experiments?|evaluation|результаты|結果|结果"),
    ("discussion", r"(?:results and )?discussion|limitations|обсуждение|考察|讨论"),
    ("conclusion", r"conclusions?|concluding remarks|future work|заключение|выводы|結論|结论"),
    ("references", r"references|bibliography|works cited|literature|литература|参考文献|المراجع"),
    ("acknowledgements", r"acknowledge?ments?|funding"),
    ("appendix", r"appendi(?:x|ces)\b.*|annex\b.*|приложение.*|附录.*|付録.*"),
]
_PATTERNS = [(name, re.compile(rf"^(?:{pattern})$", re.IGNORECASE)) for name, pattern in _TYPES]
_NUMBERING = re.compile(r"^[\W\d_]*(?:[IVX]+\.\s*)?|[\W_]+$")


def assign_sections(sheets: Sequence[Sheet]) -> None:
    """Gives each block the titles of the headings above it, outermost first, and the kind of its section."""
    open_: list[Block] = []
    path: tuple[str, ...] = ()
    kind = ""
    for sheet in sheets:
        for block in sheet.blocks:
            if block.kind == "heading":
                level = block.level or 1
                open_ = [heading for heading in open_ if (heading.level or 1) < level]
                path = tuple(heading.text for heading in open_)
            block.section_path = path
            if block.kind == "heading":
                open_.append(block)
                path = (*path, block.text)
                kind = next(filter(None, (section_type(title) for title in reversed(path))), "")
            block.section_type = kind


@lru_cache(maxsize=4096)
def section_type(title: str) -> str:
    """What kind of section the heading opens: 'abstract', 'methods', …, or ''."""
    if len(title) > 60:
        return ""
    plain = _NUMBERING.sub("", title)
    return next((name for name, pattern in _PATTERNS if pattern.match(plain)), "")
