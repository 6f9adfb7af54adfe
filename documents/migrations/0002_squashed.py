"""Lines of pages, mixed chunks; no index of documents without a digest of their text."""

from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('documents', '0020_page_first_line'),
        ('documents', '0002_page_first_line'),
        ('documents', '0003_mixed_chunks'),
    ]

    dependencies = [
        ('documents', '0001_squashed'),
    ]

    operations = [
        migrations.AddField(
            model_name='page',
            name='first_line',
            field=models.IntegerField(default=0, help_text='number of its first line through the document'),
        ),
        migrations.AlterField(
            model_name='page',
            name='label',
            field=models.CharField(blank=True, help_text="printed on the page, else the PDF's page label: iv, A-3", max_length=40),
        ),
        migrations.RunSQL(
            """
            UPDATE documents_page SET first_line = first.line
            FROM (SELECT document_id, page_number, min(line_start) AS line
                  FROM documents_citationunit GROUP BY document_id, page_number) AS first
            WHERE first.document_id = documents_page.document_id
              AND first.page_number = documents_page.number
            """,
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(
            """
            UPDATE documents_retrievalchunk SET chunk_type = 'mixed'
            FROM (SELECT document_id, chunk_id FROM documents_citationunit
                  WHERE unit_type <> 'heading' AND chunk_id IS NOT NULL
                  GROUP BY document_id, chunk_id HAVING count(DISTINCT unit_type) > 1) AS several
            WHERE several.document_id = documents_retrievalchunk.document_id
              AND several.chunk_id = documents_retrievalchunk.id
            """,
            migrations.RunSQL.noop,
        ),
        migrations.RemoveIndex(
            model_name='document',
            name='text_not_digested',
        ),
    ]
