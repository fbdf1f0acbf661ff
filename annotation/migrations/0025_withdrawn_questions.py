"""Remember which session lost a question because it was withdrawn, and count who comes before anything is ready."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0024_more_answers_asked_for'),
        ('studies', '0024_what_follows_a_launch'),
    ]

    operations = [
        migrations.AddField(
            model_name='slot',
            name='withdrawn_from',
            field=models.ForeignKey(blank=True, db_index=False, help_text='The session that held it when its question was withdrawn.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='withdrawn_slots', to='annotation.session'),
        ),
        migrations.AlterField(
            model_name='entryevent',
            name='what',
            field=models.CharField(choices=[('missing', 'The link had no ids'), ('unfilled', 'The link still had its placeholders'), ('not_an_id', "The link's ids were none of the platform's"), ('other_person', "A session's link was opened with another person's id"), ('other_study', 'The link came from another study of the provider'), ('no_seat', 'Somebody came when nothing was left'), ('nothing_yet', 'Somebody came before anything was ready'), ('too_many', 'Too many new people came from one network at once'), ('refused', 'A rule of eligibility kept somebody out')], max_length=20),
        ),
        migrations.AddIndex(
            model_name='slot',
            index=models.Index(condition=models.Q(('withdrawn_from__isnull', False)), fields=['withdrawn_from'], name='slots_withdrawn_from_sessions'),
        ),
    ]
