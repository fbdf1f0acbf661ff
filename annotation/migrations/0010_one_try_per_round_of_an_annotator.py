import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0009_number_practice_rounds_by_annotator"),
    ]

    operations = [
        migrations.AlterField(
            model_name="practiceanswer",
            name="annotator",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="practice_answers",
                to="annotation.annotator",
            ),
        ),
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
