from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0020_sessions_that_waited'),
    ]

    operations = [
        migrations.AddField(
            model_name='response',
            name='writing',
            field=models.JSONField(blank=True, help_text='How its text was written, without what was written: see `annotation.forms`. Null where nothing is written, or the study does not record it.', null=True),
        ),
    ]
