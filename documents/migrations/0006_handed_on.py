"""Places that rest on the document's owner are told from those that were handed on."""

from django.db import migrations, models

NAME_THE_OWNERS = """
UPDATE documents_document_collections m SET handed_on = false
FROM documents_document d, documents_collection c
WHERE d.id = m.document_id AND c.id = m.collection_id AND COALESCE(m.added_by_id, c.owner_id) = d.owner_id
"""


class Migration(migrations.Migration):
    dependencies = [("documents", "0005_rights")]

    operations = [
        migrations.AddField(
            model_name="placement",
            name="handed_on",
            field=models.BooleanField(default=True, help_text="false: added by the document's owner, so that no chain need be followed"),
        ),
        migrations.RunSQL(NAME_THE_OWNERS, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="placement",
            index=models.Index(condition=models.Q(("handed_on", True)), fields=["collection"], name="handed_on_by_collection"),
        ),
    ]
