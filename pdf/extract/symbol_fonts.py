"""Characters of symbol fonts as Unicode: what Wingdings prints for ``ü`` or U+F0FC is a tick.

Sources: Adobe's encodings of Symbol and ZapfDingbats (PDF 32000-1, D.5 and D.6); for
Microsoft's fonts the proposal that brought their signs to Unicode (L2/11-052). Where
Unicode's own sign is in few fonts, its older likeness stands here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

# Symbol fonts number their glyphs from here on in the private use area.
PRIVATE = 0xF000
_SUBSET = re.compile(r"^[A-Z]{6}\+")


def _numbered(first: int, characters: str) -> dict[int, str]:
    """Codes from ``first`` on; a space leaves one out."""
    return {first + n: character for n, character in enumerate(characters) if character != " "}


_SYMBOL = {
    **_numbered(0x21, "!∀#∃%&∋()∗+,−./0123456789:;<=>?"),
    **_numbered(0x40, "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"),
    **_numbered(0x60, "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"),
    **_numbered(0xA0, "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵"),
    **_numbered(0xC0, "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓"),
    **_numbered(0xE0, "◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"),
}
_DINGBATS = {
    **{code: chr(0x2700 + code - 0x20) for code in range(0x21, 0x7F)},
    **{code: chr(0x2700 + code - 0x40) for code in (*range(0xA1, 0xF0), *range(0xF1, 0xFF))},
    0x25: "☎",
    0x2A: "☛",
    0x2B: "☞",
    0x48: "★",
    0x6C: "●",
    0x6E: "■",
    0x73: "▲",
    0x74: "▼",
    0x75: "◆",
    0x77: "◗",
    **_numbered(0xA8, "♣♦♥♠①②③④⑤⑥⑦⑧⑨⑩"),
    0xD5: "→",
    0xD6: "↔",
    0xD7: "↕",
}
_WINGDINGS = {
    **_numbered(0x22, "✂✁    ☎✆✉"),
    **_numbered(0x36, "⌛       ✇✍ ✌ 👍👎☜☞☝☟✋☺😐☹💣☠⚐ ✈☼💧❄ ✞ ✠✡☪☯ॐ☸♈♉♊♋♌♍♎♏♐♑♒♓"),
    **_numbered(0x6A, "&&●❍■□□❑❒⬧⧫◆❖⬥⌧⍓⌘❀✿❝❞"),
    **_numbered(0x80, "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿"),
    **_numbered(0x9E, "·• ○○⊙◉◎○▪◻ ✦★✶✴✹✵ ⌖⟡⌑ ✪✰"),
    **_numbered(0xD5, "⌫⌦ ➢   ➲  ←→↑↓↖↗↙↘←➔↑↓↖↗↙↘⇦⇨⇧⇩⬄⇳⬀⬁⬃⬂▭▫✗✓☒☑"),
}
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x97: "●", 0xA3: "☐"}
_WINGDINGS_3 = {
    **_numbered(0x66, "←→↑↓↖↗↙↘↔↕"),
    **_numbered(0x70, "▲▼△▽◀▶◁▷"),
    0x7D: "▶",
    0x84: "◀",
    0xA0: "◀",
}
_WEBDINGS = {
    **_numbered(0x33, "◀▶▲▼"),
    0x61: "✓",
    0x63: "□",
    0x67: "■",
    0x6E: "●",
    0x72: "✗",
    0x73: "?",
    0x3D: "●",
}

_FONTS: tuple[tuple[str, Mapping[int, str], bool], ...] = (
    # part of the font's name, its glyphs, whether its letters are glyphs as well
    ("wingdings2", _WINGDINGS_2, True),
    ("wingdings3", _WINGDINGS_3, True),
    ("wingdings", _WINGDINGS, True),
    ("webdings", _WEBDINGS, True),
    ("zapfdingbats", _DINGBATS, True),
    ("monotypesorts", _DINGBATS, True),
    ("symbolmt", _SYMBOL, False),
    ("symbol", _SYMBOL, False),
)
# Fonts that have ``symbol`` in their names and the signs of Unicode at their own places.
_UNICODE_FONTS = ("segoe", "notosans", "applesymbol", "mathsymbol")


@lru_cache(maxsize=1024)
def symbols_of(font: str) -> Mapping[int, str]:
    """What the font prints for the characters that MuPDF reads, for ``str.translate``; {} for a text font."""
    name = re.sub(r"[\s_-]", "", _SUBSET.sub("", font)).lower()
    if any(other in name for other in _UNICODE_FONTS):
        return {}
    for part, glyphs, letters in _FONTS:
        if part in name:
            found = {PRIVATE + code: sign for code, sign in glyphs.items()}
            return found | _as_letters(glyphs) if letters else found
    return {}


def _as_letters(glyphs: Mapping[int, str]) -> dict[int, str]:
    """The same by the letters that text fonts have at these codes. Windows' own at 0x80 to 0x9F are none."""
    return {code: sign for code, sign in glyphs.items() if not 0x7F <= code < 0xA0}
