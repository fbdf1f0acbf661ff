import json
from typing import Any

from django.db import migrations

# Version 2 has these besides, and the version before refuses what it does not know.
NEW = ("language", "contact", "answering", "endings")


def nothing(apps: Any, schema_editor: Any) -> None:
    """Designs of version 1 are read as they are."""


def to_version_1(apps: Any, schema_editor: Any) -> None:
    """Take out what the version before does not know: who is to be written to, for one, is then told to nobody."""
    connection = schema_editor.connection
    # As the column has them: this migration's Python reads designs of its own version only.
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, design FROM studies_study")
        stored = cursor.fetchall()
    for pk, text in stored:
        design = text if isinstance(text, dict) else json.loads(text)
        if design.get("version") != 2:
            continue
        older = {name: value for name, value in design.items() if name not in NEW}
        older["version"] = 1
        older["time"] = {name: value for name, value in design["time"].items() if name != "more_minutes"}
        with connection.cursor() as cursor:
            cursor.execute("UPDATE studies_study SET design = %s WHERE id = %s", [json.dumps(older), pk])


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0016_imports_in_the_background"),
    ]

    operations = [
        migrations.RunPython(nothing, to_version_1),
    ]
