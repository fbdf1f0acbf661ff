import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Imports can be asked for now and done by a worker later; going back forgets what became of those."""
    dependencies = [
        ("background", "0001_jobs"),
        ("studies", "0015_endings_and_questions_taken_out"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Import",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "files",
                    models.JSONField(help_text="Path and SHA-256 of each file when the import was requested."),
                ),
                ("format", models.CharField(max_length=50)),
                ("images_dir", models.TextField(blank=True, help_text="The folder that image names start from.")),
                ("caption_rule", models.CharField(max_length=50)),
                ("images_later", models.BooleanField(default=False)),
                (
                    "stage",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Opening the files"),
                            ("rows", "Checking rows"),
                            ("images", "Checking images"),
                            ("saving", "Saving"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                ("summaries", models.JSONField(default=list, help_text="What was done with each file.")),
                ("problem_count", models.PositiveBigIntegerField(default=0)),
                ("first_problems", models.JSONField(default=list, help_text="In sentences.")),
                (
                    "problems_file",
                    models.CharField(
                        blank=True,
                        help_text="File name in storage of all problems, as JSON Lines.",
                        max_length=255,
                    ),
                ),
                ("error", models.TextField(blank=True, help_text="Why nothing was imported, for people.")),
                (
                    "by_name",
                    models.CharField(help_text="Who asked: a person, or the name of a command.", max_length=150),
                ),
                ("requested_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "job",
                    models.ForeignKey(
                        blank=True,
                        help_text="Null after the job was deleted.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="background.job",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="imports", to="studies.project"
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-requested_at", "-pk"),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("error", ""), ("finished_at__isnull", False), _connector="OR"),
                        name="failed_import_says_when",
                    )
                ],
            },
        ),
    ]
