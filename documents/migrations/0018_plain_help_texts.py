import django.db.models.deletion
import documents.models.document
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('documents', '0017_pictures_in_scans'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='citationunit',
            name='continues',
            field=models.BooleanField(default=False, help_text='continues the unit before it'),
        ),
        migrations.AlterField(
            model_name='citationunit',
            name='from_picture',
            field=models.BooleanField(default=False, help_text='recognised in a picture on a page with text'),
        ),
        migrations.AlterField(
            model_name='document',
            name='original',
            field=models.FileField(blank=True, help_text='the uploaded file, if it was no PDF and was converted', max_length=200, upload_to=documents.models.document.original_storage_name),
        ),
        migrations.AlterField(
            model_name='document',
            name='pages_waiting',
            field=models.IntegerField(default=0, help_text='scanned pages that await OCR'),
        ),
        migrations.AlterField(
            model_name='document',
            name='pictures_waiting',
            field=models.IntegerField(default=0, help_text='pages with pictures that await OCR'),
        ),
        migrations.AlterField(
            model_name='document',
            name='progress',
            field=models.FloatField(default=0, help_text='0..1 of the current stage'),
        ),
        migrations.AlterField(
            model_name='document',
            name='text_layer',
            field=models.FileField(blank=True, help_text='copy of the file with an OCR text layer', max_length=200, upload_to=documents.models.document.storage_name),
        ),
        migrations.AlterField(
            model_name='idempotencykey',
            name='fingerprint',
            field=models.CharField(help_text='SHA-256 of the request', max_length=64),
        ),
        migrations.AlterField(
            model_name='job',
            name='title',
            field=models.TextField(help_text="the document's title when the job began"),
        ),
        migrations.AlterField(
            model_name='page',
            name='awaits',
            field=models.CharField(blank=True, choices=[('page', 'OCR of the whole page'), ('pictures', 'OCR of pictures on a page with text')], help_text='what still awaits OCR', max_length=8),
        ),
        migrations.AlterField(
            model_name='page',
            name='label',
            field=models.CharField(blank=True, help_text="the PDF's page label: iv, A-3", max_length=40),
        ),
        migrations.AlterField(
            model_name='page',
            name='recognised',
            field=models.BinaryField(default=bytes, help_text='packed OCR result, kept for the next parsing'),
        ),
        migrations.AlterField(
            model_name='page',
            name='tries',
            field=models.SmallIntegerField(default=0, help_text='failed OCR attempts'),
        ),
        migrations.AlterField(
            model_name='page',
            name='wanted_at',
            field=models.DateTimeField(blank=True, help_text='when a user last requested the page', null=True),
        ),
        migrations.AlterField(
            model_name='placement',
            name='handed_on',
            field=models.BooleanField(default=True, help_text="false: added by the document's owner, on whose right alone it depends"),
        ),
        migrations.AlterField(
            model_name='retrievalchunk',
            name='summary',
            field=models.TextField(blank=True, help_text='written by a language model, if one is configured'),
        ),
        migrations.AlterField(
            model_name='securityevent',
            name='user',
            field=models.ForeignKey(help_text='the acting user', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='security_events', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='worker',
            name='restarts',
            field=models.IntegerField(default=0, help_text='restarts of the queue by the watchdog'),
        ),
    ]
