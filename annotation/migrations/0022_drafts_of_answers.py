import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0021_how_texts_were_written'),
    ]

    operations = [
        migrations.CreateModel(
            name='Draft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fields', models.JSONField(help_text='What the form holds, by the names of its fields.')),
                ('number', models.PositiveIntegerField(default=1, help_text='Counts what was sent, so that a page knows the latest.')),
                ('saved_at', models.DateTimeField()),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='annotation.session')),
                ('slot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='annotation.slot')),
            ],
            options={
                'ordering': ('id',),
                'constraints': [models.UniqueConstraint(fields=('session', 'slot'), name='one_draft_per_slot')],
            },
        ),
    ]
