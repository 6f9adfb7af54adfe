"""Documents in collections get the user who put them there; a thing is shared with each party once.

Who put a document into a collection was not recorded. It was the collection's owner (null), unless only
the document's owner can have been: then the right that the collection gives rests on that owner's.
"""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

NAME_THE_OWNER = """
UPDATE documents_document_collections m SET added_by_id = d.owner_id
FROM documents_document d, documents_collection c
WHERE d.id = m.document_id AND c.id = m.collection_id AND d.owner_id <> c.owner_id
AND EXISTS (
    SELECT FROM documents_share s WHERE s.collection_id = c.id AND s.can_write
    AND (s.user_id = d.owner_id OR s.group_id IN (
        SELECT group_id FROM auth_user_groups WHERE user_id = d.owner_id)))
AND NOT EXISTS (
    SELECT FROM documents_share s WHERE s.document_id = d.id AND s.can_write
    AND (s.user_id = c.owner_id OR s.group_id IN (
        SELECT group_id FROM auth_user_groups WHERE user_id = c.owner_id)))
"""
DROP_DUPLICATES = """
DELETE FROM documents_share old USING documents_share new
WHERE (old.created_at, old.id) < (new.created_at, new.id)
AND old.document_id IS NOT DISTINCT FROM new.document_id
AND old.collection_id IS NOT DISTINCT FROM new.collection_id
AND old.user_id IS NOT DISTINCT FROM new.user_id
AND old.group_id IS NOT DISTINCT FROM new.group_id
"""


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("documents", "0004_previous_version"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Placement",
                    fields=[
                        ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                        ("document", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="placements", to="documents.document")),
                        ("collection", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="placements", to="documents.collection")),
                    ],
                    options={
                        "db_table": "documents_document_collections",
                        "unique_together": {("document", "collection")},
                    },
                ),
                migrations.AlterField(
                    model_name="document",
                    name="collections",
                    field=models.ManyToManyField(blank=True, related_name="documents", through="documents.Placement", to="documents.collection"),
                ),
            ]
        ),
        migrations.AddField(
            model_name="placement",
            name="added_by",
            field=models.ForeignKey(blank=True, help_text="null: the collection's owner", null=True, on_delete=django.db.models.deletion.CASCADE, related_name="placements", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="placement",
            name="added_at",
            field=models.DateTimeField(auto_now_add=True, default=django.utils.timezone.now),
            preserve_default=False,
        ),
        migrations.RunSQL([NAME_THE_OWNER, DROP_DUPLICATES], migrations.RunSQL.noop),
        *(
            migrations.AddConstraint(
                model_name="share",
                constraint=models.UniqueConstraint(fields=(shared, party), name=f"one_share_of_{shared}_with_{party}"),
            )
            for shared in ("document", "collection")
            for party in ("user", "group")
        ),
    ]
