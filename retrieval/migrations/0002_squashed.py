"""Windows of long chunks; rows of words that stay whole up to 8 KB.

PostgreSQL would move words from 2 KB on to another table: matching a document's chunks reads a fifth of the
pages. Rows that are there stay as they are.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('retrieval', '0002_windows_of_chunks'),
        ('retrieval', '0003_words_within_rows'),
    ]

    dependencies = [
        ('documents', '0002_squashed'),
        ('retrieval', '0001_squashed'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='chunkvector',
            name='one_vector_per_space',
        ),
        migrations.AddField(
            model_name='chunkvector',
            name='window',
            field=models.SmallIntegerField(db_default=0, help_text='which part of the chunk, from 0'),
        ),
        migrations.AddConstraint(
            model_name='chunkvector',
            constraint=models.UniqueConstraint(fields=('chunk', 'document', 'space', 'window'), name='one_vector_per_window'),
        ),
        migrations.RunSQL(
            "ALTER TABLE retrieval_indexedchunk SET (toast_tuple_target = 8160)",
            "ALTER TABLE retrieval_indexedchunk RESET (toast_tuple_target)",
        ),
    ]
