"""An index of the words in documents' names alone, without those of their first pages."""

from django.contrib.postgres.indexes import GinIndex
from django.db import migrations
from django.db.models.expressions import RawSQL


class Migration(migrations.Migration):

    dependencies = [('retrieval', '0002_squashed')]

    operations = [
        migrations.AddIndex(
            model_name='indexeddocument',
            index=GinIndex(RawSQL("ts_filter(words, '{a}')", ()), name='document_names'),
        ),
    ]
