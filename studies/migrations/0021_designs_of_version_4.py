import json
from typing import Any

from django.db import migrations


def nothing(apps: Any, schema_editor: Any) -> None:
    """Designs of version 3 are read as they are."""


def to_version_3(apps: Any, schema_editor: Any) -> None:
    """Take out what the version before does not know and would refuse: it launches without conditions."""
    connection = schema_editor.connection
    # As the column has them: this migration's Python reads designs of its own version only.
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, design FROM studies_study")
        stored = cursor.fetchall()
    for pk, text in stored:
        design = text if isinstance(text, dict) else json.loads(text)
        if design.get("version") != 4:
            continue
        older = {name: value for name, value in design.items() if name != "conditions"} | {"version": 3}
        with connection.cursor() as cursor:
            cursor.execute("UPDATE studies_study SET design = %s WHERE id = %s", [json.dumps(older), pk])


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0020_imports_come_from_browsers"),
    ]

    operations = [
        migrations.RunPython(nothing, to_version_3),
    ]
