
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0006_count_entry_events'),
        ('studies', '0004_declare_what_was_guessed'),
    ]

    operations = [
        migrations.AddField(
            model_name='response',
            name='left_out',
            field=models.CharField(blank=True, choices=[('withdrawn', 'Withdrawn'), ('excluded', 'Excluded')], db_default='', default='', help_text='Why it counts nowhere, because of the person who gave it.', max_length=10),
        ),
        migrations.AddField(
            model_name='session',
            name='order_key',
            field=models.CharField(blank=True, db_default='', default='', help_text="What the order of its options rests on: its study's secret when it began. Empty: the study's seed.", max_length=64),
        ),
        migrations.AlterField(
            model_name='decision',
            name='answers',
            field=models.PositiveSmallIntegerField(default=0, help_text='How many answers count.'),
        ),
        migrations.AlterField(
            model_name='session',
            name='state',
            field=models.CharField(choices=[('consent', 'Reading the consent page'), ('instructions', 'Reading the instructions'), ('practice', 'Practising'), ('working', 'Answering'), ('finished', 'Finished'), ('no_consent', 'Did not consent'), ('failed_checks', 'Failed the practice'), ('left_out', 'Left out too many questions'), ('withdrawn', 'Took their consent back'), ('given_up', 'Gave up'), ('returned', 'Returned on the platform'), ('lapsed', 'Ran out of time'), ('superseded', 'Came back under a new submission')], default='consent', max_length=20),
        ),
        migrations.CreateModel(
            name='Removal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('why', models.CharField(choices=[('withdrawn', 'Withdrawn'), ('excluded', 'Excluded')], max_length=10)),
                ('reason', models.TextField(blank=True, help_text='Why a researcher excluded them.')),
                ('at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='removals', to='annotation.annotator')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='removals', to='studies.project')),
            ],
            options={
                'ordering': ('-at',),
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('project', 'annotator', 'why'), name='removed_once_for_each_reason'), models.CheckConstraint(condition=models.Q(('ended_at', None), ('why', 'excluded'), _connector='OR'), name='a_withdrawal_stays')],
            },
        ),
    ]
