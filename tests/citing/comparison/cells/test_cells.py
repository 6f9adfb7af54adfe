"""No claim with another cell, bound, scale, extent or order than the page's is verified."""

from __future__ import annotations

from pathlib import Path

import pytest

from citing.batch import Case, check
from citing.claims import CONTRADICTED, VERIFIED

EN = """\
| Item | Women | Men | Total |
| --- | --- | --- | --- |
| Wages | 2,146 | 4,586 | 3,155 |
| Rent | 812 | 318 | 377 |
"""
YEARS = """\
| Item | 2022 | 2021 |
| --- | --- | --- |
| Wages | 8,204 | 8,925 |
| Rent | 1,383 | 8,851 |
| Total | 9,587 | 17,776 |
"""
PER_CENT = """\
| Item | North | South |
| --- | --- | --- |
| Energy | 53% | 92% |
| Cash | 41% | 34% |
"""
TWO_HEADS = """\
| Item | 2019 Women | 2019 Men | 2018 Women |
| --- | --- | --- | --- |
| Travel | 3,460 | 627 | 8,691 |
| Rent | 1 | 2 | 3 |
"""
GROUPS = """\
| Item | 2021 | 2020 |
| --- | --- | --- |
| Asia | | |
| Bath | 7,651 | 2,285 |
| Kent | 4,617 | 5,138 |
| Europe | | |
| Bath | 8,843 | 5,575 |
| Kent | 594 | 4,877 |
"""
DE = """\
| Posten | 2018 | 2019 |
| --- | --- | --- |
| Miete | 5.826 | 8.393 |
| Löhne | 983 | 5.999 |
| Summe | 6.809 | 14.392 |
"""
FR = """\
en milliers d'euros
| Poste | Femmes | Hommes | Total |
| --- | --- | --- | --- |
| Loyer | 1 190 | 8 908 | 3 668 |
| Énergie | 1 338 | 4 315 | 7 972 |
"""
FR_YEARS = (
    "| Poste | 2016 | 2017 |\n| --- | --- | --- |\n| Loyer | 5 621 | 1 945 |\n| Salaires | 8 112 | 8 670 |"
)
ES = """\
| Concepto | 2022 | 2021 |
| --- | --- | --- |
| Ventas | 5.986 | 9.349 |
| Viajes | 930 | 7.893 |
"""
RU = """\
в тысячах рублей
| Статья | 2022 | 2021 |
| --- | --- | --- |
| Аренда | 3 314 | 2 374 |
| Реклама | 1 782 | 718 |
"""
ZH = """\
| 项目 | 2015 | 2016 |
| --- | --- | --- |
| 租金 | 5,348 | 5,744 |
| 工资 | 4,084 | 539 |
| 合计 | 9,432 | 6,283 |
"""
JA = """\
| 項目 | 2019 | 2018 | 2017 |
| --- | --- | --- | --- |
| 旅費 | 2,960 | 9,354 | 5,414 |
| 現金 | (726) | 232 | (156) |
"""
JA_SEXES = """\
| 項目 | 女性 | 合計 |
| --- | --- | --- |
| 家賃 | 339 | 371 |
| 賃金 | 922 | 982 |
"""
AR = """\
| البند | النساء | الرجال | المجموع |
| --- | --- | --- | --- |
| الإعلان | 1,654 | 8,795 | 8,697 |
| البحوث | 3,606 | 8,006 | 1,852 |
"""
STAFF = """Ashford Mill opened in 1990. \
Ashford Mill, Bexley Dairy and Corton Foundry had 863, 356 and 294 staff, respectively."""
LEADERS = """Paul Weber leitet die Mühle Aldorf und Mary Olsen die Bäckerei Dahme. \
Die Mühle Aldorf hat 37 Leute und die Molkerei Bergen 53."""
FACTORIES = "北湖厂在2012年生产了639吨。1993年，南岭厂售出514件，北湖厂售出609件。"
PER_SITE = "东山厂、西河厂和南岭厂分别有863、356和294名员工。"


@pytest.mark.parametrize(
    ("language", "passage", "claim"),
    [
        ("en", EN, "Wages in Total stood at 2,146."),
        ("en", EN, "Wages were 2,146 in Women and Total."),
        ("en", EN, "While Wages were 4,586 in Men, Rent was 377."),
        ("en", EN, "Wages were more than 3,155 in Total."),
        ("en", TWO_HEADS, "Travel: 3,460 (2019 Men), 627 (2019 Women)."),
        ("en", YEARS, "Wages fell by 8,204 from 2021 to 2022."),
        ("en", YEARS, "All items were above 8,204 in 2022."),
        ("en", GROUPS, "Bath (Europe) rose by 8,843 from 2020 to 2021."),
        ("en", GROUPS, "Bath in Europe was 7,651 in 2021."),
        ("en", PER_CENT, "The difference between Energy and Cash in North was 29%."),
        (
            "en",
            STAFF,
            "Bexley Dairy, Ashford Mill and Corton Foundry had 863, 356 and 294 staff, respectively.",
        ),
        ("en", STAFF, "Bexley Dairy had 863 staff."),
        ("de", DE, "Löhne stieg von 2018 auf 2019 um 5.999."),
        ("de", DE, "Alle Posten lagen 2019 über 8.393."),
        ("de", DE, "Löhne lag 2019 über 5.999."),
        ("de", LEADERS, "Paul Weber leitet die Molkerei Bergen und Mary Olsen die Bäckerei Dahme."),
        ("fr", FR, "Énergie était de 1 338 milliers d'euros pour les Hommes."),
        ("fr", FR, "Loyer était supérieur en Total qu'en Hommes."),
        ("fr", FR_YEARS, "Loyer était de 5 621 en 2017 contre 1 945 en 2016."),
        ("fr", FR_YEARS, "Loyer a baissé de 1 945 à 5 621."),
        ("fr", FR_YEARS, "En 2017 comme en 2016, Loyer était de 5 621."),
        ("es", ES, "Ventas fue de 9.349 en 2022 frente a 5.986 en 2021."),
        ("es", ES, "Ventas fue de 5.986 millones en 2022."),
        ("es", ES, "Ventas superó 5.986 en 2022."),
        ("ru", RU, "Аренда (2022): 3 314 млн рублей"),
        ("ru", RU, "Аренда снизилась на 2 374 в 2021 году."),
        ("zh", ZH, "租金从2015年的5,744增加到2016年的5,348。"),
        ("zh", ZH, "2016年所有项目均高于5,744。"),
        ("zh", FACTORIES, "2012年，南岭厂售出514件，北湖厂售出609件。"),
        ("zh", PER_SITE, "西河厂有863名员工。"),
        ("ja", JA, "旅費は2,960から5,414に減少した。"),
        ("ja", JA, "2019年に旅費は2,960減少した。"),
        ("ja", JA, "2019年の現金は726であった。"),
        ("ja", JA_SEXES, "女性も合計も家賃は339であった。"),
        ("ar", AR, "بلغت الإعلان 1,654 في المجموع و8,697 في النساء."),
        ("ar", AR, "بلغ مجموع الإعلان والبحوث 8,697 في المجموع."),
    ],
)
def test_no_other_cell_is_verified(language: str, passage: str, claim: str) -> None:
    assert check(Case(claim=claim, passage=passage, lang=language), Path(), None).verdict not in VERIFIED


@pytest.mark.parametrize(
    ("language", "passage", "claim"),
    [
        ("en", EN, "Rent was 318 in Men."),
        ("en", EN, "Wages were 2,146 in Women and 4,586 in Men."),
        ("en", TWO_HEADS, "Travel: 627 (2019 Men), 3,460 (2019 Women)."),
        ("en", YEARS, "Wages fell by 721 from 2021 to 2022."),
        ("en", GROUPS, "Bath in Europe was 8,843 in 2021."),
        (
            "en",
            STAFF,
            "Ashford Mill, Bexley Dairy and Corton Foundry had 863, 356 and 294 staff, respectively.",
        ),
        ("de", DE, "Löhne lag 2019 bei 5.999."),
        ("fr", FR_YEARS, "Loyer a baissé de 5 621 à 1 945."),
        ("es", ES, "Ventas disminuyó de 9.349 en 2021 a 5.986 en 2022."),
        ("ru", RU, "Аренда составила 3 314 в 2022 году."),
        ("zh", ZH, "租金从2015年的5,348增加到2016年的5,744。"),
        ("ja", JA, "旅費は9,354から2,960に減少した。"),
    ],
)
def test_the_cell_itself_is_verified(language: str, passage: str, claim: str) -> None:
    assert check(Case(claim=claim, passage=passage, lang=language), Path(), None).verdict in VERIFIED


@pytest.mark.parametrize(
    ("language", "passage", "claim"),
    [
        ("en", YEARS, "The sum of Wages and Rent in 2022 was 9,587."),
        ("zh", ZH, "2016年租金和工资合计为6,283。"),
        ("de", DE, "Löhne machte 2018 14,4 % der Summe aus."),
        ("es", ES, "Ventas disminuyó de 9.349 en 2021 a 5.986 en 2022."),
    ],
)
def test_no_true_sum_or_change_is_said_to_differ(language: str, passage: str, claim: str) -> None:
    assert check(Case(claim=claim, passage=passage, lang=language), Path(), None).verdict not in CONTRADICTED
