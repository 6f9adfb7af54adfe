"""What people ask of accounts, and what statements call it.

A question speaks of "capex"; the statement prints "Purchases of property, plant
and equipment". A ratio is in no statement at all: its parts are. This glossary
names the line items of financial statements (US GAAP and IFRS wording), where
each stands, and which of them a question needs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

Statement = Literal["income", "balance", "cash"]

STATEMENT_NAMES: dict[Statement, re.Pattern[str]] = {
    "income": re.compile(
        r"(statements?|summary) of (consolidated )?(net )?(income|earnings|operations|profit|loss)"
        r"|income statements?|profit (and|&) loss|\bp\s?&\s?l\b|earnings statements?",
        re.I,
    ),
    "balance": re.compile(
        r"balance sheets?|statements? of (consolidated )?financial (position|condition)", re.I
    ),
    "cash": re.compile(r"statements? of (consolidated )?cash flows?|cash flows? statements?", re.I),
}


@dataclass(frozen=True, slots=True)
class LineItem:
    """One line of a statement.

    Attributes:
        label: matches the row's label as statements print it.
        sql: a wider pattern for PostgreSQL (``~*``) that finds candidate rows.
        statement: where the line stands first of all.
    """

    name: str
    label: re.Pattern[str]
    sql: str
    statement: Statement


def _item(name: str, statement: Statement, label: str, sql: str = "") -> LineItem:
    return LineItem(name, re.compile(label, re.I), sql or label, statement)


REVENUE = _item(
    "revenue",
    "income",
    r"^(total )?(consolidated )?(net )?(operating )?(revenues?|sales)(,? net)?( and other income)?\b"
    r"(?! (growth|change|per|return|allowance|tax|commission|and (marketing|selling|distribution)))",
    r"^(total )?(consolidated )?(net )?(operating )?(revenues?|sales)",
)
COST_OF_SALES = _item(
    "cost of sales", "income", r"^(total )?costs? of (goods |products? )?(sales|sold|revenues?|services)"
)
GROSS_PROFIT = _item("gross profit", "income", r"^(adjusted )?gross (profit|margin)")
OPERATING_INCOME = _item(
    "operating income",
    "income",
    r"^(total |consolidated |adjusted )?(operating (income|profit|earnings|\(?loss)|(income|profit|earnings"
    r"|\(?loss\)?)[^|]{0,12} from operations)",
)
NET_INCOME = _item(
    "net income",
    "income",
    r"^(consolidated )?(net (income|earnings|profit|\(?loss)|profit (for|attributable))",
)
EPS = _item(
    "earnings per share",
    "income",
    r"(earnings|income|eps|loss).{0,40}per.{0,20}share|\beps\b|^(basic|diluted)",
)
SGA = _item(
    "SG&A", "income", r"^selling|^general and administrative|\bsg&a\b|selling, (general|informational)"
)
RESEARCH = _item("research and development", "income", r"^(total )?research|\br&d\b")
INTEREST = _item("interest expense", "income", r"^interest (expense|cost)|interest expense")
TAX = _item(
    "income tax", "income", r"^(provision|\(?benefit).{0,40}tax|^income tax(es)?\b|^effective.{0,20}tax"
)
PRETAX = _item("income before taxes", "income", r"(income|earnings|profit).{0,40}before.{0,40}tax")
EBITDA = _item("EBITDA", "income", r"\bebitda\b")
DEPRECIATION = _item("depreciation and amortization", "cash", r"^(total )?depreciation|^amortization")
CAPEX = _item(
    "capital expenditures",
    "cash",
    r"^(cash (paid|used) for )?(purchases?|acquisitions?|additions?|payments?|expenditures?|investments?|"
    r"capital)\b.{0,40}(property|plant|equipment|fixed assets|expenditures?)|^capital spending",
    r"(property|plant|equipment|capital expenditure|capital spending)",
)
OPERATING_CASH = _item(
    "operating cash flow",
    "cash",
    r"(net )?cash (flows? )?.{0,30}operat(ing|ions)( activities)?|^operating cash flow",
)
INVESTING_CASH = _item("investing cash flow", "cash", r"(net )?cash (flows? )?.{0,30}investing")
FINANCING_CASH = _item("financing cash flow", "cash", r"(net )?cash (flows? )?.{0,30}financing")
FREE_CASH = _item("free cash flow", "cash", r"free cash flow")
DIVIDENDS = _item("dividends paid", "cash", r"dividends?.{0,40}(paid|stockholders|shareholders|shareowners)?")
BUYBACKS = _item(
    "share repurchases",
    "cash",
    r"(repurchases?|purchases?|acquisitions?) of.{0,30}(stock|shares)|share repurchases?|treasury stock",
)
PPE = _item(
    "property, plant and equipment",
    "balance",
    r"^(total )?(net )?(property|plant)\b.{0,60}(equipment|net|plant)|^property\b|^fixed assets",
    r"^(total )?(net )?(property|plant|fixed assets)",
)
TOTAL_ASSETS = _item("total assets", "balance", r"^total assets")
CURRENT_ASSETS = _item("current assets", "balance", r"^total current assets")
CURRENT_LIABILITIES = _item("current liabilities", "balance", r"^total current liabilities")
LIABILITIES = _item("total liabilities", "balance", r"^total liabilities(?! and)")
INVENTORY = _item("inventory", "balance", r"^(total |merchandise )?(net )?inventor(y|ies)")
RECEIVABLES = _item("receivables", "balance", r"^(accounts?|trade|net|total)?.{0,24}receivables?")
PAYABLES = _item("payables", "balance", r"^(accounts?|trade)\b.{0,16}payables?")
CASH = _item(
    "cash", "balance", r"^(total )?cash( and cash equivalents|,|$| and)|^cash\b(?! (flow|paid|used))"
)
SECURITIES = _item(
    "marketable securities", "balance", r"^(total )?(marketable securities|short-term investments)"
)
DEBT = _item(
    "debt",
    "balance",
    r"^(total )?(long-term|short-term|current portion|current maturities|notes|loans|commercial paper)"
    r".{0,40}(debt|borrowings|payable|paper|maturities|portion)|^(total )?(debt|borrowings)",
    r"(debt|borrowings|notes payable|commercial paper)",
)
EQUITY = _item("equity", "balance", r"^total.{0,40}(equity|deficit)|^(share|stock)holders.{0,3} equity")
GOODWILL = _item("goodwill", "balance", r"^goodwill")

_PPE = r"\bppn?e\b|\bpp&e\b|property,? plant,? (and|&) equipment|property (and|&) equipment"
_SPENT_ON = (
    r"\b(spen(d|t|ds|ding)|pa(y|ys|id|ying|yments?)|invest(s|ed|ing|ments?)?|purchas(e|es|ed|ing)|buy|bought"
    r"|acquir(e|es|ed|ing)|acquisitions?|additions?)"
    r"(\s+(on|for|of|to|in|its|their|the|new|purchas(es|ing)|acquisitions?|acquiring|additions?))*\s+"
)
"""Money going out, and between it and what it went for no word of anything else."""

ASKED: tuple[tuple[str, tuple[LineItem, ...]], ...] = (
    (r"\bcap(ital)?[ -]?ex(penditures?)?\b|capital (expenditures?|spending|outlays?)", (CAPEX,)),
    (rf"{_SPENT_ON}({_PPE})", (CAPEX,)),
    (_PPE, (PPE,)),
    (r"fixed assets? turnover", (REVENUE, PPE)),
    (r"(?<!fixed )\b(total )?assets? turnover", (REVENUE, TOTAL_ASSETS)),
    (r"inventory turnover|days inventory|\bdio\b", (COST_OF_SALES, INVENTORY)),
    (r"days payables?|\bdpo\b|payables? turnover", (COST_OF_SALES, PAYABLES, INVENTORY)),
    (r"days sales|\bdso\b|receivables? turnover", (REVENUE, RECEIVABLES)),
    (r"cash conversion cycle|\bccc\b", (COST_OF_SALES, INVENTORY, RECEIVABLES, PAYABLES, REVENUE)),
    (r"quick ratio|acid[- ]test", (CURRENT_ASSETS, INVENTORY, CURRENT_LIABILITIES, CASH, RECEIVABLES)),
    (r"current ratio|working capital", (CURRENT_ASSETS, CURRENT_LIABILITIES)),
    (r"gross margins?|gross profits?", (GROSS_PROFIT, REVENUE, COST_OF_SALES)),
    (r"operating (income|profit|earnings)?\s*%?\s*margins?", (OPERATING_INCOME, REVENUE)),
    (r"net (profit|income) margins?|profit margins?", (NET_INCOME, REVENUE)),
    (r"ebitda", (EBITDA, OPERATING_INCOME, DEPRECIATION)),
    (r"free ?cash ?flow|\bfcf\b", (FREE_CASH, OPERATING_CASH, CAPEX, NET_INCOME)),
    (r"(cash )?flows? from operat|operating cash|cash from operations", (OPERATING_CASH,)),
    (r"operations,? investing,? and financing|(operating|investing|financing) activities",
     (OPERATING_CASH, INVESTING_CASH, FINANCING_CASH)),
    (r"dividends?|pay-?out ratio", (DIVIDENDS,)),
    (r"pay-?out ratio|retention ratio", (NET_INCOME,)),
    (r"repurchase|buy-?back|treasury (stock|shares)", (BUYBACKS,)),
    (r"return on assets|\broa\b", (NET_INCOME, TOTAL_ASSETS)),
    (r"return on equity|\broe\b", (NET_INCOME, EQUITY)),
    (r"interest coverage", (OPERATING_INCOME, INTEREST)),
    (r"debt.{0,4}to.{0,4}equity", (DEBT, EQUITY)),
    (r"effective tax|tax rate", (TAX, PRETAX)),
    (r"\bcogs\b|cost of (goods|sales|revenues?)", (COST_OF_SALES,)),
    (r"\bsg&a\b|selling,? general", (SGA,)),
    (r"\br&d\b|research and development", (RESEARCH,)),
    (r"\beps\b|earnings per share", (EPS,)),
    (r"depreciation|amortization|\bd&a\b", (DEPRECIATION,)),
    (r"operating (income|profit|earnings)(?!.{0,3}margin)", (OPERATING_INCOME,)),
    (r"net (income|earnings|profit|loss)(?! margin)", (NET_INCOME,)),
    (r"total assets", (TOTAL_ASSETS,)),
    (r"current assets", (CURRENT_ASSETS,)),
    (r"current liabilities", (CURRENT_LIABILITIES,)),
    (r"total liabilities", (LIABILITIES,)),
    (r"inventor(y|ies)(?! turnover)", (INVENTORY,)),
    (r"receivables?(?! turnover)", (RECEIVABLES,)),
    (r"accounts payable", (PAYABLES,)),
    (r"\bdebt\b|borrowings", (DEBT,)),
    (r"goodwill", (GOODWILL,)),
    (r"(total|shareholders.?|stockholders.?) equity", (EQUITY,)),
    (r"\brevenues?\b|net sales|total sales|\bturnover\b(?! ratio)|sales growth", (REVENUE,)),
    (r"cash and cash equivalents|cash balance|cash position", (CASH,)),
    (r"marketable securities|short-term investments", (SECURITIES,)),
    (r"interest expense", (INTEREST,)),
)  # fmt: skip
_ASKED = tuple((re.compile(pattern, re.I), items) for pattern, items in ASKED)
_WHOSE = (
    r"\s+((the|its|their|our)\s+)?"
    r"(([\w.&-]+['’]s?|consolidated|total|reported|annual|full[- ]year|year[- ]end|(fy\s?)?\d{2,4})\s+){0,3}"
)
_FOR_LINES = tuple(
    (re.compile(rf"\W*{before}{_WHOSE}", re.I), re.compile(rf"\W*{behind}", re.I))
    for before, behind in (
        (
            r"what('s|\s+(is|are|was|were))",
            r"($|\s(in|for|at|as|during|of|on|and|by|over|between|from|this|last|fy|q?\d))",
        ),
        (r"how\s+(did|do|does|have|has)", r"\s(chang|develop|evolv|gr[eo]w|increas|decreas|declin|compar)"),
    )
)
"""What stands before a line of the accounts, and after it, where the line itself is asked for."""
MOST_ITEMS = 5
LONGEST_STATEMENT_NAME = 170  # characters of a line that is a title and no sentence
_NO_STATEMENT = re.compile(
    r"comprehensive|\bnotes?\b|\bindex\b|supplement|(?<!share )\bdata\b|information|location|guarant", re.I
)


@cache
def items_asked(question: str) -> tuple[LineItem, ...]:
    """The line items a question needs, the ones it names first; at most five.

    A definition in the question ("defined as: revenue / average PP&E") names its
    own parts and so they are found like any other. Words inside a longer name
    name nothing themselves: "purchases of PP&E" is not the PP&E of the balance sheet.
    """
    named = [
        (match.span(), index)
        for index, (pattern, _) in enumerate(_ASKED)
        for match in pattern.finditer(question)
    ]
    spans = {span for span, _ in named}
    found: dict[str, LineItem] = {}
    for span, index in sorted(named, key=lambda place: (place[0][0], place[1])):
        if not any(is_inside(span, other) for other in spans):
            for item in _ASKED[index][1]:
                found.setdefault(item.name, item)
    return tuple(found.values())[:MOST_ITEMS]


def is_inside(span: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether a span is a part of a longer one."""
    return span != other and other[0] <= span[0] and span[1] <= other[1]


def asks_for_lines(question: str) -> bool:
    """Whether lines of the accounts answer it: what sales were, how they changed; not what drove them."""
    found = [match for pattern, _ in _ASKED if (match := pattern.search(question))]
    return any(
        before.fullmatch(question[: match.start()]) and behind.match(question, match.end())
        for match in found
        for before, behind in _FOR_LINES
    )


def statements_asked(question: str) -> frozenset[Statement]:
    """The statements a question points at by name."""
    return frozenset(name for name, pattern in STATEMENT_NAMES.items() if pattern.search(question))


def statement_of(heading: str) -> Statement | None:
    """The statement named by a line of its own in the words above a table; None when none is.

    A statement of comprehensive income is none of the three, and neither are
    the notes to them.
    """
    return _named(heading)[0]


def statement_over(top: str, below: str) -> tuple[Statement | None, str]:
    """The statement a row stands in, and the line that names it: of those on a page the nearest.

    ``top``: the words at the top of its page; ``below``: its heading further down. Where no statement
    begins the page, a section is called after one that only speaks of it.
    """
    first, nearer = _named(top), _named(below)
    return nearer if first[0] and nearer[0] else first


def _named(heading: str) -> tuple[Statement | None, str]:
    for line in heading.splitlines():
        if len(line) > LONGEST_STATEMENT_NAME or line.rstrip().endswith(".") or _NO_STATEMENT.search(line):
            continue
        for name, pattern in STATEMENT_NAMES.items():
            if pattern.search(line):
                return name, " ".join(line.split())
    return None, ""
