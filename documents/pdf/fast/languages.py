"""The language of a listing, where it can be told.

By a few plain rules: Pygments' ``guess_lexer`` (2.21) takes a Python loop for a
Tera Term macro and a SELECT for plain text, and loads 600 lexers for it. What is
printed is often a few lines: so the rules look at how lines begin behind their
indents and how they end, and say nothing unless two of them agree.
"""

from __future__ import annotations

import json
import re

# So many telling places make a language.
ENOUGH = 2

_SHEBANG = re.compile(r"#!\s*\S*/(?:env\s+(?:-\S+\s+)*)?([a-z]+)")
_INTERPRETERS = {
    "python": "python",
    "sh": "shell",
    "bash": "shell",
    "zsh": "shell",
    "node": "javascript",
    "perl": "perl",
    "ruby": "ruby",
}
_MARKUP = {"html": re.compile(r"<!doctype html|<html\b", re.IGNORECASE), "xml": re.compile(r"<\?xml\b")}
_TELLING = {
    language: [re.compile(pattern, re.MULTILINE) for pattern in patterns]
    for language, patterns in {
        "python": (
            r"^(?:async )?def \w+\(.*",
            r"^class \w+(?:\(.*\))?:$",
            r"^(?:from [\w.]+ import \S|import [\w.]+(?: as \w+)?$)",
            r"^(?:(?:for .+ in|if|elif|while|with|except) .+|else|try):$",
            r"\bself\.\w",
            r"^print\(",
            r"^>>> ",
        ),
        "sql": (
            r"^(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE (?:TABLE|INDEX|VIEW)|ALTER TABLE)\b",
            r"\b(?:FROM|WHERE|JOIN|GROUP BY|ORDER BY|VALUES|PRIMARY KEY|NOT NULL)\b",
            r"\A(?:select|insert into|update|delete from|create table)\s(?=[^;]+;)",
            r"^(?:from|where|set|values|group by|order by)\b[^;]*;$",
        ),
        "shell": (
            r"^[$%] \S",
            r"^(?:[$%] )?(?:sudo|apt(?:-get)?|pip|npm|git|cd|cp|mkdir|export|echo|curl|docker|set -e)\b",
            r"\$\{\w+\}|\$\w+|\$\(",
            r"^(?:fi|done|esac|then|do)$|; (?:then|do)$",
            r" \| (?:grep|sed|awk|sort|head|xargs)\b",
        ),
        "javascript": (
            r"^(?:export )?(?:const|let|var) [\w{}, ]+ = ",
            r"=> ?[{(\w]",
            r"\bfunction\b ?\w*\(.*\) ?\{",
            r"\bconsole\.\w+\(",
            r"[!=]==",
        ),
        "java": (
            r"^(?:public|private|protected) (?:static |final |abstract )*\w+",
            r"\bSystem\.(?:out|err)\.",
            r"^(?:import|package) [\w.]+(?:\.\*)?;$",
            r"^@Override$",
        ),
        "c": (
            r'^#include [<"]',
            r"^#(?:define|ifdef|ifndef) \w",
            r"^(?:static )?(?:int|void|char|double|unsigned) \*?\w+\(.*\)",
            r"\bprintf\(",
        ),
    }.items()
}


def code_language(text: str) -> str:
    """``python``, ``sql``, ``json``, ...; '' where nothing tells, or two languages as well as each other."""
    text = "\n".join([line.lstrip(" ") for line in text.split("\n")])
    if shebang := _SHEBANG.match(text):
        return _INTERPRETERS.get(shebang[1], "")
    for language, opening in _MARKUP.items():
        if opening.match(text):
            return language
    if _is_json(text):
        return "json"
    told = {
        language: sum(len(pattern.findall(text)) for pattern in patterns)
        for language, patterns in _TELLING.items()
    }
    most = max(told.values())
    best = [language for language, count in told.items() if count == most]
    return best[0] if most >= ENOUGH and len(best) == 1 else ""


def _is_json(text: str) -> bool:
    """Whether it is an object, or a list of such: a list of numbers is an expression in most languages."""
    if text[0] not in "{[" or '":' not in text:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
