from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('documents', '0002_page_first_line'),
    ]

    operations = [
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
    ]
