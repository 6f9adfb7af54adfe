"""Forms of the pages for papers: by hand, from a list, and what a document says of itself."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from documents.models import Document
from documents.scholarly.record import PaperRecord, bare_arxiv_id, bare_doi

LONGEST_LIST = 5_000_000  # bytes of a list of references


class WorkForm(forms.Form):
    """What is known of a work; authors stand one on each line."""

    title = forms.CharField(label=_("Title"), max_length=500)
    authors = forms.CharField(
        label=_("Authors"),
        required=False,
        help_text=_("One on each line"),
        widget=forms.Textarea({"rows": 3}),
    )
    year = forms.IntegerField(label=_("Year"), required=False, min_value=0, max_value=3000)
    venue = forms.CharField(label=_("Journal or conference"), required=False, max_length=300)
    doi = forms.CharField(label=_("DOI"), required=False, max_length=300)
    arxiv_id = forms.CharField(label=_("arXiv id"), required=False, max_length=200)
    abstract = forms.CharField(
        label=_("Abstract"), required=False, max_length=20_000, widget=forms.Textarea({"rows": 6})
    )
    tldr = forms.CharField(label=_("In short"), required=False, max_length=2000)

    @classmethod
    def of(cls, document: Document) -> WorkForm:
        paper = document.metadata.get("paper", {})
        own = {name: getattr(document, name) for name in ("title", "year", "doi", "abstract", "tldr")}
        said = {"venue": paper.get("venue", ""), "arxiv_id": paper.get("arxiv_id", "")}
        return cls(initial=own | said | {"authors": "\n".join(document.authors)})

    def clean_authors(self) -> tuple[str, ...]:
        lines = (line.strip()[:200] for line in self.cleaned_data["authors"].splitlines())
        return tuple(line for line in lines if line)[:500]

    def clean_doi(self) -> str:
        return self._identifier("doi", bare_doi)

    def clean_arxiv_id(self) -> str:
        return self._identifier("arxiv_id", bare_arxiv_id)

    def _identifier(self, name: str, bare: Any) -> str:
        typed = self.cleaned_data[name]
        found: str = bare(typed)
        if typed and not found:
            raise forms.ValidationError(_("This is not a valid identifier."))
        return found

    @property
    def record(self) -> PaperRecord:
        return PaperRecord(**self.cleaned_data)

    def save_to(self, document: Document) -> None:
        """What was written is the document's own from now on: reading it again changes none of it."""
        said = self.record
        document.title, document.authors, document.year = said.title, list(said.authors), said.year
        document.doi, document.abstract, document.tldr = said.doi[:200], said.abstract, said.tldr
        paper = {**document.metadata.get("paper", {}), "venue": said.venue, "arxiv_id": said.arxiv_id}
        document.metadata = {**document.metadata, "paper": paper}
        document.save(
            update_fields=["title", "authors", "year", "doi", "abstract", "tldr", "metadata", "updated_at"]
        )


class ListForm(forms.Form):
    """A list of references, pasted or as a file."""

    text = forms.CharField(
        label=_("BibTeX, RIS or CSL-JSON"),
        required=False,
        widget=forms.Textarea({"rows": 8, "spellcheck": "false"}),
    )
    file = forms.FileField(label=_("or a file of them"), required=False)

    def clean(self) -> dict[str, Any]:
        file: UploadedFile | None = self.cleaned_data.get("file")
        if file is not None and (file.size or 0) > LONGEST_LIST:
            raise forms.ValidationError(_("This list is too long."))
        text = file.read().decode("utf-8", "replace") if file else self.cleaned_data.get("text", "")
        if not text.strip():
            raise forms.ValidationError(_("Paste a list, or choose a file."))
        return {"text": text}
