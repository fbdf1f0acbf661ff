"""Mark demo projects, and keep what was deleted with a project."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0034_imports_have_a_mapping'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='project',
            name='is_demo',
            field=models.BooleanField(db_default=False, default=False, help_text='Made to look around in; its answers are simulated.'),
        ),
        migrations.CreateModel(
            name='ProjectDeletion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=50)),
                ('name', models.CharField(max_length=200)),
                ('by_name', models.CharField(max_length=150)),
                ('requested_at', models.DateTimeField()),
                ('pay_settled', models.TextField(blank=True, help_text='What people were owed, and the owner said to have settled.')),
                ('due_at', models.DateTimeField()),
                ('begun_at', models.DateTimeField(help_text='From then on nobody sees the project, or can cancel.', null=True)),
                ('deleted_at', models.DateTimeField(null=True)),
                ('record', models.JSONField(default=dict, help_text='What was deleted: the file that stays.')),
                ('files', models.JSONField(default=list, help_text='File names in storage of images whose rows are deleted but whose files may remain.')),
                ('owners', models.ManyToManyField(help_text='Owners when it began, and who asked: they may see the record.', related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.OneToOneField(help_text='Null once the project is deleted.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='deletion', to='studies.project')),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-requested_at', '-pk'),
            },
        ),
    ]
