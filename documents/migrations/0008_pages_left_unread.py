"""Pages for which there was no time wait for their recognition; a worker goes on with them by itself."""

from __future__ import annotations

from django.db import migrations

# What such pages said until now.
OUT_OF_TIME = "The text of this page was not recognised yet: the time for this document ran out."
TAKE_UP = """
WITH unread AS (
    UPDATE documents_page SET awaits = 'page', failure = '' WHERE failure = %s
    RETURNING document_id
), counted AS (
    SELECT document_id, count(*) AS pages FROM unread GROUP BY document_id
)
UPDATE documents_document document
SET pages_waiting = counted.pages,
    status = CASE WHEN status = 'ready' THEN 'recognising' ELSE status END,
    failed_pages = coalesce(
        (SELECT jsonb_agg(entry) FROM jsonb_array_elements(failed_pages) entry WHERE entry ->> 1 <> %s), '[]'
    )
FROM counted WHERE document.id = counted.document_id
"""


class Migration(migrations.Migration):
    dependencies = [("documents", "0007_recognition")]
    operations = [
        migrations.RunSQL([(TAKE_UP, [OUT_OF_TIME, OUT_OF_TIME])], migrations.RunSQL.noop),
    ]
