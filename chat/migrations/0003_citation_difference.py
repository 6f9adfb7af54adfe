"""What the claim and the page say, where they differ."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0002_printed_places_and_providers'),
    ]

    operations = [
        migrations.AddField(
            model_name='citation',
            name='difference',
            field=models.JSONField(blank=True, default=list, help_text="what the claim and the page say, if they differ: ['5 mg', '5 g']"),
        ),
    ]
