import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import pgvector.django.extensions
import pgvector.django.halfvec
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('retrieval', '0001_vector'),
        ('retrieval', '0002_initial'),
        ('retrieval', '0003_posting_by_term'),
        ('retrieval', '0004_searches_by_time'),
        ('retrieval', '0005_search_queries_in_words'),
        ('retrieval', '0006_derived_rows_unchecked'),
        ('retrieval', '0007_full_text'),
        ('retrieval', '0008_search_sources'),
        ('retrieval', '0009_saved_searches'),
        ('retrieval', '0010_moving_spaces'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('documents', '0001_squashed'),
    ]

    operations = [
        pgvector.django.extensions.VectorExtension(
        ),
        migrations.CreateModel(
            name='EmbeddingSpace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60, unique=True)),
                ('provider', models.CharField(max_length=20)),
                ('model', models.CharField(max_length=120)),
                ('dimensions', models.IntegerField()),
                ('active', models.BooleanField(default=False)),
                ('wanted', models.BooleanField(default=False, help_text='the library is moving into it')),
                ('busy_until', models.DateTimeField(help_text='a worker embeds for it, or waits after a failure', null=True)),
                ('failure', models.CharField(blank=True, help_text='why the last round of moving ended', max_length=200)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('active', True)), fields=('active',), name='one_active_space')],
            },
        ),
        migrations.CreateModel(
            name='ChunkVector',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('embedding', pgvector.django.halfvec.HalfVectorField()),
                ('chunk', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='vectors', to='documents.retrievalchunk')),
                ('document', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='vectors', to='documents.document')),
                ('space', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='vectors', to='retrieval.embeddingspace')),
            ],
            options={
                'indexes': [models.Index(fields=['document', 'space'], name='retrieval_c_documen_3c85fe_idx')],
                'constraints': [models.UniqueConstraint(fields=('chunk', 'space'), name='one_vector_per_space')],
            },
        ),
        migrations.CreateModel(
            name='IndexedChunk',
            fields=[
                ('pk', models.CompositePrimaryKey('document_id', 'chunk_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('chunk_id', models.UUIDField()),
                ('words', django.contrib.postgres.search.SearchVectorField(help_text="A the document's names, B headings and captions, D the body")),
                ('terms', models.BinaryField(help_text='``bm25.pack_terms``')),
                ('document', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='indexed_chunks', to='documents.document')),
            ],
            options={
                'indexes': [django.contrib.postgres.indexes.GinIndex(fields=['words'], name='chunk_words')],
            },
        ),
        migrations.CreateModel(
            name='IndexedDocument',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('chunk_count', models.IntegerField()),
                ('analysis_version', models.SmallIntegerField()),
                ('language', models.CharField(blank=True, help_text='in which its words were analysed', max_length=12)),
                ('fields', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, help_text='packs of ``domains`` that it is of', size=None)),
                ('names', models.TextField(blank=True, help_text='what people may call the document and its makers')),
                ('words', django.contrib.postgres.search.SearchVectorField(help_text='A names, D abstract and first page', null=True)),
                ('name_terms', models.BinaryField(default=bytes, help_text='``bm25.pack_terms`` of the names')),
                ('cover_terms', models.BinaryField(default=bytes, help_text='of the abstract and the first page')),
                ('indexed_at', models.DateTimeField(auto_now=True)),
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='keyword_index', to='documents.document')),
            ],
            options={
                'indexes': [django.contrib.postgres.indexes.GinIndex(fields=['words'], name='document_words')],
            },
        ),
        migrations.CreateModel(
            name='SavedSearch',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('query', models.TextField(help_text='q=tides&year=1998')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='saved_searches', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'saved searches',
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('user', 'name'), name='one_saved_search_of_a_name')],
            },
        ),
        migrations.CreateModel(
            name='SearchQuery',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('query', models.TextField()),
                ('query_type', models.CharField(choices=[('search', 'Search'), ('question', 'Question'), ('follow_up', 'follow-up question')], default='search', max_length=10)),
                ('source', models.CharField(choices=[('page', 'search page'), ('api', 'API'), ('chat', 'conversation')], default='page', max_length=6)),
                ('derived', models.JSONField(blank=True, default=dict)),
                ('filters', models.JSONField(blank=True, default=dict)),
                ('strategies', models.JSONField(blank=True, default=list, help_text='[{name, ran, ms, added, reason}, …]')),
                ('hit_count', models.IntegerField(default=0)),
                ('milliseconds', models.FloatField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('parent', models.ForeignKey(blank=True, help_text='the search that a follow-up question rests on', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='follow_ups', to='retrieval.searchquery')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='searches', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'search queries',
                'ordering': ['-created_at'],
                'indexes': [models.Index(fields=['user', '-created_at'], name='retrieval_s_user_id_504a06_idx'), models.Index(fields=['created_at'], name='retrieval_s_created_868454_idx')],
            },
        ),
        migrations.RunSQL(
            sql='ALTER TABLE retrieval_indexedchunk ALTER COLUMN words SET STATISTICS 1000',
            reverse_sql='',
        ),
    ]
