"""Three contracts written for `contract_cells.jsonl`, drawn as PDFs: `python contracts.py DIR`."""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

import pymupdf

LEASE = """\
Residential Tenancy Agreement
This tenancy agreement is made on 14 May 2023 between Maria Okafor (the "Landlord") and Jonas Lindqvist \
(the "Tenant").
1. The premises
1.1 The Landlord lets the flat at 12 Quarry Lane, Dunmore, to the Tenant as a private dwelling.
2. Term
2.1 The tenancy begins on 1 June 2023 and runs for eighteen months.
2.2 The tenancy is extended by six months each time unless a party objects at least forty-five days before \
its end.
3. Rent and deposit
3.1 The rent is EUR 1,180 a month, payable in advance by the third day of each month.
3.2 The Tenant pays a deposit of EUR 2,360, which the Landlord returns within 21 days after the end of the \
tenancy.
3.3 The rent may be raised once a year by no more than 3%.
4. Use
4.1 The Tenant may keep one cat or one small dog. Other animals need the Landlord's consent.
4.2 The Tenant shall not sublet the premises or any part of them.
5. Repairs
5.1 The Tenant bears the cost of small repairs up to EUR 100 each and EUR 300 a year.
5.2 The Landlord shall begin urgent repairs within 24 hours after the Tenant reports them.
6. Ending the tenancy
6.1 The Tenant may end the tenancy by giving three months' notice in writing.
6.2 The Landlord may end the tenancy at once if the rent of two months is unpaid.
7. Law
7.1 This agreement is subject to the law of Ireland.
"""

SUBSCRIPTION = """\
Software Subscription Agreement
Entered into as of October 2, 2022, by and between Bluefin Robotics Inc. ("Customer") and Tessellate \
Software GmbH ("Provider").
1. Definitions
"Availability" means the share of minutes of a month in which the Platform responds to requests.
"Loss" means any damage, cost or expense.
2. Access
2.1 Provider grants Customer a non-exclusive right to use the Platform for up to 250 named users.
2.2 Customer shall not resell access to the Platform.
3. Service levels
3.1 Availability shall be at least 99.5% in each calendar month.
3.2 Provider shall answer critical incidents within four hours, and other incidents within two business days.
4. Charges
4.1 The subscription fee is $86,400 per year, invoiced annually in advance.
4.2 Invoices are due 60 days after receipt.
4.3 Amounts that are overdue bear interest at 1.5% per month.
5. Term and termination
5.1 The initial term is three years from the date above.
5.2 Notice of non-renewal must be given ninety days before the end of the then current term.
5.3 Either party may terminate for cause on thirty days' written notice if the other does not cure a \
material breach.
6. Security incidents
6.1 Provider shall inform Customer of any unauthorised access to Customer data no later than 36 hours after \
it is discovered.
7. Limitation of liability
7.1 Nothing in this Agreement excludes liability for wilful misconduct.
7.2 Otherwise Provider's aggregate liability is capped at the fees paid in the preceding six months.
8. Miscellaneous
8.1 Neither party may assign this Agreement without the other's consent.
8.2 This Agreement shall be construed in accordance with the laws of the State of Delaware.
8.3 All disputes shall be settled by arbitration in Hamburg under the rules of the ICC.
"""

EMPLOYMENT = """\
Contract of Employment
between Fernhill Dairy Cooperative ("the Employer") and Priya Raman ("the Employee"), \
signed on 9 January 2025.
1. Post
The Employee is engaged as laboratory technician at the Employer's site in Halden.
2. Start and probation
Employment starts on 3 February 2025. The first four months are a probationary period.
3. Hours and leave
The working week is 37.5 hours. The Employee is entitled to 27 days of paid leave in each calendar year.
4. Pay
The salary is GBP 31,250 a year, paid on the last working day of each month. Overtime is paid at one and a \
half times the hourly rate.
5. Pension
The Employer contributes 8% of salary to the pension scheme; the Employee contributes 5%.
6. Sickness
Absence must be reported before 9 a.m. on the first day. A doctor's certificate is required after seven \
days.
7. Confidentiality
The Employee shall not disclose recipes, processes or customer lists during employment or for two years \
after it.
8. Notice
During the probationary period either party may end the employment with one week's notice. After it the \
notice period is two months.
9. Competing work
For six months after leaving, the Employee shall not work for a dairy within 50 kilometres of the site.
"""

CONTRACTS = {"lease": LEASE, "subscription": SUBSCRIPTION, "employment": EMPLOYMENT}
STYLE = "body { font-family: sans-serif; font-size: 10.5pt; } h1 { font-size: 16pt; } h2 { font-size: 12pt; }"


def html_of(text: str) -> str:
    title, *lines = text.splitlines()
    parts = [f"<h1>{escape(title)}</h1>"]
    for line in lines:
        is_heading = line[0].isdigit() and line.split()[0].endswith(".") and not line.endswith(".")
        parts.append(f"<h2>{escape(line)}</h2>" if is_heading else f"<p>{escape(line)}</p>")
    return "".join(parts)


def draw(folder: Path) -> None:
    """Write one PDF for each contract."""
    paper = pymupdf.paper_rect("a4")
    frame = pymupdf.Rect(60, 60, paper.width - 60, paper.height - 60)  # points
    for name, text in CONTRACTS.items():
        story = pymupdf.Story(html=html_of(text), user_css=STYLE)
        story.write_with_links(lambda number, filled: (paper, frame, None)).save(folder / f"{name}.pdf")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
