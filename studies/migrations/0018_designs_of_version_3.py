import json
from typing import Any

from django.db import migrations


def nothing(apps: Any, schema_editor: Any) -> None:
    """Designs of version 2 are read as they are."""


def to_version_2(apps: Any, schema_editor: Any) -> None:
    """Take out what the version before does not know, which records nothing of how texts are written."""
    connection = schema_editor.connection
    # As the column has them: this migration's Python reads designs of its own version only.
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, design FROM studies_study")
        stored = cursor.fetchall()
    for pk, text in stored:
        design = text if isinstance(text, dict) else json.loads(text)
        if design.get("version") != 3:
            continue
        answering = {name: value for name, value in design["answering"].items() if name != "record_writing"}
        older = design | {"answering": answering, "version": 2}
        with connection.cursor() as cursor:
            cursor.execute("UPDATE studies_study SET design = %s WHERE id = %s", [json.dumps(older), pk])


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0017_designs_of_version_2"),
    ]

    operations = [
        migrations.RunPython(nothing, to_version_2),
    ]
