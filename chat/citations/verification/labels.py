"""Which rows and columns of a table a claim names, by their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chat.citations.verification.token import Token, opposite, same
from text.semantics import Lexicon


def named(claim: Sequence[Token], labels: Sequence[Sequence[Token]], words: Lexicon) -> dict[int, set[int]]:
    """Labels that the claim has all words of, with the words' places in it, in the order it names them.

    Not those that are part of longer ones. Where no label stands there whole, what a label says behind
    a comma or in brackets may be left out if the rest names one label alone: "Senior notes, due 2028".
    """
    places = {index: places_of(claim, _required(label, words), words) for index, label in enumerate(labels)}
    found = {index: own for index, own in places.items() if own}
    if not found:
        heads = [tuple(token for token in label if token.clause == label[0].clause) for label in labels]
        cut = [
            index
            for index, label in enumerate(labels)
            if heads[index] and not any(token.marker for token in label) and heads.count(heads[index]) == 1
        ]
        found = {index: at for index in cut if (at := places_of(claim, heads[index], words))}
        totals = [at for at, label in enumerate(labels) if any(token.word in words.total for token in label)]
        place = next((at for at, token in enumerate(claim) if token.word in words.total), None)
        if not found and len(totals) == 1 and place is not None:  # "Total company", "Total"
            found = {totals[0]: {place}}
    kept = {i: found[i] for i in found if not any(found[i] < found[k] for k in found)}
    own = {i: at.difference(*(kept[k] for k in kept if k != i)) for i, at in kept.items()}
    return {i: kept[i] for i in sorted(kept, key=lambda i: max(own[i], default=0))}


def _required(label: Sequence[Token], words: Lexicon) -> Sequence[Token]:
    """The words that name a label: of "Year ended 31 March 2023" the date."""
    if not any(token.quantity and token.quantity.dimension in ("year", "date") for token in label):
        return label
    return [token for token in label if token.word not in words.period]


def places_of(claim: Sequence[Token], label: Sequence[Token], words: Lexicon) -> set[int]:
    """Places in the claim of all words of a label; empty where one is missing."""
    if loss := loss_in_brackets(label):  # the one or the other
        without = (_places_without(claim, label, at, words) for at in (loss, loss - 1))
        return next((places for places in without if places), set())
    sides = {side for token in label for pair, side in token.poles if pair == "money"}
    found = [_place(claim, wanted, words) for wanted in label]
    if None in found and len(sides) == 1:  # a loss is a negative income; not in "income (loss)"
        found = [_loss(claim, wanted) if at is None else at for at, wanted in zip(found, label, strict=True)]
    if None in found:
        return set()
    places = [at for at in found if at is not None]
    compound = {at for at in places if at + 1 in places and claim[at + 1].start - claim[at].end == 1}
    turns = {at for at, token in enumerate(claim) if any(pair == "direction" for pair, _ in token.poles)}
    turns -= compound  # "contract liabilities", where nothing contracts
    turns -= {
        at for at, wanted in zip(places, label, strict=True)
        if claim[at].word == wanted.word and ("money", 1) in wanted.poles
    }  # fmt: skip
    turns |= {at for at, wanted in zip(places, label, strict=True) if opposite(claim[at], wanted)}
    return set(places) - turns  # their side is yet to be compared


def loss_in_brackets(label: Sequence[Token]) -> int:
    """Where the loss of "net income (loss)" stands; 0 for other labels."""
    apart = (at for at, token in enumerate(label) if token.clause != label[0].clause)
    return next((at for at in apart if ("money", 1) in label[at].poles), 0)


def _places_without(claim: Sequence[Token], label: Sequence[Token], at: int, words: Lexicon) -> set[int]:
    """Places of a label without one word, of which a phrase's others count: the "net" of "net income"."""
    found = places_of(claim, [*label[:at], *(replace(t, clause=0) for t in label[at + 1 :])], words)
    shared = label[at].word.split()[:-1]
    return found | {k for k, token in enumerate(claim) if found and token.word in shared}


def _loss(claim: Sequence[Token], wanted: Token) -> int | None:
    return next((at for at, token in enumerate(claim) if "money" in opposite(token, wanted)), None)


def _place(claim: Sequence[Token], wanted: Token, words: Lexicon) -> int | None:
    """The very word, before one that is like it: "higher in the highest class"."""
    own = (at for at, token in enumerate(claim) if token.word == wanted.word)
    return next(own, next((at for at, token in enumerate(claim) if _alike(token, wanted, words)), None))


def _alike(token: Token, wanted: Token, words: Lexicon) -> bool:
    if wanted.word in words.change and any(pair == "direction" for pair, _ in token.poles):
        return True
    if (
        wanted.marker
        and wanted.marker.value in ("top", "bottom")
        and not {token.word, wanted.word} & words.limits
    ):
        return token.word == wanted.word  # "the most" is no "Highest"
    return same(token, wanted) or (token.word in words.total and wanted.word in words.total)


def names_part(claim: Sequence[Token], head: Sequence[Token], words: Lexicon) -> bool:
    """Whether a claim says a word of a head, for the rest of which its unit stands: "draws 1.8 kW"."""
    return len(head) == 1 or any(_place(claim, wanted, words) is not None for wanted in head)


_LEAST_COMPOUND_END = 5  # letters


def ends_compound(token: Token, other: Token) -> bool:
    """ "erzeugt" of a caption's "Stromerzeugung"."""
    long = min(len(token.root), len(other.root) - 2) >= _LEAST_COMPOUND_END
    return token.kind == other.kind == "word" and long and other.root.endswith(token.root)
