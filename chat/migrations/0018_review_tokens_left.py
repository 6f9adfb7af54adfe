from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0017_answers_taken_up'),
    ]

    operations = [
        migrations.AddField(
            model_name='review',
            name='tokens_left',
            field=models.BigIntegerField(blank=True, help_text='that a model may still use; none: no limit', null=True),
        ),
    ]
