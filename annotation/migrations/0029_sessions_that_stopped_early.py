from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0028_places_by_network"),
    ]

    operations = [
        migrations.AlterField(
            model_name="session",
            name="state",
            field=models.CharField(
                choices=[
                    ("consent", "Reading the consent page"),
                    ("instructions", "Reading the instructions"),
                    ("practice", "Practising"),
                    ("waiting", "Waiting for a question"),
                    ("working", "Answering"),
                    ("finished", "Finished"),
                    ("no_consent", "Did not consent"),
                    ("failed_checks", "Failed the practice"),
                    ("left_out", "Left out too many questions"),
                    ("withdrawn", "Took their consent back"),
                    ("stopped", "Ended by a researcher"),
                    ("given_up", "Stopped early"),
                    ("returned", "Returned on the platform"),
                    ("lapsed", "Ran out of time"),
                    ("superseded", "Came back under a new submission"),
                    ("waited", "Waited, and nothing came"),
                ],
                default="consent",
                max_length=20,
            ),
        ),
    ]
