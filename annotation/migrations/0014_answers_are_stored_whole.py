from django.db import migrations, models


class Migration(migrations.Migration):
    """Answers stored before have no `answer`: what was said is their choice. Going back loses answers that are none."""

    dependencies = [("annotation", "0013_removals_of_people_who_withdrew")]

    operations = [
        migrations.AddField(
            "response",
            "answer",
            models.JSONField(
                null=True,
                help_text="Null for responses of older versions, which stored only `choice`.",
            ),
        ),
        migrations.AlterField("response", "choice", models.CharField(max_length=100, blank=True)),
    ]
