from django.db import migrations


def forget_scans(apps, schema_editor):
    """Remove the pictures of scanned pages, which were the scan itself; recognition finds those in it."""
    apps.get_model("documents", "Page").objects.filter(ocr=True).exclude(figures=[]).update(figures=[])


class Migration(migrations.Migration):

    dependencies = [
        ('documents', '0016_job_labels'),
    ]

    operations = [
        migrations.RunPython(forget_scans, migrations.RunPython.noop, elidable=True),
    ]
