"""The field gets another name in Python; its column stays `state`, so nothing changes in the database."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0006_exports_have_jobs'),
    ]

    operations = [
        migrations.AlterField(
            model_name='keptnumbers',
            name='state',
            field=models.TextField(blank=True, db_column='state'),
        ),
        migrations.RenameField(
            model_name='keptnumbers',
            old_name='state',
            new_name='fingerprint',
        ),
        migrations.AlterField(
            model_name='keptnumbers',
            name='asked_at',
            field=models.DateTimeField(blank=True, help_text='Unused; kept for a downgrade to an older version.', null=True),
        ),
    ]
