"""Keep how long answers can have taken by the server's clock, and what speaks against the times of a session."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0025_withdrawn_questions'),
    ]

    operations = [
        migrations.AddField(
            model_name='response',
            name='possible_ms',
            field=models.PositiveIntegerField(blank=True, help_text="The longest that its question can have been in sight by the server's clock, where the browser claimed more; null where it did not.", null=True),
        ),
        migrations.AddField(
            model_name='session',
            name='time_evidence',
            field=models.JSONField(blank=True, help_text='Evidence that its answer times are unlikely, as `analytics.work.answer_times.TimeEvidence`; null without any.', null=True),
        ),
        migrations.AddField(
            model_name='session',
            name='times_accepted_at',
            field=models.DateTimeField(blank=True, help_text='When a researcher accepted its times despite the evidence.', null=True),
        ),
    ]
