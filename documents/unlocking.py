"""A file that needs a password, once somebody gives it: kept from then on as it is without.

The password itself is kept nowhere: not on the row, not in the queue, not in a log.
"""

from __future__ import annotations

from django.core.files.base import ContentFile

from documents.configured import parse_limits
from documents.models import Document
from documents.pdf.parsing import without_password
from documents.reading import local_file


def unlock(document: Document, password: str) -> None:
    """Stores the file without its password in place of it. Raises ParseFailure when the password is wrong.

    ``sha256`` stays that of the file which was uploaded: the same file is still recognised as the same.
    """
    locked, storage = str(document.file.name), document.file.storage
    with local_file(document.file) as path:
        data = without_password(path, password, limits=parse_limits())
    document.file.save("", ContentFile(data), save=False)
    same = Document.objects.filter(pk=document.pk, file=locked, deleted_at=None)
    replaced = same.update(file=document.file.name)
    storage.delete(locked if replaced else str(document.file.name))
