import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0021_tour_and_regions'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='annotation',
            name='context',
            field=models.TextField(blank=True, help_text='the words with their surroundings, for re-anchoring'),
        ),
        migrations.AlterField(
            model_name='annotation',
            name='quote',
            field=models.TextField(blank=True, help_text='the words as printed'),
        ),
        migrations.AlterField(
            model_name='annotation',
            name='source',
            field=models.IntegerField(blank=True, help_text="xref of the PDF's annotation that this one replaces", null=True),
        ),
        migrations.AlterField(
            model_name='answershare',
            name='document_ids',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), blank=True, default=list, help_text="documents of the answer's citations and prompt; the link closes when one is deleted", size=None),
        ),
        migrations.AlterField(
            model_name='citation',
            name='feedback',
            field=models.CharField(blank=True, help_text="'right' or 'wrong', by a user", max_length=8),
        ),
        migrations.AlterField(
            model_name='citation',
            name='judged_by',
            field=models.CharField(blank=True, help_text='the model that judged the claim, if no rule could compare it', max_length=120),
        ),
        migrations.AlterField(
            model_name='citation',
            name='judgement',
            field=models.CharField(blank=True, choices=[('supported', 'judged to be supported'), ('unsupported', 'judged not to be supported')], help_text='its verdict', max_length=12),
        ),
        migrations.AlterField(
            model_name='citation',
            name='number',
            field=models.IntegerField(help_text='the superscript, in order of first use in the conversation'),
        ),
        migrations.AlterField(
            model_name='citation',
            name='quote',
            field=models.TextField(help_text="the anchor's words as printed"),
        ),
        migrations.AlterField(
            model_name='conversation',
            name='rag_config',
            field=models.JSONField(blank=True, default=dict, help_text='search settings of its questions: retrieval.results.RagConfig'),
        ),
        migrations.AlterField(
            model_name='message',
            name='alive_at',
            field=models.DateTimeField(blank=True, help_text='heartbeat of its writer', null=True),
        ),
        migrations.AlterField(
            model_name='message',
            name='asked_region',
            field=models.JSONField(blank=True, help_text='part of a page that the question refers to: Region', null=True),
        ),
        migrations.AlterField(
            model_name='message',
            name='pages_left',
            field=models.IntegerField(default=0, help_text='pages of its documents that awaited OCR when it was written'),
        ),
        migrations.AlterField(
            model_name='message',
            name='rag_config',
            field=models.JSONField(blank=True, default=dict, help_text="search settings of an answer's question; {} for the server's"),
        ),
        migrations.AlterField(
            model_name='message',
            name='standalone_question',
            field=models.TextField(blank=True, help_text='the question as searched: without references to earlier ones'),
        ),
        migrations.AlterField(
            model_name='message',
            name='takeovers',
            field=models.SmallIntegerField(default=0, help_text='number of writers that died'),
        ),
        migrations.AlterField(
            model_name='message',
            name='writer',
            field=models.UUIDField(blank=True, help_text='id of the process that writes it', null=True),
        ),
        migrations.AlterField(
            model_name='readingplace',
            name='rotation',
            field=models.SmallIntegerField(default=0, help_text='degrees by which the user rotated the pages'),
        ),
        migrations.AlterField(
            model_name='review',
            name='joins',
            field=models.BooleanField(default=True, help_text='new documents of the collection or search are added as rows'),
        ),
        migrations.AlterField(
            model_name='review',
            name='tokens_left',
            field=models.BigIntegerField(blank=True, help_text='tokens that a model may still use; null: no limit', null=True),
        ),
        migrations.AlterField(
            model_name='reviewcell',
            name='alive_at',
            field=models.DateTimeField(blank=True, help_text='heartbeat of its worker', null=True),
        ),
        migrations.AlterField(
            model_name='reviewcell',
            name='mark',
            field=models.CharField(blank=True, choices=[('accepted', 'Accepted'), ('wrong', 'Wrong')], help_text='mark by a user', max_length=10),
        ),
        migrations.AlterField(
            model_name='reviewcell',
            name='revision',
            field=models.IntegerField(default=0, help_text='number of changes, for optimistic locking'),
        ),
        migrations.AlterField(
            model_name='reviewcell',
            name='usage',
            field=models.JSONField(blank=True, default=dict, help_text='seconds, and tokens if a model was used'),
        ),
        migrations.AlterField(
            model_name='reviewcolumn',
            name='note',
            field=models.CharField(blank=True, help_text='for readers, not part of the question', max_length=1000),
        ),
        migrations.AlterField(
            model_name='reviewrow',
            name='added_by',
            field=models.ForeignKey(help_text='the user whose access rights apply when its cells are filled', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
    ]
