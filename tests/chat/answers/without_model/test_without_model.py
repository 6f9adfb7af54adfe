"""Answers without a model: which lines are quoted, how, and when none is a direct answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from chat.answers.prompt import ContextItem, SearchNotes, StatedFact
from chat.answers.without_model.answer import answer_without_model
from chat.answers.without_model.evidence import opening_lines
from chat.answers.without_model.lines import AnswerLine, escaped
from chat.providers.base import NativeCitation, TextDelta
from tests.chat.answers.builders import answered, headed, on_one_page, prose, row, shown

PUMP = on_one_page(
    prose("u1", "The pump must be primed with clean water before the first start.", 3, "Commissioning"),
    prose("u2", "Replace the shaft seal after 4,000 hours of operation.", 7, "Maintenance"),
    prose("u3", "The warranty lasts 24 months from the date of delivery.", 9, "Warranty"),
    prose("u4", "Noise emission at the operator's place is 72 dB(A).", 4, "Technical data"),
    prose("u5", "Only electricians may open the terminal box.", 2, "Safety"),
    prose("u6", "The housing is made of stainless steel and painted in the colour of the customer.", 4),
)
TRIAL = on_one_page(
    prose("u1", "The trial enrolled 412 adults with moderate asthma at 18 hospitals.", 2, "Methods"),
    prose("u2", "Patients took 5 mg of the study drug once a day for twelve weeks.", 2, "Methods"),
    prose("u3", "Headache was the most frequent adverse event and occurred in 9% of patients.", 5, "Safety"),
    prose("u4", "The study was funded by the Northern Lung Foundation.", 8, "Funding"),
    prose("u5", "Recruitment ended on 14 March 2019 because the planned number was reached.", 3, "Methods"),
    prose("u6", "The weather in the region is mild and wet for most of the year.", 8),
)
LEASE = on_one_page(
    prose(
        "u1",
        "The tenant may terminate this lease at the end of any quarter with six months' notice.",
        4,
        "12 Termination",
    ),
    prose("u2", "The rent is payable in advance on the third working day of each month.", 2, "4 Rent"),
    prose("u3", "The landlord insures the building against fire, storm and tap water.", 3, "9 Insurance"),
    prose("u4", "Pets other than small animals need the landlord's written consent.", 5, "14 Pets"),
)
SURVEY = on_one_page(
    prose("u1", "Of the respondents, 62% travel to work by bus or train and 21% by bicycle.", 3, "Commuting"),
    prose("u2", "Interviews were held by telephone between 3 and 20 May 2022.", 9, "Method"),
    prose("u3", "Older residents are more satisfied with the library than younger ones.", 5, "Services"),
)
BREWERY = on_one_page(
    prose("u1", "Revenue rose to $48.2 million in 2023 because of higher prices for kegs.", 12, "Results"),
    prose("u2", "The company employed 318 people at the end of the year.", 4, "Employees"),
    prose("u3", "Hops are bought under contracts that end in 2026.", 7, "Purchasing"),
)
WORDINGS: list[tuple[list[ContextItem], str, tuple[str, str, str]]] = [
    (PUMP, "u2", ("When must the shaft seal be replaced?", "After how many hours is a new shaft seal needed?",
                  "How often should I replace the shaft seal?")),
    (PUMP, "u3", ("How long is the warranty?", "What is the duration of the warranty?",
                  "For how many months does the warranty last?")),
    (PUMP, "u4", ("How loud is the pump (noise emission)?", "What is the noise emission?",
                  "How high is the noise at the operator's place?")),
    (PUMP, "u5", ("Who may open the terminal box?", "Which people are allowed to open the terminal box?",
                  "Is anybody but electricians allowed to open the terminal box?")),
    (PUMP, "u1", ("What must be done before the first start?", "With what is the pump primed?",
                  "How do I prime the pump?")),
    (TRIAL, "u1", ("How many adults were enrolled?", "What was the number of adults that the trial enrolled?",
                   "The trial enrolled how many patients with asthma?")),
    (TRIAL, "u2", ("What dose of the study drug did patients take?", "How much of the drug was taken a day?",
                   "How many mg of the study drug did patients take?")),
    (TRIAL, "u3", ("What was the most frequent adverse event?", "Which adverse event was most frequent?",
                   "Which adverse event occurred in most patients?")),
    (TRIAL, "u4", ("Who funded the study?", "By whom was the study funded?",
                   "Which foundation paid for the study?")),
    (TRIAL, "u5", ("When did recruitment end?", "On what date did recruitment end?",
                   "What was the date on which recruitment ended?")),
    (LEASE, "u1", ("How can the tenant terminate the lease?",
                   "What notice must the tenant give to terminate?",
                   "With how many months' notice may the lease be terminated?")),
    (LEASE, "u2", ("When is the rent payable?", "On which day of the month is the rent payable?",
                   "By when must the rent be paid each month?")),
    (SURVEY, "u1", ("How many respondents travel to work by bus or train?",
                    "What share of respondents go to work by bus or train?",
                    "What percentage of the respondents travels to work by train or bus?")),
    (SURVEY, "u2", ("When were the interviews held?", "In which month were the interviews held?",
                    "Between which dates were interviews held?")),
    (BREWERY, "u1", ("Why did revenue rise in 2023?", "What made revenue rise in 2023?",
                     "What was the reason that revenue rose in 2023?")),
    (BREWERY, "u2", ("How many people did the company employ?", "What was the number of people employed?",
                     "How many people were employed at the end of the year?")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("passages", "alias", "question"),
    [(passages, alias, question) for passages, alias, questions in WORDINGS for question in questions],
)
def test_the_same_question_in_other_words_gets_the_same_answer(
    passages: list[ContextItem], alias: str, question: str
) -> None:
    lines, citations = answered(question, passages)
    assert citations[0].alias == alias and len(citations) <= 3
    assert not lines[0].startswith("No direct answer")


def test_the_row_of_an_article_is_named_by_its_number_and_its_description() -> None:
    heads = ("Item", "Description", "Qty", "Unit price")
    passages = headed(
        heads,
        row("u1", "CH-210", "Swivel chair, black", "6", "£84.50", heads=heads),
        row("u2", "LP-077", "Desk lamp LED", "4", "£22.75", heads=heads),
        row("u3", "SV-001", "Delivery", "1", "£75.00", heads=heads),
    )
    lines, citations = answered("What is the unit price of the desk lamp?", passages)
    assert [citation.alias for citation in citations] == ["u2"]
    assert "LP-077, Desk lamp LED, Unit price: £22.75" in "\n".join(lines)


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "Who won the World Cup?",
        "hi",
        "Hello there!",
        "Thanks, that was helpful!",
        "asdf qwer zxcv",
        "How do I bake bread?",
    ],
)
def test_a_question_after_another_subject_gets_no_filler(question: str) -> None:
    lines, citations = answered(question, PUMP)
    assert lines == ["No direct answer found."] and citations == []


FILING = on_one_page(
    prose("u1", "Access to clean water and reliable energy in the communities where we conduct our business"
          " is a priority for our offices and vendors.", 26, "Risk factors"),
    prose("u2", "Consumers today demand personal content in their interactions with sellers.", 26),
    prose("u3", "Our credit agreement ends in 2018 and its interest follows the market at every point.", 26),
)  # fmt: skip


def test_two_words_of_another_subject_on_a_page_are_no_answer() -> None:
    lines, _ = answered("What is the boiling point of water?", FILING)
    assert lines[0].startswith("No direct answer found.")


REGISTER = on_one_page(
    prose("u1", "Subsidiaries: Northwind Capital Holdings, Delaware; Northwind Textiles, Lyon, France.", 140,
          "Exhibit 21"),
    prose("u2", "Northwind pays for its capital expenditure out of its cash flow.", 40, "Liquidity"),
    row("u3", "Japan", "347,740", "365,570", heads=("Revenue by country ($ thousands)", "2015", "2014"),
        page=141),
)  # fmt: skip


@pytest.mark.parametrize("question", ["What is the population of Japan?", "Who is the president of Japan?"])
def test_a_page_with_nothing_but_the_name_asked_about_is_no_answer(question: str) -> None:
    lines, _ = answered(question, REGISTER)
    assert lines[0].startswith("No direct answer found.")


def test_each_section_gives_its_opening_sentence_before_one_gives_a_second() -> None:
    risk = "Our sales depend on the weather because rain keeps our customers away from our"
    places = ("gardens", "shops", "parks", "pools", "courts", "lawns")
    same = [prose(f"u{at}", f"{risk} {place}.", 1, "Weather") for at, place in enumerate(places, 1)]
    other = prose("u7", "A dispute with the union may stop the work in both breweries.", 2, "Labour")
    lines = [AnswerLine(passage, passage.unit.text, "") for passage in (*same, other)]
    assert opening_lines(lines, 5) == [*lines[:4], lines[-1]]


def test_what_only_comes_close_is_shown_as_that() -> None:
    lines, citations = answered(
        "Which tropical humidity certificates does the paint of the housing hold?", PUMP
    )
    assert lines[0] == "No direct answer found."
    assert 1 <= len(citations) <= 3 and citations[0].alias == "u6"


def test_a_name_that_no_document_holds_is_named() -> None:
    lines, _ = answered("How many adults did the trial enrol in Norway?", TRIAL, absent=("Norway",))
    assert lines[0] == "No direct answer found. Not in the document: “Norway”."
    absent = tuple(f"page {number}" for number in range(40, 50))
    lines, _ = answered("How many adults did the trial enrol on pages 40-49?", TRIAL, absent=absent)
    assert lines[0].endswith("“page 42”, “page 43”, ….")


def test_an_answer_says_which_words_of_the_question_the_document_does_not_have() -> None:
    question = "How high were the landing fees of Globex in 2022?"
    lines, citations = answered(question, HARBOUR, absent=("Globex",))
    assert lines[0] == "No direct answer found. Not in the document: “Globex”."
    assert lines[1] == "- Landing fees, 2022: €15,210 million" and citations[0].alias == "u1"


def test_without_passages_the_answer_is_that_there_is_none() -> None:
    assert answered("Anything?", []) == (["No direct answer found."], [])


def test_a_sentence_is_said_word_for_word_and_quoted() -> None:
    lines, citations = answered("Who funded the study?", TRIAL)
    assert lines[0] == "- The study was funded by the Northern Lung Foundation."
    assert citations[0].quote == TRIAL[3].unit.text


def test_the_sign_of_a_check_box_is_said_as_it_says_what_was_chosen() -> None:
    passages = [prose("u1", "☐ Payment of the berth by card"), prose("u2", "☑ Payment of the berth in cash")]
    lines, _ = answered("How was the payment of the berth made?", passages)
    assert "- ☑ Payment of the berth in cash" in lines


def test_no_line_is_said_twice() -> None:
    again = [prose(f"u{n}", TRIAL[0].unit.text, n) for n in range(20, 30)]
    lines, _ = answered("How many adults did the trial enrol?", [*TRIAL, *again])
    assert len(set(lines)) == len(lines)


def test_a_sentence_is_shown_with_its_paragraph() -> None:
    passages = on_one_page(
        prose("u1", "The council bought the old bakery of the Miller family. It paid 1.2 million euros.", 1),
        prose("u2", "The council meets on Mondays.", 1),
        prose("u3", "The town has three schools.", 2),
    )
    text, _ = shown("How much did the council pay the Miller family for the old bakery?", passages)
    assert "> **The council bought the old bakery of the Miller family.** It paid 1.2 million euros." in text


def test_a_row_whose_first_cell_is_a_number_is_an_answer() -> None:
    heads = ("#", "Requirement", "Level")
    rows = headed(
        heads,
        row("u1", "4.1.1", "The operator keeps a written record of every lift.", "A", heads=heads),
        row("u2", "4.1.2", "Ropes are inspected by a competent person every six months.", "B", heads=heads),
        row("u3", "4.1.3", "Slings show their safe working load on a tag.", "A", heads=heads),
    )
    lines, citations = answered("How often are ropes inspected?", rows)
    assert lines[0] == "- 4.1.2: Ropes are inspected by a competent person every six months."
    assert citations[0].alias == "u2"
    lines, citations = answered("What does requirement 4.1.3 say?", rows)
    assert citations[0].alias == "u3"


RAIN = ("Station", "2020 (mm)", "2021 (mm)", "2022 (mm)")
STATIONS = headed(
    RAIN,
    row("u1", "Harbour", "612", "588", "701", heads=RAIN, section="Rain at the stations"),
    row("u2", "Airport", "540", "511", "633", heads=RAIN, section="Rain at the stations"),
    row("u3", "Old mill", "710", "655", "802", heads=RAIN, section="Rain at the stations"),
)


def test_a_cell_is_shown_with_its_row_column_and_unit_and_lit() -> None:
    lines, citations = answered("How much rain fell at the airport station in 2021?", STATIONS)
    assert lines[0] == "- Airport, 2021: 511 mm"
    assert citations[0].alias == "u2" and citations[0].quote == "511"


@pytest.mark.parametrize("cells", [("Catch of cod", "540", "511", "633"), ("Catch of cod 540", "511")])
def test_a_row_whose_heads_are_not_known_is_never_said_as_naked_digits(cells: tuple[str, ...]) -> None:
    rows = on_one_page(
        row("u1", *cells, section="Landings"),
        prose("u2", "The catch of cod is weighed at the pier.", section="Landings"),
    )
    lines, citations = answered("How large was the catch of cod?", rows)
    assert citations[0].alias == "u2" and not any("511" in line for line in lines)


FISHING = ("(in millions of euros)", "2021", "2022")
HARBOUR = headed(
    FISHING,
    row("u1", "Landing fees", "14,544", "15,210", heads=FISHING, section="Income of the harbour board"),
    row("u2", "Berth rents", "2,310", "2,475", heads=FISHING, section="Income of the harbour board"),
    row("u3", "Dredging", "(1,577)", "(1,373)", heads=FISHING, section="Costs of the harbour board"),
    row("u4", "Fees per boat", "312", "318", heads=FISHING, section="Income of the harbour board"),
)


def test_a_value_is_said_with_the_scale_of_its_table() -> None:
    lines, citations = answered("How high were the landing fees in 2022?", HARBOUR)
    assert lines[0] == "Landing fees, 2022: €15,210 million" and citations[0].alias == "u1"
    lines, _ = answered("How much did dredging cost in 2021?", HARBOUR)
    assert lines[0] == "Dredging, 2021: (€1,577 million)"
    lines, _ = answered("What were the fees per boat in 2021?", HARBOUR)
    assert lines[0] == "Fees per boat, 2021: €312"


def test_a_scale_in_the_sentences_over_a_table_is_not_its_own() -> None:
    heads = ("", "2022", "2021")
    rows = headed(
        heads,
        prose("u1", "Income rose to $340.8 million in the year.", section="Shops"),
        row("u2", "Shops opened", "12", "6", heads=heads, section="Shops"),
    )
    lines, _ = answered("How many shops were opened in 2022?", rows)
    assert lines[0] == "Shops opened, 2022: 12"


def test_the_number_of_a_clause_is_no_amount() -> None:
    clauses = on_one_page(
        prose("u1", "4.1 The adviser serves the firm during the term of this agreement.", 2, "4 Term"),
        prose("u2", "4.2 The term of this agreement is five (5) years from the first of May.", 2, "4 Term"),
    )
    _, citations = answered("How long is the term of this agreement?", clauses)
    assert citations[0].alias == "u2"


def test_a_page_that_is_named_but_holds_no_word_of_the_question_is_no_answer() -> None:
    slide = on_one_page(prose("u1", "OPTION B IT IS.", 25), prose("u2", "Our team likes tea.", 26))
    lines, citations = answered("In the cartoon on page 25, what does the elephant represent?", slide)
    assert lines[0].startswith("No direct answer found. This must be counted or seen in a figure")
    assert citations[0].alias == "u1"
    assert answered("What is said on page 25?", slide)[0][0] == "- OPTION B IT IS."


def test_a_percentage_or_a_small_number_is_not_said_in_millions() -> None:
    heads = ("($ in millions)", "2022 amount", "2022 percent of income")
    rows = headed(
        heads,
        row("u1", "Landing fees", "15,210", "28.8", heads=heads),
        row("u2", "Average stay in days", "3.25", "", heads=heads),
    )
    text = " ".join(answered("How high were the landing fees in 2022?", rows)[0])
    assert "amount: $15,210 million" in text and "28.8 million" not in text
    assert "3.25 million" not in " ".join(answered("What was the average stay in days?", rows)[0])


STATE = headed(
    ("(in billions of euros)", "2021", "2022"),
    row("u1", "Tax receipts", "1.20", "1.35", heads=("(in billions of euros)", "2021", "2022")),
)
TOWN = headed(
    ("(in millions of euros)", "2022"),
    row("u1", "Dog licences", "850", heads=("(in millions of euros)", "2022")),
    row("u2", "Fines", "$1.1 billion", heads=("(in millions of euros)", "2022")),
)
BOTH = [
    *STATE,
    *(replace(p, alias=f"u{at}", unit=replace(p.unit, page=2)) for at, p in enumerate(TOWN, start=11)),
]


def test_the_row_that_a_pack_knows_by_another_name_comes_first() -> None:
    heads, flows = ("(in millions)", "2018", "2017"), "Consolidated Statements of Cash Flows"
    rows = headed(
        heads,
        row("u1", "Net cash used for financing", "(6,701)", "(2,655)", heads=heads, section=flows),
        row(
            "u2",
            "Purchases of property, plant and equipment",
            "(1,577)",
            "(1,373)",
            heads=heads,
            section=flows,
        ),
    )
    lines, citations = answered("What was capital expenditure in 2018?", rows, packs=("finance",))
    assert lines[0].startswith("Purchases of property") and citations[0].alias == "u2"


def test_a_chinese_question_is_answered_from_a_chinese_contract() -> None:
    contract = on_one_page(
        prose("u1", "本合同的期限为三年，自签署之日起计算。", 1, "第二条 期限", language="zh"),
        prose("u2", "甲方应在收到发票后三十日内付款。", 1, "第三条 付款", language="zh"),
        prose("u3", "双方应对商业秘密予以保密。", 2, "第四条 保密", language="zh"),
    )
    lines, citations = answered("合同的期限是多久？", contract)
    assert citations[0].alias == "u1" and lines[0].startswith("- 本合同的期限为三年")


def test_a_german_question_is_answered_and_refused_in_german() -> None:
    lease = on_one_page(
        prose("u1", "Die Kündigungsfrist beträgt drei Monate zum Monatsende.", 2, "Kündigung", language="de"),
        prose("u2", "Die Miete ist am dritten Werktag fällig.", 1, "Miete", language="de"),
    )
    lines, citations = answered("Wie lange ist die Kündigungsfrist?", lease)
    assert citations[0].alias == "u1"
    lines, citations = answered("Welche Farbe hat der Mond?", lease)
    assert lines[0].startswith("Keine direkte Antwort gefunden.")


def test_a_list_that_is_asked_for_is_said_in_order() -> None:
    items = [
        prose(f"u{n}", text, 4, "Tools needed", kind="list")
        for n, text in enumerate(
            ("Torque wrench, 20 to 100 newton metres", "Feeler gauge set", "Bearing puller with two arms",
             "Clean cotton cloths"), start=1
        )
    ]  # fmt: skip
    text, _ = shown("List the tools needed for the bearing", on_one_page(*items, *PUMP[4:]))
    first = text.split("#### ")[1].replace("**", "")
    assert [line[4:] for line in first.splitlines() if line.startswith("> - ")] == [
        i.unit.text for i in items
    ]


AGREEMENT = on_one_page(
    prose("u1", "The customer pays within thirty days of the invoice.", 3, "4 Payment"),
    prose("u2", "(a) Invoices are sent by post.", 3, "4 Payment", kind="list"),
    prose("u3", "(b) Late payments bear interest of five percent a year.", 3, "4 Payment", kind="list"),
    prose("u4", "Section 4 of the old agreement ends with the year.", 5, "14 Transition"),
    prose("u5", "Session keys are at least 64 bits long.", 6, "V2.1 Keys"),
    prose("u6", "Service keys are kept in a vault.", 7, "V2.10 Services"),
)


@pytest.mark.parametrize(
    ("question", "aliases"),
    [
        ("What does section 4 say?", ["u1", "u2", "u4"]),
        ("What does clause 4(b) say?", ["u3"]),
        ("What does section 2.1 say?", ["u5"]),
        ("What is in section 2.10?", ["u6"]),
    ],
)
def test_a_section_that_is_named_is_answered_from(question: str, aliases: list[str]) -> None:
    _, citations = answered(question, AGREEMENT)
    assert [citation.alias for citation in citations] == aliases


def test_markdown_in_documents_stays_text() -> None:
    assert escaped("a * b [x](y) `c` <i>") == r"a \* b \[x](y) \`c\` \<i>"
    assert escaped("# no heading") == r"\# no heading"
    assert escaped("1. Introduction") == r"1\. Introduction"
    assert escaped("snake_case stays, _this_ is no emphasis") == r"snake_case stays, \_this\_ is no emphasis"


def test_how_something_is_done_is_answered_with_the_steps_under_its_heading() -> None:
    def step(alias: str, text: str) -> ContextItem:
        return prose(alias, text, 3, "Descaling the kettle", kind="list")

    steps = on_one_page(
        step("u1", "1. Fill the kettle with vinegar and water."),
        step("u2", "2. Boil it and wait for an hour."),
        step("u3", "• Vinegar stains marble."),
        step("u4", "3. Rinse it twice."),
        prose("u5", "A clean kettle saves power.", 3, "Descaling the kettle"),
    )
    text, citations = shown("How do I descale the kettle?", steps)
    assert citations[0].alias == "u1"
    assert ">\n> 2\\. Boil it and wait for an hour.\n> - Vinegar stains marble.\n" in text
    assert ">\n> 3\\. Rinse it twice.\n" in text


def test_a_requirement_is_said_without_the_marks_and_numbers_of_the_columns_behind_it() -> None:
    cells = ("3.2.2", "Check that each gate is locked at night. (C6)", "✓", "✓", "331", "7.1")
    lines, _ = answered("When must each gate be locked?", [row("u1", *cells)])
    assert lines == ["- 3.2.2: Check that each gate is locked at night."]


BOATHOUSE = on_one_page(
    prose("u1", "The value of a boat is set by the committee every spring.", 1, "Boats"),
    prose("u2", "The ballast keel of a boat is a weight of lead below its hull.", 1, "Boats"),
    prose("u3", "Ballast keels with a value above $900 are insured; 40% of the boats have one.", 1, "Boats"),
    prose("u4", "Before a boat is lent, the member must show:", 2, "Lending"),
    prose("u5", "a licence for inland waters", 2, "Lending", kind="list"),
    prose("u6", "the receipt of this year's fee", 2, "Lending", kind="list"),
    prose("u7", "The harbour was dredged in 2019.", 3, "Harbour"),
)


@pytest.mark.parametrize(
    ("question", "unit"),
    [
        ("What is a ballast keel?", "u2"),
        ("How often is the value of a boat set?", "u1"),
        ("What share of the boats have ballast keels?", "u3"),
        ("Above how much money are ballast keels insured?", "u3"),
    ],
)
def test_the_line_is_said_that_holds_what_the_question_wants(question: str, unit: str) -> None:
    assert answered(question, BOATHOUSE)[1][0].alias == unit


def test_a_line_that_ends_with_a_colon_is_said_with_its_list() -> None:
    text, _ = shown("What must a member show before a boat is lent?", BOATHOUSE)
    first = text.split("#### ")[1].replace("**", "")
    lines = [line for line in first.splitlines() if line.startswith("> ")]
    assert lines == [mark + BOATHOUSE[at].unit.text for mark, at in (("> ", 3), ("> - ", 4), ("> - ", 5))]


GUIDE = on_one_page(
    prose("u1", "Version 4.2 was a success: the 4.2 release of the guide was used for years.", 1, "Guide"),
    prose("u2", "The committee wrote all autumn and released version 4.2 in late November.", 1, "Guide"),
    prose(
        "u3", "Two more editions followed, the second in July 2004. This was the last edition.", 2, "Guide"
    ),
    prose("u4", "Members paid for 3000 copies of the edition.", 2, "Guide"),
)


def test_a_date_in_the_sentence_before_is_shown_too() -> None:
    text, _ = shown("When was the last edition?", GUIDE)
    assert "the second in July 2004" in text and "This was the last edition." in text


def test_one_word_of_three_is_no_answer() -> None:
    lines, _ = answered("What is the penalty for smoking in the harbour?", BOATHOUSE)
    assert lines[0].startswith("No direct answer found.")


GLOSSARY = on_one_page(
    prose("u1", "The Tarn tools are described in the file tarn.conf of the Tarn folder.", 40, "Tarn tools"),
    prose("u2", "Tarn is a program for planning the rotas of ferries.", 2, "Foreword"),
    prose("u3", "Tarn is also delivered on a stick.", 3, "Foreword"),
    prose("u4", "Each crew names a person who speaks for it (the steward).", 9, "Crews"),
    prose(
        "u5",
        "Stewards of all crews meet in May, and the stewards' list of the crews is public.",
        12,
        "Stewards",
    ),
)


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("What is Tarn?", "Tarn is a program for planning the rotas of ferries."),
        ("What is a steward?", "Each crew names a person who speaks for it (the steward)."),
    ],
)
def test_what_a_thing_is_stands_where_it_is_first_defined(question: str, line: str) -> None:
    assert f"- {line}" in answered(question, GLOSSARY)[0]


def test_a_line_that_gives_a_reason_answers_why() -> None:
    lines, _ = answered(
        "Why was the harbour closed in March?",
        on_one_page(
            prose("u1", "The harbour was closed in March and opened again in April.", 2),
            prose("u2", "The harbour was closed in March because of a storm.", 2),
        ),
    )
    assert lines[0] == "- The harbour was closed in March because of a storm."


def test_a_question_is_answered_from_the_section_whose_title_asks_it() -> None:
    manual = on_one_page(
        prose("u1", "The kettle is charged within two hours, whatever the socket.", 4, "2.2 Time"),
        prose("u2", "Please read this before the kettle is used.", 5, "2.3 Charging your kettle"),
        prose("u3", "1. Put the plug into the socket.", 5, "2.3 Charging your kettle", kind="list"),
        prose("u4", "2. Wait for the green light.", 5, "2.3 Charging your kettle", kind="list"),
        prose("u5", "The Kettle Museum (KM) serves people who like to boil water.", 1, "Foreword"),
        prose("u6", "Boiling together, in every house, for everybody.", 2, "Mission"),
        prose("u7", "The mission was written down by the KM in 1987.", 6, "History"),
    )
    text, _ = shown("How do I charge the kettle?", manual)
    assert "Put the plug into the socket." in text and "Wait for the green light." in text
    lines, _ = answered("What is the mission of the KM?", manual)
    assert lines[0] == "- Boiling together, in every house, for everybody."
    lines, _ = answered("How many hours is the kettle charged?", manual)
    assert lines[0].startswith("- The kettle is charged within two hours")


def test_a_row_of_texts_with_digits_is_said_with_the_head_that_is_asked_for() -> None:
    heads = ("Boat", "Draught", "Cabins", "Lift")
    table = headed(
        heads,
        row("u1", "Astrid", "3 m–4 m", "12 berths", "yes", heads=heads),
        row("u2", "Solveig", "2 m", "8 berths", "no", heads=heads),
    )
    assert answered("What is the draught of the Astrid?", table)[0][0] == "- Astrid, Draught: 3 m–4 m"


def test_a_value_in_words_is_a_value_and_a_total_below_numbered_items_is_its_row() -> None:
    reports = ("Report", "Due", "Fee cap")
    due = headed(reports, row("u1", "Steam study", "31 October 2025", "£8,960", heads=reports))
    assert answered("When is the steam study due?", due)[0][-1] == "- Steam study, Due: 31 October 2025"
    memory = ("Installation", "Memory", "Disk")
    needs = headed(memory, row("u1", "With desktop", "2 gigabytes", "10 gigabytes", heads=memory))
    assert answered("How much memory with a desktop?", needs)[0][0] == "With desktop, Memory: 2 gigabytes"
    bill = ("No.", "Item", "Hours", "Amount")
    total = headed(bill, row("u1", "1", "Pruning", "14", "672,00 €", heads=bill),
                   row("u2", "", "Amount payable", "", "1.498,21 €", heads=bill))  # fmt: skip
    lines, _ = answered("What is the amount payable?", total)
    assert lines[0] == "Amount payable, Amount: 1.498,21 €"


def test_a_passage_without_any_word_of_the_question_is_not_shown_below_one_with_some() -> None:
    passages = [
        prose("u1", "The hedge of the lower garden is trimmed in June.", 1),
        prose("u2", "Every boat carries two lanterns.", 2),
        prose("u3", "The pier opens at noon.", 3),
    ]
    _, citations = answered("Who trims the hedge of the neighbours?", passages)
    assert [citation.alias for citation in citations] == ["u1"]


def test_endings_weigh_less_than_words_in_a_script_without_spaces() -> None:
    endings = "どうしたらよいのかわからないときにはいつでもたずねることができるようになっています。"
    store = prose("u1", f"倉庫は三度点検。{endings}", language="ja")
    lines, _ = answered("倉庫は何度点検したらよいのかわかるようになっていますか。", [store])
    assert lines[-1] == "- 倉庫は三度点検。"


def test_a_page_of_a_section_on_a_thing_need_not_name_it() -> None:
    manual = [
        prose("u1", "depth: 40 metres at most", 1, "Kelpie 200", kind="list"),
        prose("u2", "The depth of other boats than the Kelpie 200 is not known to us.", 2, "Other boats"),
    ]
    assert "- depth: 40 metres at most" in answered("What depth does the Kelpie 200 reach?", manual)[0]


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("What does TRB stand for?", "The Tidal Rowing Board (TRB) meets on Mondays."),
        ("What is a thole?", "thole: A pin that holds an oar."),
    ],
)
def test_a_thing_is_defined_by_an_entry_or_by_words_in_brackets(question: str, line: str) -> None:
    others = [
        prose("u1", "The TRB, the oar and the thole stand for much in this town.", 1),
        prose("u2", "Nobody asks what the oar or the thole cost the TRB.", 2),
    ]
    lines, citations = answered(question, [*others, prose("u3", line, 3)])
    assert f"- {line}" in lines and citations[0].alias == "u3"


def test_a_price_that_no_line_gives_is_not_answered() -> None:
    boats = [prose("u1", "The Kelpie is a boat of low cost for everybody.", 1)]
    assert answered("How much does the Kelpie cost?", boats)[0][0].startswith("No direct answer found.")
    boats = [prose("u1", "The Kelpie is a boat of low cost for everybody: € 4,200.", 1)]
    assert answered("How much does the Kelpie cost?", boats)[0][0].startswith("- The Kelpie")


QUARTER = (
    *(
        "(in millions)",
        "Net sales, Three months ended Sep 28, 2031",
        "Net sales, Nine months ended Sep 28, 2031",
    ),
)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What were the net sales of Ferries in the third quarter of 2031?", "$97.5 million"),
        ("How much were the net sales of Ferries for the first nine months of 2031?", "$284.0 million"),
        ("What were the net sales of Ferries in the second quarter of 2031?", ""),  # of another quarter
        ("What was the net sales ratio of Ferries in the first nine months of 2031?", ""),
        ("Were the net sales of Ferries for the first nine months of 2031 high?", ""),
    ],
)
def test_the_value_of_a_segment_and_a_quarter_is_said_where_one_cell_is_meant(
    question: str, value: str
) -> None:
    rows = headed(
        QUARTER,
        row("u1", "Ferries", "$97.5", "$284.0", heads=QUARTER, section="Results of the third quarter"),
        row("u2", "Harbours", "$40.9", "$135.3", heads=QUARTER, section="Results of the third quarter"),
    )
    text, _ = shown(question, rows)
    said = text.partition("**")[0].replace("\\", "").strip()
    assert said.endswith(value) if value else not said.startswith("Ferries")


BALANCE = ("(in millions)", "2031", "2030")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "What was the current ratio in 2031?",
            "Total current assets / Total current liabilities, 2031: 26,291 / 9,674 = 2.72",
        ),
        (
            "What was the net working capital in 2031?",
            "Total current assets - Total current liabilities, 2031: 26,291 - 9,674 = $16,617 million",
        ),
        ("What was the working capital ratio of 2031?", ""),
        ("What was the change in working capital in 2031?", ""),
        ("What was the current ratio of the ferries segment in 2031?", ""),
        ("What was the current ratio that Albatross had in 2031?", ""),  # another company
        ("What was the cash ratio in 2031?", ""),  # the page has no cash
        ("What was the inventory turnover in 2031?", ""),  # of an average: no two cells give it
    ],
)
def test_what_two_certain_cells_give_is_computed(question: str, said: str) -> None:
    sheet = "Consolidated Balance Sheets"
    rows = headed(
        BALANCE,
        row("u1", "Inventories", "6,854", "7,367", heads=BALANCE, section=sheet),
        row("u2", "Total current assets", "$ 26,291", "$ 20,556", heads=BALANCE, section=sheet),
        row("u3", "Total current liabilities", "9,674", "8,284", heads=BALANCE, section=sheet),
    )
    text, citations = shown(question, rows, packs=("finance",))
    first = text.partition("**")[0].replace("\\", "").strip()
    assert first == said
    assert [c.alias for c in citations[:2]] == ["u2", "u3"] or not said


def test_an_entry_whose_label_is_asked_for_is_said() -> None:
    form = [prose("u1", "Berth number: 17 b", 1), prose("u2", "Berths are let from May.", 1)]
    assert shown("What is the berth number?", form)[0].startswith("Berth number: 17 b")


def test_the_most_general_row_of_a_page_is_shown_and_said() -> None:
    heads = ("(in millions)", "2031", "2030")
    rows = headed(
        heads,
        row("u1", "TOTAL FERRY BRAND WHOLESALE EQUIVALENT", heads=heads),
        row("u2", "REVENUES", "$ 35,770", "$ 29,194", heads=heads),
        row("u3", "TOTAL REVENUES", "$ 44,538", "$ 37,403", heads=heads),
    )
    text, _ = shown("What were the total revenues in 2031?", rows)
    assert text.startswith("TOTAL REVENUES, 2031: $44,538 million") and "35,770" not in text


def on_page(page: int, rows: Sequence[ContextItem]) -> list[ContextItem]:
    """The rows of a table on another page, under its heading."""
    units = tuple(replace(item.unit, page=page, id=f"p{page}{item.unit.id}") for item in rows)
    return [
        replace(
            item, alias=f"p{page}{item.alias}", unit=unit, around=units, heading=" ".join(unit.section_path)
        )
        for item, unit in zip(rows, units, strict=True)
    ]


def said(question: str, rows: Sequence[ContextItem]) -> str:
    return shown(question, rows, packs=("finance",))[0].partition("**")[0].replace("\\", "").strip()


def test_an_item_of_a_filing_is_said_of_the_statement_that_states_it() -> None:
    heads = ("(in millions)", "2031", "2030")
    pay = headed(
        heads, row("u1", "Cost of sales", "$ 73", "$ 47", heads=heads, section="Share-based pay of 2031")
    )
    income = headed(
        heads,
        row(
            "u1",
            "Cost of sales",
            "$ 9,156",
            "$ 8,934",
            heads=heads,
            section="Consolidated Statements of Income",
        ),
    )
    both = [*on_page(1, pay), *on_page(2, income)]
    assert said("What was the cost of sales in 2031?", both) == "Cost of sales, 2031: $9,156 million"
    assert said("What was the cost of sales in 2031?", on_page(1, pay)) == ""


def test_no_sum_is_said_where_one_of_several_things_is_asked_for() -> None:
    heads = ("(in millions)", "2031", "2030")
    statement = "Consolidated Statements of Income"
    rows = on_page(
        1, headed(heads, row("u1", "Net sales", "$ 9,156", "$ 8,934", heads=heads, section=statement))
    )
    assert said("What were the net sales in 2031?", rows) == "Net sales, 2031: $9,156 million"
    for question in (
        "Which harbour makes up the largest part of net sales in 2031?",
        "What state had the highest total net sales in 2031?",
        "How seasonal were the net sales of 2031?",
    ):
        assert said(question, rows) == ""


@pytest.mark.parametrize(
    ("question", "rows", "expected"),
    [
        (
            "What was the property, plant and equipment in 2031?",  # gross or net?
            [("Property, plant and equipment", "24,873"), ("Property, plant and equipment, net", "8,738")],
            "",
        ),
        (
            "What was the total shareholders' equity in 2031?",
            [("Total Harbour shareholders' equity", "9,796"), ("Total equity", "9,848")],
            "Total Harbour shareholders' equity, 2031: $9,796 million",
        ),
        (
            "What was the total shareholders' equity in 2031?",
            [("Total liabilities and shareholders' equity", "36,500"), ("Total equity", "9,848")],
            "Total equity, 2031: $9,848 million",
        ),
    ],
)
def test_of_two_rows_that_are_the_item_the_one_with_more_of_the_questions_words_is_said(
    question: str, rows: list[tuple[str, str]], expected: str
) -> None:
    heads = ("(in millions)", "2031")
    sheet = [
        row(f"u{at}", label, f"$ {value}", heads=heads, section="Consolidated Balance Sheets")
        for at, (label, value) in enumerate(rows)
    ]
    assert said(question, headed(heads, *sheet)) == expected


@pytest.mark.parametrize(
    ("section", "label", "expected"),
    [
        ("Consolidated accounts", "Dredging of harbours", "Dredging of harbours, 2031: $149 million"),
        ("Our dredging", "Dredging of harbours", "Dredging of harbours, 2031: $149 million"),
        ("Awards of shares", "Dredging of harbours", ""),  # a part of it, or another thing
        ("Dredging", "Harbours", ""),
    ],
)
def test_without_a_pack_an_amount_is_said_of_a_table_that_is_on_it(
    section: str, label: str, expected: str
) -> None:
    heads = ("(in millions)", "2031", "2030")
    rows = [
        *on_page(1, headed(heads, row("u1", label, "$ 149", "$ 98", heads=heads, section=section))),
        *on_page(2, headed(heads, row("u1", "Lights", "$ 10", "$ 8", heads=heads, section="Lights at sea"))),
    ]
    text, _ = shown("What was the dredging of harbours in 2031?", rows)
    assert text.partition("**")[0].replace("\\", "").strip() == expected


@pytest.mark.parametrize(
    ("question", "label", "section"),
    [
        ("What were the total assets in 2031?", "Total other assets", "Consolidated Balance Sheets"),
        (
            "What was the income tax in 2031?",
            "Income before income taxes",
            "Consolidated Statements of Income",
        ),
        (
            "What was the SG&A expense in 2031?",
            "General and administrative",
            "Consolidated Statements of Income",
        ),
        (
            "What was the amortization of patents in 2031?",
            "Depreciation and amortization",
            "Statements of Cash Flows",
        ),
    ],
)
def test_a_row_that_is_only_a_part_or_another_thing_is_not_said(
    question: str, label: str, section: str
) -> None:
    heads = ("(in millions)", "2031", "2030")
    rows = headed(heads, row("u1", label, "$ 512", "$ 498", heads=heads, section=section))
    assert said(question, on_page(1, rows)) == ""


@pytest.mark.parametrize(
    ("question", "is_said"),
    [
        ("How much in dividends did the company pay in 2031?", True),
        ("How much in dividends did Albatross pay in 2031?", False),
        ("As for Albatross, what were the dividends in 2031?", False),
        ("How much in dividends did the subsidiaries pay in 2031?", False),
        ("Which dividends paid were budgeted for 2031?", False),
        ("What dividends does the covenant allow for 2031?", False),
        ("What were the dividends in euros in 2031?", False),
        ("What was the total debt in 2031?", False),  # a part of it
        ("What was the long-term debt in 2031?", True),
    ],
)
def test_a_value_is_not_said_of_another_thing_than_is_asked_about(question: str, is_said: bool) -> None:
    heads = ("(in millions)", "2031", "2030")
    rows = headed(
        heads,
        row("u1", "Dividends paid", "$ 389", "$ 353", heads=heads, section="Statements of Cash Flows"),
        row("u2", "Long-term debt", "$ 957", "$ 953", heads=heads, section="Balance Sheets"),
    )
    assert bool(said(question, on_page(1, rows))) == is_said


def test_an_amount_that_may_lack_its_scale_is_not_said() -> None:
    plain, scaled = ("", "2031", "2030"), ("(in millions)", "2031", "2030")
    rows = [
        *on_page(1, headed(plain, row("u1", "Harbour fees", "$ 1,144", "$ 1,649", heads=plain))),
        *on_page(2, headed(scaled, row("u1", "Harbour taxes", "$ 10,460", "$ 8,458", heads=scaled))),
    ]
    assert said("What were the harbour fees in 2031?", rows[:2]) == "Harbour fees, 2031: $1,144"
    assert said("What were the harbour fees in 2031?", rows) == ""


EQUITY = ("", "Shares", "Retained earnings ($ in millions)")


def test_a_value_is_said_only_with_the_period_that_was_asked_for() -> None:
    caption = "Thirteen weeks ended October 29, 2022"
    rows = headed(
        EQUITY,
        row("u1", "Balance at July 30, 2022", "99", "3,051", heads=EQUITY, caption=caption),
        row("u2", "Share repurchases", "4", "(129)", heads=EQUITY, caption=caption),
        row("u3", "Balance at October 29, 2022", "95", "3,110", heads=EQUITY, caption=caption),
        row("u4", "Balance at July 31, 2021", "104", "2,916", heads=EQUITY, caption=caption),
        row("u5", "Cash dividends ($0.30 per share)", "", "(30)", heads=EQUITY, caption=caption),
        row("u6", "Balance at October 30, 2021", "104", "3,044", heads=EQUITY, caption=caption),
    )
    for question in ("Dividends per share Q3 2022", "What were the cash dividends in 2022?"):
        assert "**" in (text := shown(question, rows)[0]) and "30 million" not in text.partition("**")[0]


def test_an_entry_without_the_year_asked_for_is_no_value() -> None:
    form = [prose("u1", "Berth fee: 300 euros", 1), prose("u2", "Fees in 2031 are due in May.", 1)]
    assert not shown("What is the berth fee in 2031?", form)[0].startswith("Berth fee: 300")


def test_of_several_documents_no_value_is_said_unless_the_question_names_one() -> None:
    form = [prose("u1", "Berth number: 17 b", 1), prose("u2", "Berths are let from May.", 1)]

    def text(notes: SearchNotes) -> str:
        deltas = answer_without_model("What is the berth number?", form, notes)
        return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))

    one, several = text(SearchNotes()), text(SearchNotes(documents=2))
    assert one.startswith("Berth number: 17") and text(SearchNotes(documents=2, subject=("Ltd",))) == one
    assert not several.startswith("Berth number") and "Berth number: 17 b" in several  # as a passage


BERTH = on_one_page(
    prose("u1", "This agreement is made between Ada Quay (the “Owner”) and Ben Tarn (the “Guest”).", 1),
    prose("u2", "The Owner repairs the pier at the cost of the Owner.", 1, "5. Repairs"),
    prose("u3", "On arrival the Guest shall pay a deposit of £90.", 1, "3. Deposit"),
    prose("u4", "The Guest shall pay £15 a night in advance.", 1, "4. Rent"),
    prose("u5", "Dogs stay on board after sunset.", 1, "§ 6 Animals"),
)


@pytest.mark.parametrize(
    ("question", "alias"),
    [
        ("Who is the owner?", "u1"),  # the words that give a party its role
        ("What deposit does the guest pay?", "u3"),  # "pay" alone names no clause on the price
        ("What does the document say about “Animals”?", "u5"),  # named only in the heading
    ],
)
def test_a_contract_is_answered_from_the_clause_that_is_asked_for(question: str, alias: str) -> None:
    text, citations = shown(question, BERTH, packs=("contracts",))
    assert citations[0].alias == alias and "No direct answer" not in text


def test_a_page_is_shown_by_its_printed_number_and_by_its_place_in_the_file() -> None:
    pages = [
        replace(prose("u1", "The seals are 3 mm thick.", 3), page_label="1"),
        replace(prose("u2", "Boats are lifted by crane.", 5), page_label="3"),
        replace(prose("u3", "Page after page of the log is kept.", 6), page_label="4"),
    ]
    _, citations = shown("What does page three say?", pages)
    assert [citation.alias for citation in citations] == ["u2", "u1"]
    _, citations = shown("What is on the third slide?", pages)
    assert [citation.alias for citation in citations] == ["u2", "u1"]


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("Explain the trim tank", "**Passages on “trim tank”**"),
        ("Compare the trim tank and the ballast tank", "**Passages on “trim tank and the ballast tank”**"),
        ("Define trim tank", "**Passages on “trim tank”**"),
        ("What does page 3 say about the trim tank?", "**Passages**"),
    ],
)
def test_the_heading_says_what_the_passages_are_on(question: str, heading: str) -> None:
    text, _ = shown(question, [prose("u1", "A trim tank and a ballast tank keep the boat level.", 3)])
    assert text.startswith(heading)


def test_a_name_with_the_mark_of_a_place_is_shown_and_not_claimed() -> None:
    passages = [prose("u1", "Ada Quaya, Ben Tarnb", 1), prose("u2", "Eva Lind and Max Pier", 1)]
    facts = (StatedFact("Ada Quay", "u1", "Ada Quay"), StatedFact("Eva Lind", "u2", "Eva Lind"))
    deltas = answer_without_model("Who are the authors?", passages, SearchNotes(facts=facts))
    cited = [delta for delta in deltas if isinstance(delta, NativeCitation)]
    assert [citation.is_passage for citation in cited[:2]] == [True, False]


def test_a_printed_total_is_said_where_a_total_is_asked_for() -> None:
    heads = ("Descripción", "Importe")
    rows = headed(
        heads,
        row("u1", "Base imponible", "1.620,00 €", heads=heads, language="es"),
        row("u2", "Total de la factura", "1.960,20 €", heads=heads, language="es"),
    )
    text, _ = shown("¿Cuál es el total de la factura?", rows)
    assert text.startswith("Total de la factura, Importe: 1.960,20 €")


def test_the_items_below_a_lead_in_have_no_bullet_of_their_own() -> None:
    page = on_one_page(
        prose("u1", "Our contributions are as follows:", 1),
        prose("u2", "• A survey of harbours,", 1, kind="list"),
        prose("u3", "• a map of lakes.", 1, kind="list"),
    )
    text, _ = shown("What are the contributions?", page)
    assert "> - A survey of harbours,\n> - a map of lakes." in text


def test_a_program_is_no_hazard_ratio() -> None:
    code = "import numpy as np class Pricer(Model): ratio = 0.63 # of the last two prices"
    passages = [prose("u1", code, 1), prose("u2", "The trial enrolled adults with asthma.", 2)]
    text, citations = shown("What is the hazard ratio of death?", passages)
    assert text.startswith("No direct answer found.")
    assert all(citation.is_passage for citation in citations)


def test_a_duration_is_answered_with_a_length_of_time() -> None:
    manual = on_one_page(
        prose("u1", "Charging takes long with a cable of 5 volts and 2 amperes.", 1),
        prose("u2", "The kettle is fully charged within two hours.", 2, "Charging time"),
    )
    assert answered("How long does charging take?", manual)[1][0].alias == "u2"
    assert answered("How long does charging take?", manual[:1])[0][0].startswith("No direct answer found.")


def test_a_statement_on_a_later_page_is_not_put_under_the_section_before_it() -> None:
    heads = ("(in millions)", "2031", "2030")
    rows = headed(
        heads, row("u1", "Total assets", "$ 900", "$ 800", heads=heads, section="Forward-Looking Statements")
    )
    top = "Quay Ltd Consolidated Balance Sheets\n(in millions)"
    later = [replace(passage, heading=top) for passage in rows]
    text, _ = shown("What were the total assets in 2031?", later)
    assert "Quay Ltd Consolidated Balance Sheets" in text and "Forward-Looking" not in text


def test_without_a_year_only_the_latest_column_of_a_row_is_said() -> None:
    heads = ("(in thousands)", "January 28, 2032 (Unaudited)", "January 29, 2031")
    sheet = "Consolidated Balance Sheets"
    rows = headed(heads, row("u1", "Total assets", "$ 900", "$ 800", heads=heads, section=sheet))
    assert said("What were the total assets?", rows) == (
        "Total assets, January 28, 2032 (Unaudited): $900 thousand"
    )
    heads = ("(in thousands)", "Northern ferries 2032", "2031")
    rows = headed(heads, row("u1", "Ferry fuel", "$ 900", "$ 800", heads=heads))
    assert said("What was the ferry fuel?", rows) == ""
