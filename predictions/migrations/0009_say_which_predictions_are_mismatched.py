from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("predictions", "0008_runs_of_vectors")]

    operations = [
        migrations.AddField(
            "prediction",
            "problem",
            models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="Why its options do not match its question, so that it is not counted; empty if they match.",
            ),
        ),
        migrations.AddIndex(
            "prediction",
            models.Index(
                condition=models.Q(("problem", ""), _negated=True), fields=["model"], name="mismatched_predictions"
            ),
        ),
    ]
