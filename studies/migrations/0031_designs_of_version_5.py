import json
from typing import Any

from django.db import migrations


def nothing(apps: Any, schema_editor: Any) -> None:
    """Designs of version 4 are read as they are: every finished session is paid in full."""


def to_version_4(apps: Any, schema_editor: Any) -> None:
    """Take out `pay.least_answers`, which the version before refuses: it pays every finished session in full."""
    connection = schema_editor.connection
    # As the column has them: this migration's Python reads designs of its own version only.
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, design FROM studies_study")
        stored = cursor.fetchall()
    for pk, text in stored:
        design = text if isinstance(text, dict) else json.loads(text)
        if design.get("version") != 5:
            continue
        pay = {name: value for name, value in design["pay"].items() if name != "least_answers"}
        older = design | {"pay": pay, "version": 4}
        with connection.cursor() as cursor:
            cursor.execute("UPDATE studies_study SET design = %s WHERE id = %s", [json.dumps(older), pk])


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0030_short_sessions_have_a_code"),
    ]

    operations = [
        migrations.RunPython(nothing, to_version_4),
    ]
