import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('background', '0001_jobs'),
        ('results', '0005_drop_sign_in_failures'),
    ]

    operations = [
        migrations.AddField(
            model_name='export',
            name='job',
            field=models.ForeignKey(blank=True, help_text='Null for exports requested in an older version, and after the job was deleted.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='background.job'),
        ),
        migrations.AlterField(
            model_name='export',
            name='error',
            field=models.TextField(blank=True, help_text='Why there is no file, for people.'),
        ),
    ]
