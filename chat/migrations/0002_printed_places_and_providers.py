"""Printed places, connected providers; reviews leave for an app of their own, which renames their tables."""

from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('chat', '0023_citation_printed_place'),
        ('chat', '0024_durability_binned'),
        ('chat', '0025_provider_connections'),
    ]

    dependencies = [
        ('chat', '0001_squashed'),
        ('documents', '0002_page_first_line'),
    ]

    operations = [
        migrations.AddField(
            model_name='citation',
            name='first_line',
            field=models.IntegerField(default=0, help_text='of the page, numbered through the document'),
        ),
        migrations.AddField(
            model_name='citation',
            name='page_label',
            field=models.CharField(blank=True, help_text='the printed page number', max_length=40),
        ),
        migrations.AlterField(
            model_name='citation',
            name='line_start',
            field=models.IntegerField(default=0, help_text='numbered through the document'),
        ),
        migrations.RunSQL(
            """
            UPDATE chat_citation SET first_line = page.first_line, page_label = page.label
            FROM documents_page AS page
            WHERE page.document_id = chat_citation.document_id AND page.number = chat_citation.page_number
            """,
            migrations.RunSQL.noop,
        ),
        migrations.AlterField(
            model_name='annotation',
            name='durability',
            field=models.CharField(choices=[('same', 'as when it was cited'), ('moved', 'the same words, elsewhere in the document'), ('changed', 'the document now says something else here'), ('gone', 'the words are no longer in the document'), ('binned', 'its document is in the bin')], default='same', max_length=8),
        ),
        migrations.AlterField(
            model_name='citation',
            name='durability',
            field=models.CharField(choices=[('same', 'as when it was cited'), ('moved', 'the same words, elsewhere in the document'), ('changed', 'the document now says something else here'), ('gone', 'the words are no longer in the document'), ('binned', 'its document is in the bin')], default='same', max_length=8),
        ),
        migrations.CreateModel(
            name='ProviderConnection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=20, unique=True)),
                ('encrypted_key', models.TextField(blank=True)),
                ('base_url', models.CharField(blank=True, max_length=200)),
                ('model', models.CharField(max_length=200)),
                ('is_default', models.BooleanField(default=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('is_default', True)), fields=('is_default',), name='chat_one_default_provider')],
            },
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel(name)
                for name in (
                    'ReviewMark',
                    'ReviewCellVersion',
                    'ReviewShare',
                    'ReviewCell',
                    'ReviewRow',
                    'ReviewColumn',
                    'ReviewTemplate',
                    'Review',
                )
            ]
        ),
    ]
