"""What a sentence says besides its own words: alternatives, "up from", "two more", the year before."""

from __future__ import annotations

import pytest

from citing.batch import Case, check
from citing.claims import CONTRADICTED, VERIFIED
from tests.citing.verdicts import cases_in

GAIN = "A taxpayer may exclude up to $250,000 of gain, or $500,000 if filing jointly."
NOTICE = "Die Frist beträgt zwei Wochen oder vier Wochen, wenn der Kunde im Ausland wohnt."
SCHOOLS = "Of the 318 schools inspected in 2023, 41 were rated inadequate, up from 29 a year earlier."
LEASE = "The lease runs for four years and may be extended by two more."
MARGIN = "Operating margin was 22.5%, compared with 20.1% in the prior year."
MARGE = "Die operative Marge betrug 22,5 % gegenüber 20,1 % im Vorjahr."


@pytest.mark.parametrize(
    ("lang", "passage", "claim", "verified"),
    [
        ("en", GAIN, "A taxpayer may exclude up to $250,000 of gain if filing jointly.", False),
        ("de", NOTICE, "Die Frist beträgt zwei Wochen, wenn der Kunde im Ausland wohnt.", False),
        ("en", SCHOOLS, "The number of schools rated inadequate rose from 41 to 29.", False),
        ("en", SCHOOLS, "318 schools were rated inadequate.", False),
        ("en", LEASE, "The lease may be extended by two more years.", True),
        ("en", LEASE, "The lease may be extended by four more years.", False),
        ("en", MARGIN, "The operating margin fell by 2.4 percentage points.", False),
        ("de", MARGE, "Die operative Marge sank um 2,4 Prozentpunkte.", False),
    ],
)
def test_what_follows_from_a_sentence_is_verified(
    lang: str, passage: str, claim: str, verified: bool
) -> None:
    assert check(Case(claim, "", passage=passage, lang=lang)).verified == verified


@pytest.mark.parametrize(
    ("lang", "passage", "claim"),
    [
        ("en", "The fee is $20 on weekdays, or $10 if booked online.", "The fee is $20 if booked online."),
        (
            "en",
            "Patients received 5 mg daily, or 2 mg when weighing less than 50 kg.",
            "Patients received 5 mg when weighing less than 50 kg.",
        ),
        (
            "en",
            "Tenants may keep a cat, and a dog if the landlord agrees.",
            "Tenants may keep a cat if the landlord agrees.",
        ),
        (
            "en",
            "The premium is 3% per year, but 5% if the insured smokes.",
            "The premium is 3% if the insured smokes.",
        ),
        (
            "fr",
            "Le délai est de 10 jours, ou de 20 jours si le client réside à l'étranger.",
            "Le délai est de 10 jours si le client réside à l'étranger.",
        ),
        (
            "es",
            "El plazo es de 10 días, o de 20 días si el cliente reside en el extranjero.",
            "El plazo es de 10 días si el cliente reside en el extranjero.",
        ),
        (
            "en",
            "The sensor measures temperature every hour and humidity every day.",
            "The sensor measures humidity every hour.",
        ),
    ],
)
def test_a_condition_of_one_alternative_is_not_one_of_the_other(lang: str, passage: str, claim: str) -> None:
    assert check(Case(claim, "", passage=passage, lang=lang)).verdict not in VERIFIED


@pytest.mark.parametrize(
    ("lang", "passage", "claim"),
    [
        (
            "en",
            "The board may split the shares, provided that each tranche is at least 5 million.",
            "Each tranche must be at least 5 million.",
        ),
        (
            "fr",
            "Le bail peut être résilié sous réserve d'un préavis de trois mois.",
            "Le bail peut être résilié avec un préavis de trois mois.",
        ),
    ],
)
def test_a_proviso_said_as_a_duty_is_not_called_wrong(lang: str, passage: str, claim: str) -> None:
    assert check(Case(claim, "", passage=passage, lang=lang)).verdict not in CONTRADICTED


# A part and its whole, consent, bounds.

CLUB = "The club has 240 members, of whom 30 are under 18."
OF_CLUB = "Of the 240 members, 30 are under 18."


@pytest.mark.parametrize(
    ("lang", "passage", "claim", "verified"),
    [
        ("en", CLUB, "240 members are under 18.", False),
        ("en", OF_CLUB, "30 of the 240 members are under 18.", True),
        ("en", OF_CLUB, "The 240 members are under 18.", False),
        (
            "en",
            "The region had 1.84 million inhabitants, of whom 412,000 were under 18.",
            "1.84 million inhabitants were under 18.",
            False,
        ),
        (
            "de",
            "Der Verein hat 240 Mitglieder, von denen 30 unter 18 Jahre alt sind.",
            "240 Mitglieder sind unter 18 Jahre alt.",
            False,
        ),
        (
            "de",
            "Von den 240 Mitgliedern sind 30 minderjährig.",
            "Die 240 Mitglieder sind minderjährig.",
            False,
        ),
        ("fr", "Sur les 240 membres, 30 sont mineurs.", "Les 240 membres sont mineurs.", False),
        ("es", "De los 240 socios, 30 son menores.", "Los 240 socios son menores.", False),
        (
            "en",
            "The Tenant may sublet the premises with the Landlord's consent.",
            "The Tenant may sublet the premises.",
            False,
        ),
        (
            "en",
            "Members may borrow the archive's maps with the approval of the director.",
            "Members may borrow the archive's maps.",
            False,
        ),
        (
            "de",
            "Der Mieter darf mit Zustimmung des Vermieters untervermieten.",
            "Der Mieter darf untervermieten.",
            False,
        ),
        (
            "fr",
            "Le locataire peut sous-louer avec l'accord du bailleur.",
            "Le locataire peut sous-louer.",
            False,
        ),
        (
            "es",
            "El arrendatario puede subarrendar con autorización del arrendador.",
            "El arrendatario puede subarrendar.",
            False,
        ),
        (
            "en",
            "The Tenant shall not assign this lease, but may sublet half of the premises.",
            "The Tenant may assign this lease.",
            False,
        ),
    ],
)
def test_a_part_is_not_its_whole_and_consent_is_not_left_out(
    lang: str, passage: str, claim: str, verified: bool
) -> None:
    assert check(Case(claim, "", passage=passage, lang=lang)).verified == verified


def test_some_before_a_number_is_about() -> None:
    passage = "About 40 firefighters needed six hours."
    assert check(Case("Some forty firefighters needed 6 hours.", "", passage=passage, lang="en")).verified


def test_a_comparison_that_a_sentence_makes_itself_is_not_computed_from_its_brackets() -> None:
    passage = "Adverse events were more frequent in the exercise arm than in the control arm (17 versus 9)."
    claim = "Adverse events were more frequent in the control arm than in the exercise arm."
    assert check(Case(claim, "", passage=passage, lang="en")).verdict not in VERIFIED


@pytest.mark.parametrize("case", cases_in("joined.jsonl"), ids=lambda case: case["claim"])
def test_topics_gaps_exceptions_and_parts_are_read(case: dict[str, str]) -> None:
    found = check(Case(case["claim"], "", passage=case["passage"], lang=case["lang"]))
    assert found.verified == case["verified"]
