"""Links have an end, and know the documents their answers were made from.

Links that are open now end thirty days after this migration, like new ones.
"""

import chat.models.conversation
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
from django.db import migrations, models

NAME_THE_DOCUMENTS = """
UPDATE chat_answershare link SET document_ids = ARRAY(
    SELECT DISTINCT COALESCE(citation.document_id, '00000000-0000-0000-0000-000000000000')
    FROM chat_citation citation WHERE citation.message_id = link.message_id)
"""


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0005_verdicts_found_and_computed"),
        ("documents", "0005_rights"),
    ]

    operations = [
        migrations.AddField(
            model_name="answershare",
            name="document_ids",
            field=django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), blank=True, default=list, help_text="the documents the answer cites and was made from; those deleted since close the link", size=None),
        ),
        migrations.AddField(
            model_name="answershare",
            name="expires_at",
            field=models.DateTimeField(blank=True, default=chat.models.conversation.end_of_link, help_text="null: never", null=True),
        ),
        migrations.RunSQL(NAME_THE_DOCUMENTS, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="answershare",
            index=django.contrib.postgres.indexes.GinIndex(fields=["document_ids"], name="answer_share_documents"),
        ),
    ]
