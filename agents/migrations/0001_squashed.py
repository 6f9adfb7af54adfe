import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('agents', '0001_chat_thread'),
        ('agents', '0002_webhooks'),
        ('agents', '0003_review_filled'),
        ('agents', '0004_checks_and_embeds'),
        ('agents', '0005_webhook_deliveries'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('chat', '0001_squashed'),
        ('documents', '0001_squashed'),
    ]

    operations = [
        migrations.CreateModel(
            name='FileCheck',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('verify', 'claims'), ('locate', 'quotes')], max_length=10)),
                ('file', models.FileField(max_length=200, upload_to='checks/')),
                ('title', models.CharField(blank=True, max_length=500)),
                ('wanted', models.JSONField(help_text='the claims or quotes, as they were sent')),
                ('status', models.CharField(choices=[('waiting', 'waiting'), ('running', 'running'), ('done', 'done'), ('failed', 'failed')], default='waiting', max_length=10)),
                ('results', models.JSONField(null=True)),
                ('error', models.CharField(blank=True, max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='ReaderEmbed',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('origins', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=300), help_text='the sites whose pages may show it', size=None)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='documents.document')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('url', models.URLField(max_length=2000)),
                ('events', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('document.ready', 'a document is ready'), ('document.failed', 'a document could not be read'), ('answer.done', 'an answer is complete'), ('review.filled', 'the cells of a review are filled'), ('check.done', 'a check of a long file has ended'), ('test', 'a test message was requested')], max_length=20), default=list, size=None)),
                ('is_active', models.BooleanField(default=True, help_text='ends by itself when the address says 410 Gone')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='ChatThread',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(help_text='SHA-256 of model, questions and answers', max_length=64)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('conversation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='chat.conversation')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['owner', 'digest'], name='chat_thread_digest')],
            },
        ),
        migrations.CreateModel(
            name='WebhookDelivery',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('event', models.CharField(choices=[('document.ready', 'a document is ready'), ('document.failed', 'a document could not be read'), ('answer.done', 'an answer is complete'), ('review.filled', 'the cells of a review are filled'), ('check.done', 'a check of a long file has ended'), ('test', 'a test message was requested')], max_length=20)),
                ('payload', models.JSONField()),
                ('attempts', models.IntegerField(default=0)),
                ('next_at', models.DateTimeField(default=django.utils.timezone.now, help_text='none once it ended', null=True)),
                ('delivered_at', models.DateTimeField(null=True)),
                ('status_code', models.IntegerField(help_text='of the last answer', null=True)),
                ('error', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='agents.webhook')),
            ],
            options={
                'verbose_name_plural': 'webhook deliveries',
                'ordering': ['-created_at'],
                'indexes': [models.Index(condition=models.Q(('next_at__isnull', False)), fields=['next_at'], name='deliveries_due')],
            },
        ),
    ]
