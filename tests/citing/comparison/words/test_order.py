"""Claims that exchange who does what, or which amount is whose: never verified, in any language."""

from __future__ import annotations

import pytest

from citing.batch import Case, check
from citing.claims import VERIFIED

CONTRADICTIONS = [
    # subjects of amounts
    (
        "zh",
        "治疗组的中位生存期为18.6个月，对照组为12.1个月。",
        "对照组为18.6个月，治疗组的中位生存期为12.1个月。",
    ),
    ("zh", "该岛面积为1,240平方公里，最高峰海拔2,360米。", "最高峰海拔1,240平方公里，该岛面积为2,360米。"),
    # runs of characters around a verb or a particle
    (
        "ja",
        "甲は、請求書を受領した日から30日以内に、乙に報酬を支払う。",
        "甲は、報酬を受領した日から30日以内に、乙に請求書を支払う。",
    ),
    (
        "ja",
        "保証期間は購入日から2年間ですが、消耗品は対象外です。",
        "消耗品は購入日から2年間ですが、保証期間は対象外です。",
    ),
    (
        "ja",
        "借主は、貸主の承諾なしに部屋を改装してはならない。",
        "借主は、貸主の部屋なしに承諾を改装してはならない。",
    ),
    ("ja", "飲食は禁止されているが、水は持ち込める。", "水は禁止されているが、飲食は持ち込める。"),
    # what moved out of "without"
    (
        "fr",
        "Le comprimé doit être avalé entier, avec un verre d’eau, sans être croqué.",
        "Le comprimé doit être avalé croqué, avec un verre d’eau, sans être entier.",
    ),
    # two predicates of one subject
    (
        "fr",
        "Le télétravail est limité à deux jours par semaine et requiert l'accord du responsable.",
        "L'accord est limité à deux jours par semaine et requiert le télétravail du responsable.",
    ),
    # from and to
    (
        "en",
        "Sales were $41 million, up from $29 million a year earlier.",
        "Sales fell from $41 million to $29 million.",
    ),
    (
        "en",
        "Of the 318 schools, 41 were rated inadequate, up from 29 a year earlier.",
        "The number of schools rated inadequate fell from 41 to 29.",
    ),
]

NOT_VERIFIED = [
    (
        "de",
        "Bei Fahrlässigkeit beträgt die Höchststrafe sechs Monate.",
        "Bei Höchststrafe beträgt die Fahrlässigkeit sechs Monate.",
    ),
    (
        "de",
        "Der Versicherer leistet innerhalb von vier Wochen nach Eingang der vollständigen Unterlagen.",
        "Der Unterlagen leistet innerhalb von vier Wochen nach Eingang der vollständigen Versicherer.",
    ),
    (
        "de",
        "Der Code wird von einem sicheren Generator erzeugt, der mindestens 20 Bit Entropie enthält.",
        "Der Code wird von einem sicheren Entropie erzeugt, der mindestens 20 Bit Generator enthält.",
    ),
    (
        "de",
        "Prüfen Sie, dass der initiale Code von einem sicheren Generator erzeugt wird.",
        "Prüfen Sie, dass der initiale Generator von einem sicheren Code erzeugt wird.",
    ),
    (
        "de",
        "Die Mehrfaktoranmeldung wurde in Fachkreisen allgemein akzeptiert.",
        "Die Fachkreise wurde in Mehrfaktoranmeldung allgemein akzeptiert.",
    ),
    (
        "de",
        "Ob die Feuchte die Rissbildung verursacht, lässt sich aus den Messungen nicht ableiten.",
        "Ob die Rissbildung die Feuchte verursacht, lässt sich aus den Messungen nicht ableiten.",
    ),
    (
        "en",
        "The company repurchased 12 million shares for $432 million.",
        "The company repurchased $432 million shares.",
    ),
]

STILL_TRUE = [
    ("ja", "甲が支払を怠った場合、乙は契約を解除できる。", "乙は、甲が支払を怠った場合、契約を解除できる。"),
    (
        "ja",
        "東京支店の売上は増加し、大阪支店の売上は減少した。",
        "大阪支店の売上は減少し、東京支店の売上は増加した。",
    ),
    ("zh", "东部地区收入增长，西部地区收入下降。", "西部地区收入下降，东部地区收入增长。"),
    (
        "de",
        "Der Mieter kann der Erhöhung binnen zwei Monaten widersprechen.",
        "Der Erhöhung kann der Mieter binnen zwei Monaten widersprechen.",
    ),
    (
        "de",
        "Der Vermieter darf die Miete frühestens 15 Monate nach der letzten Erhöhung anheben.",
        "Die Miete darf frühestens 15 Monate nach der letzten Erhöhung angehoben werden.",
    ),
    (
        "en",
        "The company repurchased 12 million shares for $432 million.",
        "The company repurchased 12 million shares.",
    ),
]


def verdict(lang: str, passage: str, claim: str) -> tuple[str, bool]:
    found = check(Case(claim, "", passage=passage, lang=lang))
    return found.verdict, found.verified


@pytest.mark.parametrize(("lang", "passage", "claim"), CONTRADICTIONS)
def test_exchanged_roles_are_never_verified(lang: str, passage: str, claim: str) -> None:
    assert verdict(lang, passage, claim)[0] not in VERIFIED


@pytest.mark.parametrize(("lang", "passage", "claim"), NOT_VERIFIED)
def test_exchanged_roles_are_not_verified(lang: str, passage: str, claim: str) -> None:
    assert not verdict(lang, passage, claim)[1]


@pytest.mark.parametrize(("lang", "passage", "claim"), STILL_TRUE)
def test_words_that_moved_along_with_their_roles_are_verified(lang: str, passage: str, claim: str) -> None:
    assert verdict(lang, passage, claim)[1]
