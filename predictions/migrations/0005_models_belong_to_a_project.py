import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """A model is known by its names within a project, and workers know it by its first ones. The version before names
    neither."""

    dependencies = [("predictions", "0004_runs"), ("studies", "0018_designs_of_version_3")]

    operations = [
        migrations.AddField(
            "model",
            "project",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="models",
                to="studies.project",
            ),
        ),
        migrations.AddField(
            "model",
            "first_name",
            models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Name before a rename, which workers still use; empty if it was never renamed.",
                max_length=100,
            ),
        ),
        migrations.AddField(
            "model", "first_version", models.CharField(blank=True, db_default="", default="", max_length=100)
        ),
        migrations.AddConstraint(
            "model",
            models.UniqueConstraint(fields=("project", "name", "version", "weights"), name="model_once_in_project"),
        ),
        migrations.RemoveConstraint("model", "model_once"),
    ]
