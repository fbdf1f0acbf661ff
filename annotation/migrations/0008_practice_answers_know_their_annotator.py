import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0007_left_out_answers_and_order_keys"),
    ]

    operations = [
        migrations.AddField(
            model_name="practiceanswer",
            name="annotator",
            field=models.ForeignKey(
                help_text="Null only where the version before went on storing answers while this one was installed.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="practice_answers",
                to="annotation.annotator",
            ),
        ),
    ]
