"""Normalise conditions, duties, bounds and times of a sentence: "not … unless" to "only if"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise, takewhile

from citing.budget import check_budget
from citing.comparison.words.alignment import Partners, content_places
from citing.comparison.words.phrases import lead
from citing.comparison.words.token import COORDINATORS, DENIALS, HARD_BREAKS, Token, is_marker
from text.languages import UNSPACED_LANGUAGES
from text.quantities import Quantity
from text.semantics import Lexicon, Marker, stem


def in_exception(tokens: Sequence[Token], end: int) -> bool:
    """Return whether the words before a comma name an exception: "except for islands, where …"."""
    before = takewhile(lambda token: token.kind != "break", reversed(tokens[:end]))
    return any(token.marker == Marker("condition", "except") for token in before)


def denied_once(tokens: list[Token], words: Lexicon) -> list[Token]:
    """Merge the two negations of "neither … nor"."""
    found = list(tokens)
    denied = False
    for at, token in enumerate(tokens):
        if token.word in HARD_BREAKS:
            denied = False
        if token.marker and token.marker in DENIALS:
            if denied and token.word in words.neither:
                found[at] = replace(token, kind="function", marker=None)
            denied = True
    return found


def with_duties(tokens: list[Token], words: Lexicon) -> list[Token]:
    """Mark "ist … zu wechseln" as a duty."""
    if not words.be_to:
        return tokens
    found = list(tokens)
    for at, token in enumerate(tokens[:-1]):
        check_budget()  # the loop is quadratic in the length of a sentence
        verb = tokens[at + 1]
        before = list(takewhile(lambda other: other.kind != "break", reversed(tokens[:at])))
        if words.language == "en":  # "is to be paid"
            duty = token.word == "to" and verb.word == "be" and before and before[0].word in words.be_to
        else:
            duty = token.word in ("zu", "te") and verb.kind == "word" and verb.word.endswith("n")
            duty = duty and any(other.word in words.be_to for other in before)
        if duty and not any(other.word == "um" for other in before):
            must = Marker("modality", "must")
            found[at] = replace(token, kind="marker", marker=must, stem="modality:must", poles=frozenset())
    return found


def with_lone_denials(tokens: list[Token], words: Lexicon) -> list[Token]:
    """Mark French "ne peut", "ne saurait" as negated without "pas", also before "sans"; not "ne … que"."""
    if not words.alone_denied:
        return tokens
    found = list(tokens)
    for at, token in enumerate(tokens[:-1]):
        if token.word not in ("ne", "n'") or tokens[at + 1].word not in words.alone_denied:
            continue
        behind = list(takewhile(lambda other: other.word not in HARD_BREAKS, tokens[at + 1 :]))
        other_half = (t.word for t in behind if t.marker in DENIALS and t.word not in words.without)
        if not any(other_half) and not any(t.word.startswith(("que", "qu'")) for t in behind):
            denial = Marker("negation", "not")
            found[at] = replace(token, kind="marker", marker=denial, stem="negation:not")
    return found


_OFTEN = {1: Marker("frequency", "once"), 2: Marker("frequency", "twice"), 3: Marker("frequency", "thrice")}


def with_times_a_day(tokens: list[Token]) -> list[Token]:
    """Read "2 times a day", "3-mal täglich" as "twice a day"."""
    found = list(tokens)
    for at, (token, following) in enumerate(pairwise(tokens)):
        if token.bound:  # "at most once a month"
            continue
        often = (
            token.quantity is not None
            and token.quantity.unit == "times"
            and is_marker(following, "frequency")
        )
        marker = _OFTEN.get(int(token.quantity.value)) if often and token.quantity else None
        if marker and token.quantity and token.quantity.value == int(token.quantity.value):
            found[at] = replace(
                token, kind="marker", marker=marker, stem=f"frequency:{marker.value}", quantity=None
            )
    return found


_TIMES_OF = {marker.value: number for number, marker in _OFTEN.items()}


def as_times(token: Token) -> Token:
    """Return "twice" as a number that a comparator can bound: "up to twice"; other tokens unchanged."""
    number = _TIMES_OF.get(token.marker.value) if token.marker and is_marker(token, "frequency") else None
    if number is None or not token.word.isalpha():
        return token
    value = Decimal(number)
    amount = Quantity(token.start, token.end, value, "ratio", value, "times", Decimal(1), bare=False)
    return replace(token, kind="quantity", marker=None, stem="", quantity=amount)


_COMMAS = frozenset("，,")
_OF_TIME = frozenset("间期候代刻段常而")  # 时间, 时期 …


def with_events(tokens: list[Token], words: Lexicon) -> list[Token]:
    """Read "within 30 days of delivery" as "within 30 days after delivery"."""
    found = list(tokens)
    after = Marker("time", "after")
    for at, (number, token) in enumerate(pairwise(tokens)):
        check_budget()
        time = number.quantity is not None and number.quantity.dimension in ("time", "calendar")
        before = next((t.word for t in reversed(tokens[:at]) if t.word not in words.articles), "")
        within = time and number.bound == "le" and before in words.prepositions
        if within and token.word in words.event and token.kind == "function":
            found[at + 1] = replace(token, kind="marker", marker=after, stem="time:after")
    return found


def with_final_when(tokens: list[Token], words: Lexicon) -> list[Token]:
    """Mark a clause that ends with 时 or 的 as a condition: "温度超过80℃时，", "逾期的，"."""
    if words.language != "zh":
        return tokens
    found: list[Token] = []
    first = 0
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        if token.kind == "break":
            first = len(found) + 1
        behind = following.word if following and len(found) >= first + 2 else ""
        when = token.word == "时" and behind not in _OF_TIME and following and len(found) >= first + 2
        case = token.word == "的" and behind in _COMMAS and any(t.content for t in tokens[at + 2 :])
        if not following or not (when or case):
            found.append(token)
            continue
        condition = Marker("condition", "if")
        for opening in range(first, len(found)):
            if found[opening].marker == condition:
                found[opening] = replace(found[opening], kind="function", marker=None)
        found.append(replace(token, kind="marker", marker=condition, stem="condition:if"))
        if following.kind != "break":
            found.append(Token("break", "", token.end, token.end))
    return found


def with_verb_first(tokens: list[Token], words: Lexicon) -> list[Token]:
    """Mark a clause that opens with its verb as a condition: "Steigt der Druck, öffnet …"."""
    at = next((k for k, token in enumerate(tokens) if token.word == ","), 0)
    if words.language == "en" and at and tokens[0].word in ("should", "were", "had"):
        mark = Marker("condition", "if")
        return [replace(tokens[0], kind="marker", marker=mark, stem="condition:if"), *tokens[1:]]
    if words.language not in ("de", "nl") or at < 3 or at + 1 >= len(tokens):
        return tokens
    verb, behind, main = tokens[0], tokens[1], tokens[at + 1]
    opens = verb.kind == "word" and behind.kind == "function" and behind.word not in words.prepositions
    follows = main.word in words.passive | {"so", "dann", "dan"} or (
        main.marker and main.marker.category == "modality"
    )
    if (
        not opens
        or not follows
        or any(token.marker and token.marker.category == "condition" for token in tokens[:at])
    ):
        return tokens
    mark = Marker("condition", "if")
    return [Token("marker", verb.word, verb.start, verb.start, "condition:if", mark), *tokens]


_EXCEPTIVE = frozenset({"unless", "except"})


_ONLY_IF = Marker("condition", "onlyif")
_MAY = Marker("modality", "may")


def with_exclusive_conditions(tokens: list[Token], words: Lexicon) -> list[Token]:
    """Read "may not … unless", "no one … except", "may only … if" as "may … only if"."""
    found = list(tokens)
    for first, last in _stretches(tokens):
        denials = [
            at for at in range(first, last) if found[at].marker in DENIALS and not _under_if(found, at)
        ]
        exceptive = next(
            (
                at
                for at in range(first, last)
                if (m := found[at].marker) and m.category == "condition" and m.value in _EXCEPTIVE
            ),
            None,
        )
        for at in denials[1:]:
            if found[at].word == "الا" and exceptive is None:  # إلا after a negation; ألا is one itself
                exceptive, denials = at, [other for other in denials if other != at]
        without = next((at for at in denials if found[at].word in words.without), None)
        if exceptive is None and without is not None and len(denials) == 2:
            exceptive, denials = without, [at for at in denials if at != without]
        only_if = next((at for at in range(first, last) if found[at].marker == _ONLY_IF), last)
        if exceptive is not None and len(denials) == 1:
            _write_only_if(found, denials[0], exceptive, first, last)
        elif len(denials) == 1 and denials[0] > only_if and " " not in found[denials[0]].word:
            found[only_if] = replace(found[only_if], marker=Marker("condition", "if"), stem="condition:if")
        else:
            _join_only(found, first, last, words)
    return found


def _under_if(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the clause of a word has an "if": the negation in "if the tenant fails to pay"."""
    before = takewhile(lambda token: token.kind != "break", reversed(tokens[:at]))
    return any(is_marker(token, "condition", "if") for token in before)


def _stretches(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Return the ranges of tokens between semicolons and words like "but"."""
    first = 0
    for at, token in enumerate(tokens):
        if token.word in HARD_BREAKS:
            yield first, at
            first = at + 1
    yield first, len(tokens)


def _write_only_if(found: list[Token], denial: int, exceptive: int, first: int, last: int) -> None:
    found[denial] = replace(found[denial], kind="function", marker=None)
    found[exceptive] = replace(found[exceptive], kind="marker", marker=_ONLY_IF, stem="condition:onlyif")
    duties = [at for at in range(first, last) if is_marker(found[at], "modality")]
    if duties:  # the negated modal verb of "must be long and may not expire unless …"
        at = min(duties, key=lambda place: abs(place - denial))
        if not is_marker(found[at], "modality", "should"):  # "should not … unless" is "should only if"
            found[at] = replace(found[at], marker=_MAY)


def _join_only(found: list[Token], first: int, last: int, words: Lexicon) -> None:
    """Join "only" with its condition: "may only be done … if", "may be kept only … with"."""
    for at in range(first + 1, last):
        marker, before = found[at].marker, found[at - 1]
        if not marker or marker != Marker("quantifier", "only"):
            continue
        joined = before.kind == "function" or (before.marker and before.marker.category == "modality")
        behind = takewhile(lambda token: token.kind != "break", found[at + 1 : last])
        verb = sum(token.content for token in behind) == 1  # "nur kündigen, wenn"
        if not joined and not verb and words.language != "zh":
            continue
        for place in range(at + 1, last):
            condition = found[place].marker
            if (condition and condition == Marker("condition", "if")) or found[place].word in words.only_with:
                found[place] = replace(
                    found[place], kind="marker", marker=_ONLY_IF, stem="condition:onlyif", poles=frozenset()
                )
                found[at] = replace(found[at], kind="function", marker=None)
                for again in range(place + 1, last):  # 只有 … 才可
                    if found[again].marker == _ONLY_IF:
                        found[again] = replace(found[again], marker=_MAY, stem="modality:may")
                break


def topic_apart(
    claim: Sequence[Token], source: Sequence[Token], found: Partners, words: Lexicon
) -> frozenset[int]:
    """Return words whose partner is only the antecedent of a later clause's pronoun."""
    if not found:
        return frozenset()
    clauses = [source[j].clause for j in found.values()]
    main = max(set(clauses), key=clauses.count)
    opening = [token for token in source if token.clause == main and token.kind != "break"][:2]
    if not any(token.word in words.pronouns for token in opening):
        return frozenset()
    subject = next(at for at in content_places(source) if source[at].clause == main)
    if subject not in found.values():  # in "her teacher led it" she is not the subject
        return frozenset()
    topic = [at for at in content_places(source) if source[at].kind == "word"][:2]
    apart = frozenset(i for i, j in found.items() if source[j].clause < main)
    first_clause = claim[min(found)].clause  # not "…, while for Republicans it ranks 12th"
    first = all(claim[i].clause == first_clause for i in apart)
    framed = any(lead(source, found[i], words) for i in apart)  # "for Democrats, it ranks fifth"
    return apart if first and not framed and all(found[i] in topic for i in apart) else frozenset()


def without_stray_duties(claim: Sequence[Token], source: Sequence[Token], found: Partners) -> Partners:
    """Return the partners without a "must" that is alone in a part the claim does not use."""
    parts = [source[j].part for j in found.values()]
    return {
        i: j
        for i, j in found.items()
        if not is_marker(claim[i], "modality") or len(parts) == 1 or parts.count(source[j].part) > 1
    }


def in_clauses_of(claim: Sequence[Token], source: Sequence[Token], found: Partners) -> Sequence[Token]:
    """Number the main clause apart from a condition that opens the claim without a comma."""
    first = next((at for at, token in enumerate(claim) if token.content), None)
    if first is None or not is_marker(claim[first], "condition") or first not in found:
        return claim
    own = source[found[first]].clause
    places = [i for i in sorted(found) if claim[i].clause == claim[first].clause]
    ends = [k for k, i in enumerate(places) if source[found[i]].clause != own]
    if not ends or len(ends) != len(places) - ends[0]:
        return claim
    return [replace(t, clause=t.clause + 1) if at >= places[ends[0]] else t for at, t in enumerate(claim)]


# Comparators: bounds of a number, as in "at most 5", "5 or less", "not over 5".

REACH = 3  # words between a comparator and its number
LIMIT_REACH = 6  # words between "maximum" and its number
_COUNTER = 3  # characters of a counter between a number and its "or more", and one
_TURNED = {"le": "ge", "ge": "le"}
_DENIED = {"gt": "le", "lt": "ge", "ge": "lt", "le": "gt"}
_TO = frozenset(["bis", "bis zu", "up to", "jusqu'à", "jusqu' à", "hasta", "حتى"])
_TIMES = frozenset(
    ["at the latest", "no later than", "not later than", "spätestens", "au plus tard", "a más tardar"]
) | frozenset(["最迟", "不迟于", "不晚于", "遅くとも", "uiterlijk", "frühestens", "at the earliest", "最早"])


def with_bounds(tokens: list[Token], words: Lexicon) -> list[Token]:
    """Join comparators to their number; without a number they are ordinary words."""
    found = list(tokens)
    for at, token in enumerate(tokens):
        if not (token.marker and token.marker.category == "comparator"):
            continue
        if at > 1 and token.word == "まで" and tokens[at - 2].word == "から":  # the end of a range
            found[at] = replace(token, kind="function", marker=None, poles=frozenset())
            continue
        if at and tokens[at - 1].kind == "quantity" and token.word in _TO:  # the middle of a range
            found[at] = replace(token, kind="function", marker=None, poles=frozenset())
            continue
        target = _number_beside(tokens, at, words)
        if target is None:
            found[at] = _without_comparator(token, words)
            continue
        bound = token.marker.value
        denial = _denial_before(found, at) if bound in _DENIED else None
        if denial is not None:
            bound = _DENIED[bound]
            for place in range(max(0, denial - 1), at):  # "may not exceed 5", "ne peut excéder 5"
                if found[place].marker in (*DENIALS, Marker("modality", "may")):
                    found[place] = replace(found[place], kind="function", marker=None)
        quantity = found[target] = as_times(found[target])
        assert quantity.quantity is not None
        if token.word in words.spans and quantity.quantity.dimension in ("time", "calendar"):
            bound = "span"
        if token.word in _TIMES and _before_follows(tokens, target):
            bound = _TURNED.get(bound, bound)  # "at the latest four weeks before": at least four weeks
        found[target] = replace(quantity, bound=_joined_bound(quantity.bound, bound))
        found[at] = replace(token, kind="function", marker=None, poles=frozenset())
    return found


def _denial_before(tokens: Sequence[Token], at: int) -> int | None:
    """Return the "not" that negates a comparator: "must not exceed", "ne doit pas dépasser"."""
    for place in range(at - 1, max(-1, at - 1 - REACH), -1):
        marker = tokens[place].marker
        if marker and marker.category == "negation":
            return place
        if tokens[place].kind != "function" and not (marker and marker.category == "modality"):
            return None
    return None


def _before_follows(tokens: Sequence[Token], number: int) -> bool:
    following = next((token for token in tokens[number + 1 :] if token.content), None)
    return following is not None and following.marker == Marker("time", "before")


def _joined_bound(one: str, other: str) -> str:
    return other if not one or one == "approx" else one


def _number_beside(tokens: Sequence[Token], at: int, words: Lexicon) -> int | None:
    """Return the index of a comparator's number: before it ("50 or less", "50以下"), else after it."""
    word = tokens[at].word
    postfix = word in words.postfix
    counted = at - 1  # "12文字以上": after the number's counter
    while _is_counter(tokens[counted], words) and counted > max(0, at - _COUNTER):
        counted -= 1
    opens = postfix and word.split()[0] not in COORDINATORS
    if opens and tokens[at + 1 : at + 2] and tokens[at + 1].quantity:  # "43 % do so au moins un jour"
        return at + 1
    if postfix and at and tokens[counted].kind == "quantity":
        return counted
    if postfix and (before := number_of_phrase(tokens, at)) is not None:
        return before
    if postfix and " " in word:
        return None
    limit = word in words.limits
    reach = REACH + 2 if words.language == "ar" else LIMIT_REACH if limit else REACH
    for place in range(at + 1, min(at + 1 + reach, len(tokens))):
        held = tokens[place]
        if as_times(held).quantity and not held.quantity:
            return place
        if held.quantity:
            bound = tokens[at].marker
            strict = bound is not None and bound.value in ("lt", "gt")
            return None if strict and held.quantity.dimension == "year" else place
        over = limit or words.language == "ar"  # in Arabic the verb precedes its subject
        if held.marker and (held.marker.category == "comparator" or (limit and is_marker(held, "modality"))):
            continue  # "up to a maximum of 10"
        if held.kind != "function" and not (over and held.kind == "word"):
            return None
    return None


def number_of_phrase(tokens: Sequence[Token], at: int) -> int | None:
    """Return the number that opens the phrase before a comparator: "10 % of the price or less"."""
    for place in range(at - 2, max(-1, at - 2 - LIMIT_REACH), -1):
        if tokens[place].kind == "quantity":
            return place
        if tokens[place].kind in ("break", "marker"):
            return None
    return None


def _is_counter(token: Token, words: Lexicon) -> bool:
    """Return whether a token may be a number's counter in a language without spaces: 人, 文字."""
    return (
        words.language in UNSPACED_LANGUAGES
        and token.kind in ("word", "function")
        and not "ぁ" <= token.word[0] <= "ん"
    )


def _without_comparator(token: Token, words: Lexicon) -> Token:
    """Return the words as they are without a number: "above" is a place, "within" a preposition."""
    sense = words.phrases.get((token.word,)) if " " not in token.word else None
    others = [m for m in (sense.markers if sense else ()) if m.category != "comparator"]
    if others:
        return replace(token, marker=others[0])
    if token.poles:
        return replace(token, kind="word", marker=None)
    first = token.word.split()[0]
    head = words.sense((first,), (stem(first, words.language),)) if first != token.word else None
    if head and head.poles:
        return replace(token, kind="word", marker=None, poles=head.poles)
    if (sense and sense.function) or token.word in words.prepositions:
        return replace(token, kind="function", marker=None)
    return token
