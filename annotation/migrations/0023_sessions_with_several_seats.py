import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """The way back is open until a session has more than one seat."""

    dependencies = [
        ('annotation', '0022_drafts_of_answers'),
    ]

    operations = [
        migrations.AlterField(
            model_name='seat',
            name='session',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='seats', to='annotation.session'),
        ),
        migrations.AlterField(
            model_name='session',
            name='questions_total',
            field=models.PositiveIntegerField(help_text='Questions given to this session so far.'),
        ),
        migrations.AddConstraint(
            model_name='seat',
            constraint=models.UniqueConstraint(condition=models.Q(('filled_at', None)), fields=('session',), name='one_unfilled_seat_per_session'),
        ),
    ]
