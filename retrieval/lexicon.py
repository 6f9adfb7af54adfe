"""What people call things, and what documents call them.

General knowledge of three fields whose questions and pages use different words
(finance, research papers, contracts), each line ``asked = written; written``.
A line says nothing of any one document. The accounting identities (a quick
ratio is made of current assets, inventories and current liabilities) are those
of any introductory text on financial statement analysis.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from retrieval.analysis import terms_of

STATEMENTS = """
balance sheet, statement of financial position, financial position = consolidated balance sheets; statements of financial position; total assets; total current assets; total current liabilities; total liabilities; total liabilities and equity; stockholders equity
income statement, profit and loss statement, p&l, p&l statement, statement of income, statement of operations, statement of earnings = consolidated statements of income; consolidated statements of operations; consolidated statements of earnings; net sales; total revenues; operating income; income before income taxes; provision for income taxes; net income; earnings per share basic diluted
cash flow statement, statement of cash flows, cashflow statement = consolidated statements of cash flows; net cash provided by operating activities; net cash used in investing activities; net cash used in financing activities; depreciation and amortization
statement of comprehensive income = consolidated statements of comprehensive income; other comprehensive income; foreign currency translation
statement of stockholders equity, shareholders equity = consolidated statements of stockholders equity; shareholders equity; retained earnings; total equity
"""

MEASURES = """
capex, capital expenditure, capital spending = purchases of property plant and equipment; additions to property plant and equipment; capital expenditures; investing activities
ppe, pp&e, ppne, ppande, fixed assets, net ppe = property plant and equipment net; property and equipment net
fixed asset turnover = property plant and equipment net; net revenues; total assets
asset turnover = total assets; net sales; total revenues
inventory turnover, days inventory outstanding, dio = inventories; cost of sales; cost of goods sold
payable turnover, days payable outstanding, dpo = accounts payable; cost of sales; cost of goods sold; inventories
receivable turnover, days sales outstanding, dso = accounts receivable net; net sales; revenues
cash conversion cycle = inventories; accounts receivable; accounts payable; cost of sales; net sales
working capital, net working capital = total current assets; total current liabilities
quick ratio, acid test = cash and cash equivalents; accounts receivable; total current assets; total current liabilities; inventories
current ratio, liquidity ratio, working capital ratio = total current assets; total current liabilities
cash ratio = cash and cash equivalents; total current liabilities
debt to equity, leverage, capital structure = long-term debt; short-term debt; total equity
debt, indebtedness, borrowings = long-term debt; short-term debt; current portion of long-term debt; notes payable
interest coverage = interest expense; operating income; income before income taxes
gross margin, gross profit margin = gross profit; cost of sales; cost of revenue; net sales
operating margin, operating profit margin, operating income margin = operating income; total revenue; income from operations
net margin, profit margin, net profit margin, net income margin = net income; net earnings; total revenue; net sales
ebitda, ebitda margin = operating income; depreciation and amortization; net income; interest expense; income taxes
ebit = operating income; earnings before interest and taxes
free cash flow, free cashflow, fcf, cash flow conversion, cashflow conversion = net cash provided by operating activities; purchases of property and equipment; capital expenditures
operating cash flow, cash from operations = net cash provided by operating activities
cogs, cost of goods sold = cost of sales; cost of revenue; cost of products sold; cost of goods sold
sales, revenue, turnover, top line = net sales; total revenues; net revenues; revenue
profit, bottom line, earnings = net income; net earnings
net income, net earnings, net profit = net income; net earnings; net income attributable
operating income, operating profit = operating income; income from operations; operating profit
sg&a, sga = selling general and administrative expenses
r&d = research and development
d&a = depreciation and amortization
eps = earnings per share; diluted
dividend payout, payout ratio, retention ratio = dividends paid; net income
dividends = dividends paid; cash dividends; payment of dividends
buyback, buybacks, share repurchase, stock repurchase, repurchases = repurchases of common stock; purchases of treasury stock; share repurchase program
return on assets, roa = net income; total assets
return on equity, roe = net income; total equity; shareholders equity
effective tax rate, tax rate = provision for income taxes; income before income taxes; effective tax rate
organic growth, real growth, real change, constant currency growth = organic; constant currency; excluding impact; comparable
fx, forex, foreign exchange = foreign currency; currency exchange; exchange rates
m&a, acquisition, acquisitions, acquired, takeover = acquisitions; business combination; acquired; purchase price
divestiture, spin off, spinoff, separation, disposal = divestitures; discontinued operations; disposition; separation
guidance, outlook, forecast = guidance; outlook; expects; full year
headcount, workforce = employees; human capital
restructuring = restructuring charges; severance; restructuring liability
lawsuit, litigation, legal battles, legal proceedings = legal proceedings; litigation; contingencies; legal matters
risk, risks = risk factors
segment, segments = reportable segments; segment information; business segments
geography, geographies, region, regions = geographic; united states; international; emea; asia pacific
customer concentration, major customers = customers accounted for; percent of net sales
registered securities, registered debt = securities registered pursuant to section 12(b); title of each class; trading symbol; exchange on which registered
auditor = independent registered public accounting firm
board, directors, nominees = election of directors; nominees; board of directors
votes, voted = votes for; votes against; abstentions; broker non-votes
ceo, chief executive = chief executive officer; president
cfo = chief financial officer
industry, business = business overview; principal products; leader in
products, services = products and services; principal products
lease, leases = operating lease; right-of-use assets; lease liabilities
pension, retirement plan = pension; postretirement benefits; defined benefit
goodwill, intangibles = goodwill; intangible assets
stock compensation, share based compensation, sbc = stock-based compensation; share-based compensation
store count, stores = number of stores; stores opened; stores closed
"""

PAPERS = """
sample size, how many participants, how many patients, number of participants = participants; patients enrolled; n =; randomized; included
side effects, adverse effects, safety = adverse events; serious adverse events; tolerability
outcome, endpoint = primary outcome; primary endpoint; secondary endpoint
limitations, weaknesses = limitations; limitation of this study
dataset, data = dataset; data collection; corpus
baseline, compared with = baseline; comparison; outperforms
accuracy, performance = results; accuracy; f1; evaluation
funding = funding; supported by; grant
conflict of interest = competing interests; conflicts of interest; disclosure
future work = future work; future research
hyperparameters, training setup = learning rate; batch size; epochs; optimizer
"""

CONTRACTS = """
terminate, end the agreement, cancel = termination; terminate; notice of termination
term, duration, how long = term; commencement date; expiration; renewal
liability cap, limit of liability = limitation of liability; aggregate liability
who pays, price, fee = fees; payment; invoice; consideration
confidentiality, nda = confidential information; non-disclosure
which law, jurisdiction = governing law; jurisdiction; venue
breach = breach; default; remedies
penalty = liquidated damages; penalty; late payment
"""

ASKING_WORDS = frozenset(
    term
    for term in terms_of(
        """answer question respond response reply please tell say state explain describe list give provide show
        shown use using utilize utilizing utilise base based basing rely relying judgment judgments refer
        referencing according accordance agreement account taking outline outlined stated state mentioned
        clearly plainly primarily mainly only within information details detail data assume assuming
        perspective public equities equity analyst investor investment ask asked something like company
        companies business useful metric metrics relevant need calculate calculation calculated compute extract draw drawing
        conclusions round rounded decimal place places unit units usd dollars million millions billion billions thousand
        thousands percent percents percentage define defined equal equals amount number exact approximation
        reasonable possible average year years fiscal fy much many end major historically roughly substantially
        report filing document paper text"""
    )
)
"""Words that tell how to answer, not what to look for; they count a little, not nothing."""


class Concept(NamedTuple):
    """``asked``: term sequences that call it; ``written``: term sequences that documents use."""

    asked: tuple[tuple[str, ...], ...]
    written: tuple[tuple[str, ...], ...]


@cache
def concepts() -> tuple[Concept, ...]:
    lines = (STATEMENTS + MEASURES + PAPERS + CONTRACTS).strip().splitlines()
    return tuple(_concept(line) for line in lines if line)


def _concept(line: str) -> Concept:
    asked, written = line.split(" = ", 1)
    return Concept(
        tuple(tuple(terms_of(phrase)) for phrase in asked.split(",")),
        tuple(tuple(terms_of(phrase)) for phrase in written.split(";")),
    )


def concepts_in(terms: Sequence[str]) -> Iterator[Concept]:
    """Concepts that the terms call, by any of their names as consecutive terms."""
    grams = {tuple(terms[at : at + size]) for size in range(1, 6) for at in range(len(terms) - size + 1)}
    return (concept for concept in concepts() if any(name in grams for name in concept.asked))
