import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import documents.models.document
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('documents', '0001_initial'),
        ('documents', '0002_original'),
        ('documents', '0003_reading_on'),
        ('documents', '0004_previous_version'),
        ('documents', '0005_rights'),
        ('documents', '0006_handed_on'),
        ('documents', '0007_recognition'),
        ('documents', '0008_pages_left_unread'),
        ('documents', '0009_security'),
        ('documents', '0010_jobs'),
        ('documents', '0011_units_from_pictures'),
        ('documents', '0012_one_engine'),
        ('documents', '0013_imported_locations'),
        ('documents', '0014_jobs_beside'),
        ('documents', '0015_text_digest'),
        ('documents', '0016_job_labels'),
        ('documents', '0017_pictures_in_scans'),
        ('documents', '0018_plain_help_texts'),
        ('documents', '0019_plain_event_labels'),
    ]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('pdf', 'PDF'), ('paper', 'paper known by its metadata')], default='pdf', max_length=8)),
                ('title', models.CharField(max_length=500)),
                ('authors', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, size=None)),
                ('year', models.SmallIntegerField(blank=True, null=True)),
                ('abstract', models.TextField(blank=True)),
                ('tldr', models.TextField(blank=True)),
                ('doi', models.CharField(blank=True, max_length=200)),
                ('language', models.CharField(blank=True, max_length=12)),
                ('metadata', models.JSONField(blank=True, default=dict)),
                ('file', models.FileField(blank=True, max_length=200, upload_to=documents.models.document.storage_name)),
                ('original', models.FileField(blank=True, help_text='the uploaded file, if it was no PDF and was converted', max_length=200, upload_to=documents.models.document.original_storage_name)),
                ('original_name', models.CharField(blank=True, max_length=255)),
                ('source_url', models.URLField(blank=True, max_length=2000)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('size', models.BigIntegerField(default=0, help_text='bytes')),
                ('text_layer', models.FileField(blank=True, help_text='copy of the file with an OCR text layer', max_length=200, upload_to=documents.models.document.storage_name)),
                ('thumbnail', models.ImageField(blank=True, max_length=200, upload_to='thumbnails/')),
                ('status', models.CharField(choices=[('uploaded', 'waiting'), ('parsing', 'reading pages'), ('indexing', 'indexing'), ('recognising', 'reading scanned pages'), ('ready', 'ready'), ('failed', 'failed')], default='uploaded', max_length=12)),
                ('progress', models.FloatField(default=0, help_text='0..1 of the current stage')),
                ('failure_code', models.CharField(blank=True, choices=[('not_a_pdf', 'This file is not a PDF. Upload the PDF itself, or export it as PDF first.'), ('damaged', 'This PDF is damaged and cannot be read. Download it again, or save a new copy.'), ('no_pages', 'This PDF has no pages.'), ('password_protected', 'This PDF needs a password. Enter it, or upload a copy without one.'), ('no_text', 'No text could be found or recognised in this PDF.'), ('too_large', 'This file is larger than this server accepts.'), ('too_many_pages', 'This PDF has more pages than this server accepts. Split it first.'), ('took_too_long', 'Reading this PDF took too long. It may be damaged or very complex.'), ('too_much_memory', 'Reading this PDF took too much memory. It may be damaged.'), ('embedding_failed', 'The text was read, but the embedding service did not answer. Try again in a few minutes.'), ('internal', 'Something went wrong on the server while reading this PDF. Try again.')], max_length=24)),
                ('failure_message', models.CharField(blank=True, max_length=200)),
                ('failed_pages', models.JSONField(blank=True, default=list, help_text='[[page number, reason], …]')),
                ('page_count', models.IntegerField(default=0)),
                ('pages_waiting', models.IntegerField(default=0, help_text='scanned pages that await OCR')),
                ('pictures_waiting', models.IntegerField(default=0, help_text='pages with pictures that await OCR')),
                ('text_digest', models.CharField(editable=False, help_text="of the text of all pages; '' when it is short or incomplete, null until it is computed", max_length=32, null=True)),
                ('word_count', models.IntegerField(default=0)),
                ('unit_count', models.IntegerField(default=0)),
                ('chunk_count', models.IntegerField(default=0)),
                ('table_count', models.IntegerField(default=0)),
                ('hidden_word_count', models.IntegerField(default=0)),
                ('outline', models.JSONField(blank=True, default=list, help_text='[[level, title, page], …]')),
                ('parser_name', models.CharField(blank=True, max_length=20)),
                ('parser_version', models.CharField(blank=True, max_length=40)),
                ('stage_seconds', models.JSONField(blank=True, default=dict)),
                ('attempts', models.SmallIntegerField(default=0)),
                ('lease', models.UUIDField(blank=True, null=True)),
                ('lease_expires_at', models.DateTimeField(blank=True, null=True)),
                ('lease_holder', models.CharField(blank=True, help_text='host:process id', max_length=120)),
                ('started_at', models.DateTimeField(blank=True, help_text='when work on it last began', null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('indexed_at', models.DateTimeField(blank=True, null=True)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='documents', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='TemporaryPassword',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='temporary_password', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('holder', models.CharField(help_text='host:process id of the watchdog', max_length=120, primary_key=True, serialize=False)),
                ('started_at', models.DateTimeField(auto_now_add=True)),
                ('seen_at', models.DateTimeField()),
                ('restarts', models.IntegerField(default=0, help_text='restarts of the queue by the watchdog')),
            ],
            options={
                'ordering': ['-seen_at'],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80)),
                ('prefix', models.CharField(help_text="the key's first characters, to tell tokens apart", max_length=8)),
                ('digest', models.CharField(help_text='SHA-256 of the key', max_length=64, unique=True)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('read', 'read documents, search, read answers'), ('write', 'upload, change and delete'), ('ask', 'ask questions')], max_length=8), default=list, size=None)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Collection',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('colour', models.CharField(default='blue', max_length=20)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='collections', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='PreviousVersion',
            fields=[
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='previous_version', serialize=False, to='documents.document')),
                ('kind', models.CharField(max_length=8)),
                ('file', models.FileField(blank=True, max_length=200, upload_to=documents.models.document.storage_name)),
                ('original', models.FileField(blank=True, max_length=200, upload_to=documents.models.document.original_storage_name)),
                ('text_layer', models.FileField(blank=True, max_length=200, upload_to=documents.models.document.storage_name)),
                ('thumbnail', models.FileField(blank=True, max_length=200, upload_to='')),
                ('original_name', models.CharField(blank=True, max_length=255)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('size', models.BigIntegerField(default=0)),
                ('page_count', models.IntegerField(default=0)),
                ('indexed_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='IdempotencyKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(max_length=200)),
                ('key', models.CharField(max_length=200)),
                ('fingerprint', models.CharField(help_text='SHA-256 of the request', max_length=64)),
                ('status', models.SmallIntegerField(null=True)),
                ('body', models.JSONField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('title', models.TextField(help_text="the document's title when the job began")),
                ('kind', models.CharField(choices=[('read', 'Read'), ('reread', 'Re-process'), ('embed', 'Embed again'), ('import', 'Import blocks'), ('fetch', 'Download full text'), ('index', 'Index again')], max_length=10)),
                ('outcome', models.CharField(blank=True, choices=[('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], max_length=10)),
                ('attempts', models.IntegerField(default=0)),
                ('stage_seconds', models.JSONField(default=dict)),
                ('failure_code', models.CharField(blank=True, max_length=30)),
                ('failure_message', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('document', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='jobs', to='documents.document')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Page',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.IntegerField(help_text='from 1')),
                ('label', models.CharField(blank=True, help_text="the PDF's page label: iv, A-3", max_length=40)),
                ('width', models.FloatField(help_text='of the CropBox, page space, not rotated')),
                ('height', models.FloatField()),
                ('rotation', models.SmallIntegerField(default=0, help_text='degrees clockwise')),
                ('crop_x', models.FloatField(default=0, help_text='lower left corner of the CropBox in PDF user space')),
                ('crop_y', models.FloatField(default=0)),
                ('user_unit', models.FloatField(default=1)),
                ('text', models.TextField(blank=True)),
                ('word_boxes', models.BinaryField(default=bytes, help_text='packed by pdf.word_boxes')),
                ('furniture', models.JSONField(default=list, help_text='[{text, char_start, char_end, rects}, …]')),
                ('figures', models.JSONField(default=list, help_text='[{rect, caption}, …]')),
                ('ocr', models.BooleanField(default=False)),
                ('recognised', models.BinaryField(default=bytes, help_text='packed OCR result, kept for the next parsing')),
                ('awaits', models.CharField(blank=True, choices=[('page', 'OCR of the whole page'), ('pictures', 'OCR of pictures on a page with text')], help_text='what still awaits OCR', max_length=8)),
                ('tries', models.SmallIntegerField(default=0, help_text='failed OCR attempts')),
                ('wanted_at', models.DateTimeField(blank=True, help_text='when a user last requested the page', null=True)),
                ('confidence', models.FloatField(default=1)),
                ('hidden_words', models.IntegerField(default=0)),
                ('failure', models.CharField(blank=True, max_length=200)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pages', to='documents.document')),
            ],
            options={
                'ordering': ['document', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Placement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('added_at', models.DateTimeField(auto_now_add=True)),
                ('handed_on', models.BooleanField(default=True, help_text="false: added by the document's owner, on whose right alone it depends")),
                ('added_by', models.ForeignKey(blank=True, help_text="null: the collection's owner", null=True, on_delete=django.db.models.deletion.CASCADE, related_name='placements', to=settings.AUTH_USER_MODEL)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='placements', to='documents.collection')),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='placements', to='documents.document')),
            ],
            options={
                'db_table': 'documents_document_collections',
            },
        ),
        migrations.AddField(
            model_name='document',
            name='collections',
            field=models.ManyToManyField(blank=True, related_name='documents', through='documents.Placement', to='documents.collection'),
        ),
        migrations.CreateModel(
            name='RateCount',
            fields=[
                ('key', models.CharField(max_length=160, primary_key=True, serialize=False)),
                ('window_start', models.BigIntegerField(help_text='seconds since 1970')),
                ('count', models.IntegerField()),
            ],
            options={
                'indexes': [models.Index(fields=['window_start'], name='documents_r_window__f054d3_idx')],
            },
        ),
        migrations.CreateModel(
            name='RetrievalChunk',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('index', models.IntegerField(help_text='position in the document, from 0')),
                ('unit_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ('content', models.TextField()),
                ('context_header', models.TextField(blank=True, help_text='title › section path › table caption')),
                ('summary', models.TextField(blank=True, help_text='written by a language model, if one is configured')),
                ('chunk_type', models.CharField(default='prose', max_length=12)),
                ('section_path', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('section_type', models.CharField(blank=True, max_length=20)),
                ('page_start', models.IntegerField()),
                ('page_end', models.IntegerField()),
                ('token_count', models.IntegerField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chunks', to='documents.document')),
            ],
            options={
                'ordering': ['document', 'index'],
            },
        ),
        migrations.CreateModel(
            name='CitationUnit',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('position', models.IntegerField(help_text='reading order through the document, from 0')),
                ('page_number', models.IntegerField(help_text='from 1')),
                ('paragraph_index', models.IntegerField(help_text='reading order in the page, from 0')),
                ('content', models.TextField()),
                ('unit_type', models.CharField(choices=[('prose', 'Prose'), ('heading', 'Heading'), ('list', 'List'), ('table', 'Table'), ('code', 'Code'), ('caption', 'Caption'), ('footnote', 'Footnote'), ('formula', 'Formula'), ('abstract', 'Abstract')], default='prose', max_length=10)),
                ('char_start', models.IntegerField()),
                ('char_end', models.IntegerField()),
                ('line_start', models.IntegerField(help_text='through the document, from 1')),
                ('line_end', models.IntegerField()),
                ('bbox', django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=4)),
                ('rects', django.contrib.postgres.fields.ArrayField(base_field=django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=4), default=list, help_text='one per line', size=None)),
                ('heading_level', models.SmallIntegerField(null=True)),
                ('section_title', models.TextField(blank=True)),
                ('section_path', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('section_type', models.CharField(blank=True, max_length=20)),
                ('from_picture', models.BooleanField(default=False, help_text='recognised in a picture on a page with text')),
                ('continues', models.BooleanField(default=False, help_text='continues the unit before it')),
                ('table_index', models.IntegerField(null=True)),
                ('table_row', models.IntegerField(null=True)),
                ('cells', models.JSONField(help_text='a structure.TableRow as JSON; null when not in a table', null=True)),
                ('list_style', models.CharField(blank=True, max_length=20)),
                ('code_language', models.CharField(blank=True, max_length=20)),
                ('location', models.JSONField(help_text='a structure.Location as JSON; of imported blocks', null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='units', to='documents.document')),
                ('chunk', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='units', to='documents.retrievalchunk')),
            ],
            options={
                'ordering': ['document', 'position'],
            },
        ),
        migrations.CreateModel(
            name='SecurityEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('kind', models.CharField(choices=[('signed_in', 'signed in'), ('sign_in_failed', 'sign-in failed'), ('locked_out', 'locked out after too many attempts'), ('signed_out', 'signed out'), ('sessions_ended', 'sessions ended'), ('password_changed', 'password changed'), ('factor_added', 'second factor added'), ('factor_removed', 'second factor removed'), ('factor_failed', 'second factor wrong'), ('token_made', 'API token created'), ('token_ended', 'API token revoked'), ('shared', 'shared'), ('share_ended', 'share ended'), ('link_made', 'link created'), ('link_ended', 'link revoked'), ('exported', 'exported'), ('user_made', 'user created'), ('user_deleted', 'user deleted'), ('rights_changed', 'permissions changed')], max_length=20)),
                ('username', models.CharField(blank=True, max_length=150)),
                ('address', models.GenericIPAddressField(null=True)),
                ('detail', models.CharField(blank=True, max_length=500)),
                ('user', models.ForeignKey(help_text='the acting user', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='security_events', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='Share',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('can_write', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('collection', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='documents.collection')),
                ('document', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='documents.document')),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='auth.group')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shares', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Tag',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60)),
                ('colour', models.CharField(default='grey', max_length=20)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tags', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.AddField(
            model_name='document',
            name='tags',
            field=models.ManyToManyField(blank=True, related_name='documents', to='documents.tag'),
        ),
        migrations.AddConstraint(
            model_name='collection',
            constraint=models.UniqueConstraint(fields=('owner', 'name'), name='one_collection_per_name'),
        ),
        migrations.AddConstraint(
            model_name='idempotencykey',
            constraint=models.UniqueConstraint(fields=('owner', 'path', 'key'), name='one_answer_per_key'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(fields=['owner', '-created_at'], name='documents_j_owner_i_165b44_idx'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(condition=models.Q(('finished_at', None), models.Q(('kind__in', ['fetch', 'index']), _negated=True)), fields=('document',), name='one_unfinished_round'),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(condition=models.Q(('awaits', ''), _negated=True), fields=['document'], name='pages_to_recognise'),
        ),
        migrations.AddConstraint(
            model_name='page',
            constraint=models.UniqueConstraint(fields=('document', 'number'), name='one_page_per_number'),
        ),
        migrations.AddIndex(
            model_name='placement',
            index=models.Index(condition=models.Q(('handed_on', True)), fields=['collection'], name='handed_on_by_collection'),
        ),
        migrations.AlterUniqueTogether(
            name='placement',
            unique_together={('document', 'collection')},
        ),
        migrations.AddConstraint(
            model_name='retrievalchunk',
            constraint=models.UniqueConstraint(fields=('document', 'index'), name='one_chunk_per_index'),
        ),
        migrations.AddIndex(
            model_name='citationunit',
            index=models.Index(fields=['document', 'position'], name='documents_c_documen_30eceb_idx'),
        ),
        migrations.AddIndex(
            model_name='citationunit',
            index=models.Index(fields=['document', 'table_index', 'table_row'], name='documents_c_documen_a2f747_idx'),
        ),
        migrations.AddConstraint(
            model_name='citationunit',
            constraint=models.UniqueConstraint(fields=('document', 'page_number', 'paragraph_index'), name='one_unit_per_place'),
        ),
        migrations.AddIndex(
            model_name='securityevent',
            index=models.Index(fields=['-at'], name='documents_s_at_9293c8_idx'),
        ),
        migrations.AddIndex(
            model_name='securityevent',
            index=models.Index(fields=['kind', '-at'], name='documents_s_kind_4b115d_idx'),
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.CheckConstraint(condition=models.Q(('document', None), ('collection', None), _connector='XOR'), name='share_of_one_thing'),
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.CheckConstraint(condition=models.Q(('user', None), ('group', None), _connector='XOR'), name='share_with_one_party'),
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.UniqueConstraint(fields=('document', 'user'), name='one_share_of_document_with_user'),
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.UniqueConstraint(fields=('document', 'group'), name='one_share_of_document_with_group'),
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.UniqueConstraint(fields=('collection', 'user'), name='one_share_of_collection_with_user'),
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.UniqueConstraint(fields=('collection', 'group'), name='one_share_of_collection_with_group'),
        ),
        migrations.AddConstraint(
            model_name='tag',
            constraint=models.UniqueConstraint(fields=('owner', 'name'), name='one_tag_per_name'),
        ),
        migrations.AddIndex(
            model_name='document',
            index=models.Index(fields=['owner', '-created_at'], name='documents_d_owner_i_13f3b4_idx'),
        ),
        migrations.AddIndex(
            model_name='document',
            index=models.Index(fields=['status', 'lease_expires_at'], name='documents_d_status_727660_idx'),
        ),
        migrations.AddIndex(
            model_name='document',
            index=models.Index(condition=models.Q(('text_digest__gt', '')), fields=['text_digest'], name='same_text'),
        ),
        migrations.AddIndex(
            model_name='document',
            index=models.Index(condition=models.Q(('text_digest', None)), fields=['-created_at'], name='text_not_digested'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.UniqueConstraint(condition=models.Q(('deleted_at', None), models.Q(('sha256', ''), _negated=True)), fields=('owner', 'sha256'), name='one_copy_per_owner'),
        ),
    ]
