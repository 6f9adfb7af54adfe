"""Which form of a citation a model writes: the share of its sentences that end with one of a shown passage.

It asks the chosen provider the same questions under rules that ask for different forms.
"""

from __future__ import annotations

import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from chat.answers.prompt import SHORT_RULES, ContextItem, Prompt, prompt_for
from chat.providers.base import reply_text, stream_with_retries
from chat.providers.registry import limits_of, provider_named
from citing.claims import SourceUnit
from citing.foreign_markers import AnswerDecoder
from citing.marker_decoder import CitationMark, Text
from text.sentences import sentences

# A question, and the passage that answers it; each is asked among its three neighbours.
FACTS = (
    ("When was the harbour built?", "The harbour was built of oak, brick and granite in 1871."),
    ("How high may the pressure be?", "The boiler must never be run above a pressure of 2.5 bar."),
    ("Who may assign the lease?", "The tenant may assign the lease with the landlord's written consent."),
    ("By how much did sales rise?", "Sales rose by 11.6% to 12 million, mostly in the northern region."),
    ("What dose did the adults take?", "Adults took 40 mg once a day for twelve weeks, with food."),
    ("How long is the warranty?", "The pump has a warranty of 36 months from the day of delivery."),
    ("What lowers the noise?", "Lining the duct with felt lowers the noise of the fan by 7 decibels."),
    ("Where do the storks spend the winter?", "Most of the storks spend the winter south of the Sahara."),
    ("When is the report due?", "The committee's report is due on 3 May 2031 at the latest."),
    ("Which port does the service use?", "The service listens on port 8443 and speaks TLS only."),
    ("How many people took part?", "In all, 1,204 people in nine towns took part in the survey."),
    ("What must be done before cleaning?", "Before cleaning, pull the plug and let the plate cool down."),
)
OWN_FORM = SHORT_RULES[SHORT_RULES.index("the citation of") : SHORT_RULES.index(" Copy")]
# The form: how a passage begins, and what the rules ask to end a sentence with.
FORMS = {
    "[[cite:u7:5]]": (
        "[u%d · p. %d · Report]",
        "its citation: [[cite:ALIAS:PAGE]], for example [[cite:u7:5]].",
    ),
    "[u7]": ("[u%d · p. %d · Report]", "the name of its passage in brackets, for example [u7]."),
    "[7]": ("[%d] (p. %d)", "the number of its passage in brackets, for example [7]."),
    "[CHUNK:7:PAGE:5]": ("[CHUNK:%d:PAGE:%d]", "the label of its passage, for example [CHUNK:7:PAGE:5]."),
}
AS_ASKED = "as Pincite asks"
SHOWN = 4


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--each", action="store_true", help="print every reply")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    command.stdout.write(f"{provider_named().model}: sentences, cited, rightly")
    for form in (AS_ASKED, *FORMS):
        counts = [0, 0, 0]
        for number in range(len(FACTS)):
            reply = replied(number, form)
            counts = [a + b for a, b in zip(counts, counted(number, reply), strict=True)]
            if options["each"]:
                command.stdout.write(f"  {FACTS[number][0]} {reply!r}")
        command.stdout.write(f"{form:<18}{counts[0]:>5}{counts[1]:>5}{counts[2]:>5}")
    return 0


def replied(number: int, form: str) -> str:
    """Return what the model writes of a question and four passages."""
    prompt = prompt_for(FACTS[number][0], list(passages(number).values()), system=SHORT_RULES)
    if form in FORMS:
        head, asked = FORMS[form]
        lines = [f"{head % (at + 1, 21 + at)} {FACTS[fact][1]}" for at, fact in enumerate(shown(number))]
        question = "\n".join([*lines, "", f"Question: {FACTS[number][0]}"])
        prompt = Prompt(question, system=SHORT_RULES.replace(OWN_FORM, asked))
    provider = provider_named()
    return reply_text(stream_with_retries(provider, prompt, limits_of(provider), threading.Event()))


def passages(number: int) -> dict[str, ContextItem]:
    """Return the passages shown with a question by alias."""
    units = [
        SourceUnit(str(at), "d", 21 + at, FACTS[fact][1], 0, (), title="Report")
        for at, fact in enumerate(shown(number))
    ]
    return {f"u{at}": ContextItem(f"u{at}", unit) for at, unit in enumerate(units, 1)}


def shown(number: int) -> list[int]:
    """Return the facts that are shown with a question; its own comes in another place each time."""
    return [(number - number % SHOWN + at) % len(FACTS) for at in range(SHOWN)]


def counted(number: int, reply: str) -> tuple[int, int, int]:
    """Return the sentences of a reply, those that end with a citation, and with the right one."""
    decoder = AnswerDecoder(passages(number))
    marked, right = "", f"u{number % SHOWN + 1}"
    for event in decoder.decode(reply) + decoder.flush(is_whole=False):
        if isinstance(event, Text):
            marked += event.text
        elif isinstance(event, CitationMark):
            marked = marked.rstrip(" .") + f"\ue000{event.alias}\ue001. "
    found = [sentence for sentence in sentences(marked) if any(map(str.isalpha, sentence))]
    cited = [sentence for sentence in found if "\ue000" in sentence]
    return len(found), len(cited), sum(f"\ue000{right}\ue001" in sentence for sentence in cited)
