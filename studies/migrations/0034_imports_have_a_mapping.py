"""Let an import say what each column of a table is."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0033_places_by_network'),
    ]

    operations = [
        migrations.AddField(
            model_name='import',
            name='mapping',
            field=models.JSONField(blank=True, db_default={}, default=dict, help_text='What each column of a table is; empty for other formats.'),
        ),
    ]
