import django.db.models.deletion
import studies.models.studies
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0002_parts_and_pipeline'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('what', models.CharField(max_length=50)),
                ('by_name', models.CharField(help_text="The name at that moment: a person's, or that of a command or a program.", max_length=150)),
                ('details', models.JSONField(default=dict)),
                ('at', models.DateTimeField()),
            ],
            options={
                'ordering': ('-at', '-id'),
            },
        ),
        migrations.AddField(
            model_name='project',
            name='dataset',
            field=models.ForeignKey(blank=True, help_text='The study that keeps the dataset: what it accepted. Null: all instances are the dataset.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='studies.study'),
        ),
        migrations.AddField(
            model_name='question',
            name='undone_at',
            field=models.DateTimeField(blank=True, help_text='When the acceptance that it was drawn from was undone: since then nothing follows from it.', null=True),
        ),
        migrations.AddField(
            model_name='study',
            name='order_secret',
            field=models.CharField(blank=True, db_default='', default='', help_text='What the order of options rests on, for the sessions that begin from now on; on no page.', max_length=64),
        ),
        migrations.AddField(
            model_name='study',
            name='public_token',
            # Empty: a default would be the same for all. The next migration fills it.
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
        migrations.AlterField(
            model_name='study',
            name='public_token',
            field=models.CharField(blank=True, db_default='', default=studies.models.studies.new_public_token, help_text='Its name in the address under which annotators arrive; studies of older versions have their slug.', max_length=64),
        ),
        migrations.AddField(
            model_name='study',
            name='purpose',
            field=models.CharField(choices=[('filter', 'Filter'), ('baseline', 'Human baseline'), ('pilot', 'Pilot'), ('qualification', 'Qualification'), ('collection', 'Collection')], db_default='filter', default='filter', max_length=20),
        ),
        migrations.AlterField(
            model_name='completioncode',
            name='outcome',
            field=models.CharField(choices=[('finished', 'Finished'), ('no_consent', 'No consent'), ('failed_checks', 'Failed checks'), ('left_out', 'Left out too many questions')], max_length=20),
        ),
        migrations.AlterField(
            model_name='study',
            name='slug',
            field=models.SlugField(help_text='Its name in addresses and commands; unique in the project.'),
        ),
        migrations.AddConstraint(
            model_name='study',
            constraint=models.UniqueConstraint(fields=('project', 'slug'), name='study_slug_once_per_project'),
        ),
        migrations.AddConstraint(
            model_name='study',
            constraint=models.UniqueConstraint(condition=models.Q(('public_token', ''), _negated=True), fields=('public_token',), name='public_token_leads_to_one_study'),
        ),
        migrations.AddField(
            model_name='event',
            name='by',
            field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='event',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='studies.project'),
        ),
        migrations.AddField(
            model_name='event',
            name='study',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='events', to='studies.study'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['project', 'at'], name='events_of_a_project'),
        ),
    ]
