from django.db import migrations, models


class Migration(migrations.Migration):
    """A question may be accepted without a winner, and undecided without another answer being of use.

    The way back is open only while no question is accepted without a winner: the version before knows none.
    """

    dependencies = [("annotation", "0014_answers_are_stored_whole")]

    operations = [
        migrations.RemoveConstraint("decision", "winner_only_when_accepted"),
        migrations.AddConstraint(
            "decision",
            models.CheckConstraint(
                condition=models.Q(state="accepted") | models.Q(winner=""), name="winner_only_when_accepted"
            ),
        ),
        migrations.AlterField(
            "decision",
            "winner",
            models.CharField(max_length=100, blank=True, help_text="What it was accepted with, if with anything."),
        ),
        migrations.AddField(
            "decision",
            "asks_more",
            models.BooleanField(
                default=True, db_default=True, help_text="While undecided: whether one more answer could decide it."
            ),
        ),
    ]
