"""A claim that mixes the parts of parallel statements is not verified; one that takes those of one is."""

from __future__ import annotations

import random

import pytest

from citing.batch import Case, check
from citing.claims import VERIFIED

# Per form: a sentence, true claims, and claims in which one part belongs to another statement.
FORMS = (
    (
        "{I} fell from {b}% to {a}% in {P} and rose from {c}% to {d}% in {Q}.",
        ("{I} rose from {c}% to {d}% in {Q}.", "In {P}, {i} fell from {b}% to {a}%."),
        ("{I} rose from {c}% to {d}% in {P}.", "In {Q}, {i} fell from {b}% to {a}%."),
    ),
    (
        "Of 970 patients, {a} ({b}%) had {x} and {c} ({d}%) had {y}.",
        ("Of 970 patients, {a} ({b}%) had {x}.",),
        ("Of 970 patients, {a} ({d}%) had {x}.", "{c} ({d}%) had {x}.", "{a} patients had {y}."),
    ),
    (
        "{A} employs {a} people in {P}, {b} in {Q} and {c} in {R}.",
        ("{A} employs {a} people in {P}.",),
        ("In {R}, {A} employs {a} people.", "{A} employs {b} people in {P}."),
    ),
    (
        "{A}, founded in 1972, bought {B}, founded in 1979, for {a} million dollars.",
        ("{A}, founded in 1972, bought {B}, founded in 1979, for {a} million dollars.",),
        ("{B}, founded in 1972, was bought for {a} million dollars.", "{B} was founded in 1972."),
    ),
    (
        "Events occurred in {a} patients ({b}%) on {x} and in {c} patients ({d}%) on {y}.",
        ("Events occurred in {a} patients ({b}%) on {x}.",),
        (
            "Events occurred in {a} patients ({b}%) on {y}.",
            "Events occurred in {a} patients ({d}%) on {x}.",
            "On {y}, events occurred in {a} patients.",
        ),
    ),
    (
        "{A} reduced {x} but not {y}, whereas {B} reduced {y} but not {x}.",
        ("{A} reduced {x} but not {y}.",),
        ("{B} did not reduce {y}.", "{A} reduced {y} but not {x}."),
    ),
    (
        "Median survival was {a} months for {x}, {b} months for {y} and {c} months for {z}.",
        ("Median survival was {a} months for {x}.",),
        ("Median survival was {a} months for {x} and {y}.", "For {z}, median survival was {b} months."),
    ),
    (
        "The board approved the budget on 4 May and the merger on 9 June.",
        ("The board approved the merger on 9 June.",),
        ("On 9 June, the board approved the budget.", "The board approved the merger on 4 May."),
    ),
)
FORMS += (
    (
        "On 9 March, {A} asked the board to dismiss Ms Lund. The board refused on 6 April.",
        ("On 9 March, {A} asked the board to dismiss Ms Lund.", "The board refused on 6 April."),
        ("The board dismissed Ms Lund.", "The board refused on 9 March."),
    ),
    (
        "Sales grew fastest in {P} ({a}%), followed by {Q} ({b}%); in {R} they shrank by {c}%.",
        ("In {R}, sales shrank by {c}%.",),
        ("Sales grew fastest in {Q}.", "Sales grew fastest in {P} ({b}%).", "In {Q}, sales shrank by {c}%."),
    ),
    (
        "Among {x} patients, {a}% agreed and {b}% disagreed; among {y} patients, {c}% agreed.",
        ("Among {x} patients, {a}% agreed.",),
        ("Among {y} patients, {b}% disagreed.", "Among {x} patients, {c}% agreed."),
    ),
)
LANGUAGES = (
    (
        "fr",
        "Sur 212 patients, 23 (11 %) avaient des douleurs et 30 (14 %) des nausées.",
        "Sur 212 patients, 23 (14 %) avaient des douleurs.",
    ),
    ("zh", "212名患者中，23名（11%）出现疼痛，30名（14%）出现恶心。", "212名患者中，23名（14%）出现疼痛。"),
    ("ar", "توظف الشركة 120 شخصا في القاهرة و340 في الرباط و95 في تونس.", "توظف الشركة 120 شخصا في تونس."),
    (
        "de",
        "Ereignisse traten bei 87 Patienten (40 %) unter Placebo und bei 26 (38 %) unter Ramipril auf.",
        "Ereignisse traten bei 87 Patienten (40 %) unter Ramipril auf.",
    ),
    (
        "es",
        "La tasa subió del 8 % al 11 % en Europa y bajó del 12 % al 9 % en Asia.",
        "La tasa bajó del 12 % al 9 % en Europa.",
    ),
    (
        "it",
        "Il margine è salito dall'8% all'11% in Europa ed è sceso dal 12% al 9% in Asia.",
        "Il margine è salito dall'8% all'11% in Asia.",
    ),
    (
        "nl",
        "De marge steeg van 8% naar 11% in Europa en daalde van 12% naar 9% in Azië.",
        "De marge steeg van 8% naar 11% in Azië.",
    ),
    (
        "ru",
        "Доля выросла с 8 % до 11 % в Европе и упала с 12 % до 9 % в Азии.",
        "Доля выросла с 8 % до 11 % в Азии.",
    ),
    (
        "ar",
        "ارتفعت النسبة من 8% إلى 11% في أوروبا وانخفضت من 12% إلى 9% في آسيا.",
        "ارتفعت النسبة من 8% إلى 11% في آسيا.",
    ),
)


def is_verified(claim: str, passage: str, language: str) -> bool:
    return check(Case(claim, passage=passage, lang=language)).verdict in VERIFIED


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[0])
@pytest.mark.parametrize("seed", range(3))
def test_parts_of_two_statements_do_not_verify(form: tuple[str, ...], seed: int) -> None:
    generator = random.Random(seed)
    item = generator.choice(["gross margin", "the vacancy rate", "turnout"])
    places = generator.sample(["Europe", "Asia", "Canada", "Brazil"], 3)
    names = generator.sample(["Acme", "Borel", "Corvex", "Dunlin"], 2)
    things = generator.sample(["placebo", "ramipril", "atenolol", "aspirin"], 3)
    numbers = sorted(generator.sample(range(12, 90), 4))
    said = dict(zip("PQRABxyzabcd", (*places, *names, *things, *numbers), strict=True))
    said |= {"i": item, "I": item[0].upper() + item[1:]}
    passage, true, false = form[0].format(**said), form[1], form[2]
    wrong = [claim for text in false if is_verified(claim := text.format(**said), passage, "en")]
    assert not wrong
    assert all(is_verified(text.format(**said), passage, "en") for text in true)


@pytest.mark.parametrize(("language", "passage", "claim"), LANGUAGES, ids=[case[2] for case in LANGUAGES])
def test_parts_of_two_statements_in_other_languages(language: str, passage: str, claim: str) -> None:
    assert not is_verified(claim, passage, language)
    assert is_verified(passage, passage, language)


@pytest.mark.parametrize(
    ("language", "claim", "other"),
    [
        ("en", "The bonuses were voluntarily deferred by employees.", "by>to"),
        ("en", "The Company repaid the loans from the parent.", "from>to"),
        ("en", "Applicants must provide a passport and a birth certificate.", "and>or"),
        ("en", "The tunnel runs under the river near Dover.", "under>over"),
        ("en", "As of January 31, 2020 and 2019, the tax benefits were written off.", "and>or"),
        ("de", "Die Bewerber legen einen Pass und eine Geburtsurkunde vor.", "und>oder"),
        ("fr", "Le candidat fournit un passeport et un acte de naissance.", "et>ou"),
        ("es", "El solicitante presenta un pasaporte y una partida de nacimiento.", "y>o"),
        ("zh", "申请人须提交护照和出生证明。", "和>或"),
        ("ru", "Заявитель представляет паспорт и свидетельство о рождении.", "и>или"),
        ("ja", "申請者は旅券と出生証明書を提出する。", "と>または"),
        ("fr", "Le vendeur paie soit les frais, soit la taxe.", "soit>et"),
    ],
)
def test_another_preposition_or_conjunction_does_not_verify(language: str, claim: str, other: str) -> None:
    said, wrong = other.split(">")
    spaced = language not in ("zh", "ja")
    changed = claim.replace(f" {said} ", f" {wrong} ") if spaced else claim.replace(said, wrong)
    assert changed != claim
    assert is_verified(claim, claim, language)
    assert not is_verified(changed, claim, language)


@pytest.mark.parametrize(
    ("language", "own", "other"),
    [
        (
            "en",
            "Sales increased 15.6%",
            "compared to an increase of 21.4% in the fourth quarter of fiscal 2021",
        ),
        ("en", "Unemployment stood at 47.6%", ", up from 40.5% in Spain"),
        ("en", "The churn rate fell to 29.2%", ", following a rise to 31.3% among adults"),
        ("de", "Der Absatz stieg um 15,6 %", "gegenüber einem Anstieg von 21,4 % im Jahr 2021"),
        ("fr", "La marge a augmenté de 15,6 %", ", contre une hausse de 21,4 % en Espagne"),
        ("es", "La tasa aumentó un 15,6 %", "frente a un aumento del 21,4 % en España"),
    ],
)
def test_what_is_said_of_the_compared_amount_is_not_said_of_the_first(
    language: str, own: str, other: str
) -> None:
    page = f"{own}{other if other.startswith(',') else f' {other}'}, mainly in shops."
    told = other.rpartition("% ")[2]
    assert is_verified(page, page, language)
    assert is_verified(f"{own}, mainly in shops.", page, language)
    assert not is_verified(f"{own} {told}.", page, language)
