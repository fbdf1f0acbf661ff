import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.exceptions import IrreversibleError
from django.db.models import Count

QUESTION = ("model", "instance", "kind", "variant", "caption_rule")


def refuse_two_of_a_question(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    predictions = apps.get_model("predictions", "Prediction").objects.using(schema_editor.connection.alias)
    asked = predictions.order_by().values(*QUESTION).annotate(answers=Count("pk")).filter(answers__gt=1)
    if count := asked.count():
        raise IrreversibleError(
            f"{count} questions showed a model different pictures or texts at different times, and it answered each "
            "time. The version before has one answer to a question. Delete those that it should not have, then go back."
        )


class Migration(migrations.Migration):
    """A prediction is about what was shown, and says what it was computed under."""

    dependencies = [("predictions", "0002_rule_of_the_captions")]

    operations = [
        migrations.CreateModel(
            name="Conditions",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "digest",
                    models.CharField(
                        help_text="SHA-256 of the details as canonical JSON.", max_length=64, unique=True
                    ),
                ),
                ("details", models.JSONField()),
            ],
            options={"verbose_name_plural": "conditions"},
        ),
        migrations.AddField(
            "prediction",
            "content_hash",
            models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
        migrations.AddField(
            "prediction",
            "conditions",
            models.ForeignKey(
                blank=True,
                help_text="The conditions of its computation; null if it comes from a file.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="predictions",
                to="predictions.conditions",
            ),
        ),
        migrations.AlterField(
            "prediction",
            "source_file",
            models.CharField(blank=True, help_text="Empty if it was computed by the site.", max_length=255),
        ),
        migrations.AlterField(
            "prediction",
            "source_row",
            models.PositiveIntegerField(
                help_text="Record number in the source file, from 1, header not counted; 0 where it was computed here."
            ),
        ),
        migrations.AddConstraint(
            "prediction",
            models.UniqueConstraint(fields=(*QUESTION, "content_hash"), name="one_prediction_per_model_and_content"),
        ),
        migrations.RemoveConstraint("prediction", "one_prediction_per_model_and_question"),
        # On the way back first of all.
        migrations.RunPython(migrations.RunPython.noop, refuse_two_of_a_question),
    ]
