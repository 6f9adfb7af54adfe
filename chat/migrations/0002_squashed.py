"""Printed places, providers, differences, reports; reviews leave for an app of their own, which renames their tables."""

import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('chat', '0023_citation_printed_place'),
        ('chat', '0024_durability_binned'),
        ('chat', '0025_provider_connections'),
        ('chat', '0002_printed_places_and_providers'),
        ('chat', '0003_citation_difference'),
        ('chat', '0004_report'),
        ('chat', '0005_report_cancelled'),
    ]

    dependencies = [
        ('chat', '0001_squashed'),
        ('documents', '0002_squashed'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
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
        migrations.AddField(
            model_name='citation',
            name='difference',
            field=models.JSONField(blank=True, default=list, help_text="what the claim and the page say, if they differ: ['5 mg', '5 g']"),
        ),
        migrations.CreateModel(
            name='Report',
            fields=[
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('report', 'Report'), ('versions', 'Versions')], default='report', max_length=10)),
                ('title', models.CharField(help_text='the question of a report', max_length=1000)),
                ('documents', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), blank=True, default=list, help_text='in order; of a report, none is the library', size=None)),
                ('outline', models.JSONField(blank=True, default=list)),
                ('provider', models.CharField(blank=True, help_text="'' is the server's default", max_length=20)),
                ('most_tokens', models.BigIntegerField(blank=True, help_text='null: no limit', null=True)),
                ('most_minutes', models.IntegerField(blank=True, help_text='null: no limit', null=True)),
                ('tokens', models.BigIntegerField(default=0, help_text='used so far')),
                ('seconds', models.FloatField(default=0, help_text='worked so far')),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('waiting', 'Waiting'), ('running', 'In progress'), ('paused', 'Paused'), ('done', 'Ready'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='draft', max_length=10)),
                ('result', models.JSONField(blank=True, null=True)),
                ('error', models.CharField(blank=True, max_length=300)),
                ('attempts', models.IntegerField(default=0)),
                ('alive_at', models.DateTimeField(blank=True, help_text='heartbeat of its worker', null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('note', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reports', to='chat.note')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reports', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
                'indexes': [models.Index(fields=['owner', '-created_at'], name='chat_report_owner_i_7935c3_idx')],
            },
        ),
    ]
