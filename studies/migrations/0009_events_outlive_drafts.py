import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0008_designs_are_typed'),
    ]

    operations = [
        migrations.AddField(
            model_name='event',
            name='study_name',
            field=models.CharField(blank=True, db_default='', default='', help_text='The name of the study at that moment: what happened to a draft stays when it is deleted.', max_length=50),
        ),
        migrations.AlterField(
            model_name='event',
            name='study',
            field=models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='studies.study'),
        ),
    ]
