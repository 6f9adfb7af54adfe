import chat.models.conversation
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('chat', '0001_initial'),
        ('chat', '0002_initial'),
        ('chat', '0003_created_at'),
        ('chat', '0004_notes_own_their_citations'),
        ('chat', '0005_verdicts_found_and_computed'),
        ('chat', '0006_links_end'),
        ('chat', '0007_citations_matched_and_judged'),
        ('chat', '0008_citation_judgement'),
        ('chat', '0009_answers_tell_pages_left'),
        ('chat', '0010_verdicts_in_plain_words'),
        ('chat', '0011_rag_config'),
        ('chat', '0012_annotations'),
        ('chat', '0013_reading_place'),
        ('chat', '0014_annotation_strokes'),
        ('chat', '0015_imported_locations'),
        ('chat', '0016_reviews'),
        ('chat', '0017_answers_taken_up'),
        ('chat', '0018_review_tokens_left'),
        ('chat', '0019_review_templates'),
        ('chat', '0020_review_rows_and_marks'),
        ('chat', '0021_tour_and_regions'),
        ('chat', '0022_plain_help_texts'),
    ]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('documents', '0001_squashed'),
        ('retrieval', '0001_squashed'),
    ]

    operations = [
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('title', models.CharField(blank=True, max_length=200)),
                ('scope', models.CharField(choices=[('documents', 'chosen documents'), ('collection', 'a collection'), ('library', 'the whole library')], default='library', max_length=10)),
                ('provider', models.CharField(blank=True, help_text="'' is the server's default", max_length=20)),
                ('model', models.CharField(blank=True, max_length=120)),
                ('rag_config', models.JSONField(blank=True, default=dict, help_text='search settings of its questions: retrieval.results.RagConfig')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('collection', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='conversations', to='documents.collection')),
                ('documents', models.ManyToManyField(blank=True, related_name='conversations', to='documents.document')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='conversations', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-updated_at'],
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('position', models.IntegerField(help_text='order in the conversation, from 0')),
                ('role', models.CharField(choices=[('user', 'User'), ('assistant', 'Assistant')], max_length=10)),
                ('content', models.TextField(blank=True)),
                ('status', models.CharField(choices=[('pending', 'waiting'), ('streaming', 'being written'), ('complete', 'Complete'), ('incomplete', 'stopped before its end'), ('failed', 'Failed')], default='complete', max_length=10)),
                ('provider', models.CharField(blank=True, max_length=20)),
                ('model', models.CharField(blank=True, max_length=120)),
                ('usage', models.JSONField(blank=True, default=dict)),
                ('sources', models.JSONField(blank=True, default=list, help_text='unit ids shown to the model, in order')),
                ('uncited', models.JSONField(blank=True, default=list, help_text='[[start, end], …] claims without citation')),
                ('pages_left', models.IntegerField(default=0, help_text='pages of its documents that awaited OCR when it was written')),
                ('rag_config', models.JSONField(blank=True, default=dict, help_text="search settings of an answer's question; {} for the server's")),
                ('error', models.CharField(blank=True, max_length=500)),
                ('standalone_question', models.TextField(blank=True, help_text='the question as searched: without references to earlier ones')),
                ('asked_region', models.JSONField(blank=True, help_text='part of a page that the question refers to: Region', null=True)),
                ('alive_at', models.DateTimeField(blank=True, help_text='heartbeat of its writer', null=True)),
                ('writer', models.UUIDField(blank=True, help_text='id of the process that writes it', null=True)),
                ('takeovers', models.SmallIntegerField(default=0, help_text='number of writers that died')),
                ('cancel_requested', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='chat.conversation')),
            ],
            options={
                'ordering': ['conversation', 'position'],
            },
        ),
        migrations.CreateModel(
            name='Citation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('position', models.IntegerField(default=0, help_text='of its marker among the markers of the message')),
                ('number', models.IntegerField(help_text='the superscript, in order of first use in the conversation')),
                ('claim', models.TextField(blank=True)),
                ('claim_start', models.IntegerField(default=0, help_text='span of the claim in the message, markers included')),
                ('claim_end', models.IntegerField(default=0)),
                ('quote', models.TextField(help_text="the anchor's words as printed")),
                ('prefix', models.CharField(blank=True, max_length=200)),
                ('suffix', models.CharField(blank=True, max_length=200)),
                ('unit_text', models.TextField(blank=True)),
                ('section_path', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('page_number', models.IntegerField()),
                ('char_start', models.IntegerField(default=0, help_text="of the quote in the page's text")),
                ('char_end', models.IntegerField(default=0)),
                ('line_start', models.IntegerField(default=0)),
                ('line_end', models.IntegerField(default=0)),
                ('where', models.CharField(blank=True, help_text='of imported blocks: ‘slide 4’, ‘sheet Q2, B7’, ‘12:04’', max_length=300)),
                ('rects', django.contrib.postgres.fields.ArrayField(base_field=django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=4), default=list, size=None)),
                ('unit_rects', django.contrib.postgres.fields.ArrayField(base_field=django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=4), default=list, size=None)),
                ('head_rects', django.contrib.postgres.fields.ArrayField(base_field=django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=4), default=list, size=None)),
                ('document_title', models.CharField(blank=True, max_length=500)),
                ('document_sha256', models.CharField(blank=True, max_length=64)),
                ('verdict', models.CharField(choices=[('exact', 'these words are on the page'), ('normalized', 'these words are on the page, spaced or spelt a little differently'), ('moved', 'these words are in another passage; the citation now points there'), ('computed', 'computed from values on the page'), ('found', 'words found on the page; the claim was not checked'), ('partial', 'the source supports only part of this claim'), ('unsupported', "the source doesn't support this claim")], max_length=12)),
                ('reason', models.CharField(blank=True, help_text='one sentence that explains the verdict', max_length=300)),
                ('missing', models.JSONField(blank=True, default=list, help_text='values of the claim that were not found')),
                ('matched', models.BooleanField(default=False, help_text='the model cited nothing here; Pincite matched the sentence to the passage')),
                ('judged_by', models.CharField(blank=True, help_text='the model that judged the claim, if no rule could compare it', max_length=120)),
                ('judgement', models.CharField(blank=True, choices=[('supported', 'judged to be supported'), ('unsupported', 'judged not to be supported')], help_text='its verdict', max_length=12)),
                ('durability', models.CharField(choices=[('same', 'as when it was cited'), ('moved', 'the same words, elsewhere in the document'), ('changed', 'the document now says something else here'), ('gone', 'the words are no longer in the document')], default='same', max_length=8)),
                ('feedback', models.CharField(blank=True, help_text="'right' or 'wrong', by a user", max_length=8)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('document', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='citations', to='documents.document')),
                ('unit', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='citations', to='documents.citationunit')),
                ('message', models.ForeignKey(help_text='null: it belongs to a note or to a cell of a review', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='citations', to='chat.message')),
            ],
            options={
                'ordering': ['message', 'position'],
            },
        ),
        migrations.CreateModel(
            name='AnswerShare',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('document_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), blank=True, default=list, help_text="documents of the answer's citations and prompt; the link closes when one is deleted", size=None)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField(blank=True, default=chat.models.conversation.end_of_link, help_text='null: never', null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='chat.message')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Note',
            fields=[
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('title', models.CharField(blank=True, max_length=200)),
                ('content', models.TextField(blank=True)),
                ('revision', models.IntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('citations', models.ManyToManyField(blank=True, related_name='notes', to='chat.citation')),
                ('document', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='notes', to='documents.document')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notes', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-updated_at'],
            },
        ),
        migrations.CreateModel(
            name='NoteVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('revision', models.IntegerField()),
                ('title', models.CharField(blank=True, max_length=200)),
                ('content', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('note', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='chat.note')),
            ],
            options={
                'ordering': ['note', '-revision'],
            },
        ),
        migrations.CreateModel(
            name='ReadingPlace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('page_number', models.IntegerField(help_text='from 1')),
                ('left', models.FloatField(help_text='PDF user space, as pdf.js scrolls to it')),
                ('top', models.FloatField()),
                ('rotation', models.SmallIntegerField(default=0, help_text='degrees by which the user rotated the pages')),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='documents.document')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
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
            ],
            options={
                'ordering': ['row', 'column'],
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
                ('cell', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='chat.reviewcell')),
            ],
            options={
                'ordering': ['cell', '-pk'],
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
                ('review', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='columns', to='chat.review')),
            ],
            options={
                'ordering': ['review', 'position'],
            },
        ),
        migrations.AddField(
            model_name='reviewcell',
            name='column',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cells', to='chat.reviewcolumn'),
        ),
        migrations.CreateModel(
            name='ReviewMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('mark', models.CharField(blank=True, choices=[('accepted', 'Accepted'), ('wrong', 'Wrong')], max_length=10)),
                ('comment', models.CharField(blank=True, max_length=2000)),
                ('revealed', models.BooleanField(default=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('cell', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='marks', to='chat.reviewcell')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='review_marks', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['cell', 'pk'],
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
                ('review', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='chat.review')),
            ],
            options={
                'ordering': ['review', 'position'],
            },
        ),
        migrations.AddField(
            model_name='reviewcell',
            name='row',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cells', to='chat.reviewrow'),
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
                ('review', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='chat.review')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('template', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='chat.reviewtemplate')),
            ],
        ),
        migrations.CreateModel(
            name='StreamEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sequence', models.IntegerField(help_text='from 1, through all attempts at the answer')),
                ('kind', models.CharField(max_length=12)),
                ('data', models.TextField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='chat.message')),
            ],
            options={
                'ordering': ['message', 'sequence'],
            },
        ),
        migrations.CreateModel(
            name='TourEnd',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ended_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Annotation',
            fields=[
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('highlight', 'Highlight'), ('underline', 'Underline'), ('ink', 'Drawing')], default='highlight', max_length=10)),
                ('colour', models.CharField(choices=[('yellow', 'Yellow'), ('green', 'Green'), ('blue', 'Blue'), ('pink', 'Pink'), ('purple', 'Purple')], default='yellow', max_length=8)),
                ('comment', models.TextField(blank=True)),
                ('quote', models.TextField(blank=True, help_text='the words as printed')),
                ('context', models.TextField(blank=True, help_text='the words with their surroundings, for re-anchoring')),
                ('page_number', models.IntegerField(help_text='from 1')),
                ('char_start', models.IntegerField(default=0, help_text="of the quote in the page's text")),
                ('rects', django.contrib.postgres.fields.ArrayField(base_field=django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=4), help_text='page space, one per line', size=None)),
                ('strokes', models.JSONField(blank=True, default=list, help_text='lines of a drawing, [x, y] in page space')),
                ('source', models.IntegerField(blank=True, help_text="xref of the PDF's annotation that this one replaces", null=True)),
                ('durability', models.CharField(choices=[('same', 'as when it was cited'), ('moved', 'the same words, elsewhere in the document'), ('changed', 'the document now says something else here'), ('gone', 'the words are no longer in the document')], default='same', max_length=8)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='annotations', to='documents.document')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='annotations', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['document', 'page_number', 'char_start', 'created_at'],
                'indexes': [models.Index(fields=['document', 'owner', 'page_number'], name='chat_annota_documen_e2566f_idx')],
            },
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['owner', '-updated_at'], name='chat_conver_owner_i_77b144_idx'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['updated_at'], name='chat_conver_updated_09e193_idx'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(fields=['created_at'], name='chat_messag_created_b6b51c_idx'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('status__in', ['pending', 'streaming'])), fields=['created_at'], name='unfinished_messages'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(fields=('conversation', 'position'), name='one_message_per_position'),
        ),
        migrations.AddIndex(
            model_name='citation',
            index=models.Index(fields=['document', 'page_number'], name='chat_citati_documen_af7fd3_idx'),
        ),
        migrations.AddIndex(
            model_name='citation',
            index=models.Index(fields=['verdict'], name='chat_citati_verdict_fa970c_idx'),
        ),
        migrations.AddIndex(
            model_name='citation',
            index=models.Index(fields=['created_at'], name='chat_citati_created_fae241_idx'),
        ),
        migrations.AddIndex(
            model_name='answershare',
            index=django.contrib.postgres.indexes.GinIndex(fields=['document_ids'], name='answer_share_documents'),
        ),
        migrations.AddIndex(
            model_name='note',
            index=models.Index(fields=['owner', '-updated_at'], name='chat_note_owner_i_0cc07b_idx'),
        ),
        migrations.AddConstraint(
            model_name='noteversion',
            constraint=models.UniqueConstraint(fields=('note', 'revision'), name='one_version_per_revision'),
        ),
        migrations.AddConstraint(
            model_name='readingplace',
            constraint=models.UniqueConstraint(fields=('owner', 'document'), name='one_place_per_reader'),
        ),
        migrations.AddIndex(
            model_name='review',
            index=models.Index(fields=['owner', '-updated_at'], name='chat_review_owner_i_98fb22_idx'),
        ),
        migrations.AddConstraint(
            model_name='reviewcolumn',
            constraint=models.UniqueConstraint(fields=('review', 'title'), name='one_column_per_title'),
        ),
        migrations.AddConstraint(
            model_name='reviewmark',
            constraint=models.UniqueConstraint(fields=('cell', 'user'), name='one_blind_mark_a_reviewer'),
        ),
        migrations.AddConstraint(
            model_name='reviewrow',
            constraint=models.UniqueConstraint(fields=('review', 'document'), name='one_row_per_document'),
        ),
        migrations.AddIndex(
            model_name='reviewcell',
            index=models.Index(condition=models.Q(('state__in', ['waiting', 'running'])), fields=['row'], name='unfilled_review_cells'),
        ),
        migrations.AddConstraint(
            model_name='reviewcell',
            constraint=models.UniqueConstraint(fields=('row', 'column'), name='one_cell_per_row_and_column'),
        ),
        migrations.AddConstraint(
            model_name='reviewshare',
            constraint=models.CheckConstraint(condition=models.Q(('review', None), ('template', None), _connector='XOR'), name='review_share_of_one_thing'),
        ),
        migrations.AddConstraint(
            model_name='reviewshare',
            constraint=models.CheckConstraint(condition=models.Q(('user', None), ('group', None), _connector='XOR'), name='review_share_one_party'),
        ),
        migrations.AddConstraint(
            model_name='reviewshare',
            constraint=models.UniqueConstraint(fields=('review', 'user'), name='one_review_share_user'),
        ),
        migrations.AddConstraint(
            model_name='reviewshare',
            constraint=models.UniqueConstraint(fields=('review', 'group'), name='one_review_share_group'),
        ),
        migrations.AddConstraint(
            model_name='reviewshare',
            constraint=models.UniqueConstraint(fields=('template', 'user'), name='one_template_share_user'),
        ),
        migrations.AddConstraint(
            model_name='reviewshare',
            constraint=models.UniqueConstraint(fields=('template', 'group'), name='one_template_share_group'),
        ),
        migrations.AddIndex(
            model_name='streamevent',
            index=models.Index(fields=['created_at'], name='chat_stream_created_53de14_idx'),
        ),
        migrations.AddConstraint(
            model_name='streamevent',
            constraint=models.UniqueConstraint(fields=('message', 'sequence'), name='one_event_per_sequence'),
        ),
    ]
