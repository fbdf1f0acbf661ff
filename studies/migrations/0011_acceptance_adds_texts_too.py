from django.db import migrations, models


class Migration(migrations.Migration):
    """Words only: nothing that is stored changes."""

    dependencies = [("studies", "0010_events_name_their_study")]

    operations = [
        migrations.AlterField(
            "question",
            "won",
            models.JSONField(
                default=dict,
                blank=True,
                help_text="What acceptance in the feeding studies has added to the instance: role -> image or text.",
            ),
        ),
    ]
