"""Give sessions with unlikely times a completion code of their own."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0031_designs_of_version_5'),
    ]

    operations = [
        migrations.AlterField(
            model_name='completioncode',
            name='outcome',
            field=models.CharField(choices=[('finished', 'Finished'), ('no_consent', 'No consent'), ('failed_checks', 'Failed checks'), ('left_out', 'Left out too many questions'), ('stopped', 'Stopped before the end'), ('time_over', 'Ran out of time'), ('waited', 'Waited, and nothing came'), ('few_answers', 'Finished with few answers'), ('unlikely_times', 'Finished with unlikely times')], max_length=20),
        ),
    ]
