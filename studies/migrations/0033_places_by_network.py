"""Let a study name networks that may hold any number of its places."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0032_unlikely_times_have_a_code'),
    ]

    operations = [
        migrations.AddField(
            model_name='study',
            name='open_networks',
            field=models.TextField(blank=True, db_default='', default='', help_text="Networks that may hold any number of its places, such as a lab's: one on each line."),
        ),
    ]
