"""Reviews get an app of their own; their tables, which the app ``chat`` made, are renamed."""

import django.contrib.postgres.fields
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models
from django.db.migrations.operations.base import Operation


TABLES = (
    "review",
    "reviewcell",
    "reviewcell_citations",
    "reviewcellversion",
    "reviewcolumn",
    "reviewmark",
    "reviewrow",
    "reviewshare",
    "reviewtemplate",
)
# Rights of groups are those of a content type.
RENAME_TYPES = "UPDATE django_content_type SET app_label = '{}' WHERE app_label = '{}' AND model LIKE 'review%'"


def rename(old: str, new: str) -> list[str]:
    return [f"ALTER TABLE {old}_{table} RENAME TO {new}_{table}" for table in TABLES]


OPERATIONS: list[Operation] = [
    migrations.CreateModel(
        name='Review',
        fields=[
            ('deleted_at', models.DateTimeField(blank=True, null=True)),
            ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
            ('name', models.CharField(max_length=200)),
            ('joins', models.BooleanField(default=True, help_text='new documents of the collection or search are added as rows')),
            ('blind', models.BooleanField(default=False, help_text='reviewers see only their own marks and comments')),
            ('tokens_left', models.BigIntegerField(blank=True, help_text='tokens that a model may still use; null: no limit', null=True)),
            ('provider', models.CharField(blank=True, help_text="'' is the server's default", max_length=20)),
            ('created_at', models.DateTimeField(auto_now_add=True)),
            ('updated_at', models.DateTimeField(auto_now=True)),
            ('collection', models.ForeignKey(blank=True, help_text='its documents become rows', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reviews', to='documents.collection')),
            ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reviews', to=settings.AUTH_USER_MODEL)),
            ('search', models.ForeignKey(blank=True, help_text='the documents it finds become rows', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reviews', to='retrieval.savedsearch')),
        ],
        options={
            'ordering': ['-updated_at'],
            'indexes': [models.Index(fields=['owner', '-updated_at'], name='reviews_rev_owner_i_d83d14_idx')],
        },
    ),
    migrations.CreateModel(
        name='ReviewColumn',
        fields=[
            ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
            ('position', models.IntegerField(default=0)),
            ('title', models.CharField(max_length=120)),
            ('question', models.CharField(max_length=1000)),
            ('kind', models.CharField(choices=[('text', 'Text'), ('number', 'Number'), ('money', 'Money'), ('date', 'Date'), ('boolean', 'Yes or no'), ('choice', 'One of a list'), ('choices', 'Several of a list')], default='text', max_length=10)),
            ('unit', models.CharField(blank=True, help_text='of a number: “mg”, “%”', max_length=40)),
            ('choices', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=120), blank=True, default=list, size=None)),
            ('note', models.CharField(blank=True, help_text='for readers, not part of the question', max_length=1000)),
            ('review', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='columns', to='reviews.review')),
        ],
        options={
            'ordering': ['review', 'position'],
            'constraints': [models.UniqueConstraint(fields=('review', 'title'), name='one_column_per_title')],
        },
    ),
    migrations.CreateModel(
        name='ReviewRow',
        fields=[
            ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
            ('title', models.CharField(blank=True, help_text='of a document that was deleted for good', max_length=500)),
            ('position', models.IntegerField(default=0)),
            ('created_at', models.DateTimeField(auto_now_add=True)),
            ('added_by', models.ForeignKey(help_text='the user whose access rights apply when its cells are filled', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ('document', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='review_rows', to='documents.document')),
            ('review', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='reviews.review')),
        ],
        options={
            'ordering': ['review', 'position'],
            'constraints': [models.UniqueConstraint(fields=('review', 'document'), name='one_row_per_document')],
        },
    ),
    migrations.CreateModel(
        name='ReviewCell',
        fields=[
            ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
            ('state', models.CharField(choices=[('empty', 'Not asked'), ('waiting', 'Waiting'), ('running', 'Being filled'), ('found', 'Found'), ('not_stated', 'Not stated'), ('unclear', 'Unclear'), ('failed', 'Failed'), ('stale', 'Out of date')], default='empty', max_length=10)),
            ('value', models.JSONField(blank=True, null=True)),
            ('text', models.TextField(blank=True)),
            ('answered_by', models.CharField(blank=True, help_text="a provider, or a user's name", max_length=150)),
            ('by_person', models.BooleanField(default=False, help_text='a person wrote the value')),
            ('mark', models.CharField(blank=True, choices=[('accepted', 'Accepted'), ('wrong', 'Wrong')], help_text='mark by a user', max_length=10)),
            ('comment', models.CharField(blank=True, max_length=2000)),
            ('error', models.CharField(blank=True, max_length=300)),
            ('usage', models.JSONField(blank=True, default=dict, help_text='seconds, and tokens if a model was used')),
            ('document_sha256', models.CharField(blank=True, help_text='of the file it was read from', max_length=64)),
            ('attempts', models.IntegerField(default=0)),
            ('alive_at', models.DateTimeField(blank=True, help_text='heartbeat of its worker', null=True)),
            ('revision', models.IntegerField(default=0, help_text='number of changes, for optimistic locking')),
            ('updated_at', models.DateTimeField(auto_now=True)),
            ('citations', models.ManyToManyField(blank=True, related_name='review_cells', to='chat.citation')),
            ('marked_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ('column', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cells', to='reviews.reviewcolumn')),
            ('row', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cells', to='reviews.reviewrow')),
        ],
        options={
            'ordering': ['row', 'column'],
            'indexes': [models.Index(condition=models.Q(('state__in', ['waiting', 'running'])), fields=['row'], name='unfilled_review_cells')],
            'constraints': [models.UniqueConstraint(fields=('row', 'column'), name='one_cell_per_row_and_column')],
        },
    ),
    migrations.CreateModel(
        name='ReviewCellVersion',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('state', models.CharField(max_length=10)),
            ('value', models.JSONField(null=True)),
            ('text', models.TextField(blank=True)),
            ('answered_by', models.CharField(blank=True, max_length=150)),
            ('mark', models.CharField(blank=True, max_length=10)),
            ('created_at', models.DateTimeField(auto_now_add=True)),
            ('cell', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='reviews.reviewcell')),
        ],
        options={
            'ordering': ['cell', '-pk'],
        },
    ),
    migrations.CreateModel(
        name='ReviewMark',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('mark', models.CharField(blank=True, choices=[('accepted', 'Accepted'), ('wrong', 'Wrong')], max_length=10)),
            ('comment', models.CharField(blank=True, max_length=2000)),
            ('revealed', models.BooleanField(default=False)),
            ('updated_at', models.DateTimeField(auto_now=True)),
            ('cell', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='marks', to='reviews.reviewcell')),
            ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='review_marks', to=settings.AUTH_USER_MODEL)),
        ],
        options={
            'ordering': ['cell', 'pk'],
            'constraints': [models.UniqueConstraint(fields=('cell', 'user'), name='one_blind_mark_a_reviewer')],
        },
    ),
    migrations.CreateModel(
        name='ReviewTemplate',
        fields=[
            ('deleted_at', models.DateTimeField(blank=True, null=True)),
            ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
            ('name', models.CharField(max_length=200)),
            ('columns', models.JSONField(default=list)),
            ('created_at', models.DateTimeField(auto_now_add=True)),
            ('updated_at', models.DateTimeField(auto_now=True)),
            ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='review_templates', to=settings.AUTH_USER_MODEL)),
        ],
        options={
            'ordering': ['name', 'created_at'],
        },
    ),
    migrations.CreateModel(
        name='ReviewShare',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('can_write', models.BooleanField(default=False)),
            ('created_at', models.DateTimeField(auto_now_add=True)),
            ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='auth.group')),
            ('review', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='reviews.review')),
            ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ('template', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='reviews.reviewtemplate')),
        ],
        options={
            'constraints': [models.CheckConstraint(condition=models.Q(('review', None), ('template', None), _connector='XOR'), name='review_share_of_one_thing'), models.CheckConstraint(condition=models.Q(('user', None), ('group', None), _connector='XOR'), name='review_share_one_party'), models.UniqueConstraint(fields=('review', 'user'), name='one_review_share_user'), models.UniqueConstraint(fields=('review', 'group'), name='one_review_share_group'), models.UniqueConstraint(fields=('template', 'user'), name='one_template_share_user'), models.UniqueConstraint(fields=('template', 'group'), name='one_template_share_group')],
        },
    ),
]


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('chat', '0002_squashed'),
        ('documents', '0002_squashed'),
        ('retrieval', '0001_squashed'),
        ('contenttypes', '0002_remove_content_type_name'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            [
                migrations.RunSQL(rename("chat", "reviews"), rename("reviews", "chat")),
                migrations.RunSQL(
                    "ALTER INDEX chat_review_owner_i_98fb22_idx RENAME TO reviews_rev_owner_i_d83d14_idx",
                    "ALTER INDEX reviews_rev_owner_i_d83d14_idx RENAME TO chat_review_owner_i_98fb22_idx",
                ),
                migrations.RunSQL(
                    RENAME_TYPES.format("reviews", "chat"), RENAME_TYPES.format("chat", "reviews")
                ),
            ],
            OPERATIONS,
        ),
    ]
