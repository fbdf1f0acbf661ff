import json
from typing import Any

from django.db import migrations, models

# Version 3 has these besides, and the version before refuses what it does not know.
NEW = ("eligibility", "lobby")
NEW_IN = {"answering": ("record_writing",), "pay": ("per_answer",)}


def nothing(apps: Any, schema_editor: Any) -> None:
    """Designs of version 2 are read as they are."""


def to_version_2(apps: Any, schema_editor: Any) -> None:
    """Take out what the version before does not know: whoever it kept out may then come in, whoever arrives too early is
    told so and does not wait, nothing is recorded of how texts are written, and answers are paid with their session."""
    connection = schema_editor.connection
    # As the column has them: this migration's Python reads designs of its own version only.
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, design FROM studies_study")
        stored = cursor.fetchall()
    for pk, text in stored:
        design = text if isinstance(text, dict) else json.loads(text)
        if design.get("version") != 3:
            continue
        older = {name: value for name, value in design.items() if name not in NEW} | {"version": 2}
        for section, new in NEW_IN.items():
            older[section] = {name: value for name, value in design[section].items() if name not in new}
        with connection.cursor() as cursor:
            cursor.execute("UPDATE studies_study SET design = %s WHERE id = %s", [json.dumps(older), pk])


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0017_designs_of_version_2"),
    ]

    operations = [
        migrations.RunPython(nothing, to_version_2),
        migrations.AlterField(
            model_name="completioncode",
            name="outcome",
            field=models.CharField(
                choices=[
                    ("finished", "Finished"),
                    ("no_consent", "No consent"),
                    ("failed_checks", "Failed checks"),
                    ("left_out", "Left out too many questions"),
                    ("stopped", "Stopped before the end"),
                    ("time_over", "Ran out of time"),
                    ("waited", "Waited, and nothing came"),
                ],
                max_length=20,
            ),
        ),
    ]
