from django.db import migrations, models


class Migration(migrations.Migration):
    """An answer without measures says why. The version before stores it without a reason."""

    dependencies = [("annotation", "0015_rules_say_whether_more_is_wanted")]

    operations = [
        migrations.AddField(
            "response",
            "unmeasured",
            models.CharField(
                max_length=20,
                choices=[
                    ("no_scripts", "The browser runs no scripts"),
                    ("scripts_lost", "A script of the page did not come"),
                    ("scripts_late", "The scripts of the page took too long"),
                ],
                blank=True,
                default="",
                db_default="",
                help_text="Why the browser measured nothing; empty if it measured, or if the reason is unknown.",
            ),
        ),
    ]
