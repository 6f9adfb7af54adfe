"""Postings with an index that holds all a search reads. `manage.py backfill` writes them anew."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0002_initial")]

    operations = [
        migrations.DeleteModel("Posting"),
        migrations.CreateModel(
            "Posting",
            [
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "entry_id",
                        "term",
                        "part",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("term", models.IntegerField()),
                ("part", models.SmallIntegerField(help_text="from 0; a row must fit an index entry")),
                ("packed", models.BinaryField()),
                (
                    "entry",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="postings",
                        to="retrieval.indexeddocument",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["term"], include=["entry", "packed"], name="postings_by_term")
                ]
            },
        ),
    ]
