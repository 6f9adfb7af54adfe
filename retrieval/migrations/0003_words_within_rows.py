from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0002_windows_of_chunks")]
    # Rows of up to 8 KB stay whole, where PostgreSQL would move words from 2 KB on to another table: matching
    # a document's chunks reads a fifth of the pages. Rows that are there stay as they are.
    operations = [
        migrations.RunSQL(
            "ALTER TABLE retrieval_indexedchunk SET (toast_tuple_target = 8160)",
            "ALTER TABLE retrieval_indexedchunk RESET (toast_tuple_target)",
        )
    ]
