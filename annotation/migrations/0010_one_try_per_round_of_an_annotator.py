from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0009_number_practice_rounds_by_annotator"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="practiceanswer",
            name="one_try_per_round",
        ),
        migrations.AddConstraint(
            model_name="practiceanswer",
            constraint=models.UniqueConstraint(
                fields=("annotator", "practice_question", "round"), name="one_try_per_round"
            ),
        ),
    ]
