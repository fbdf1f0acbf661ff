from typing import Any

from django.db import migrations
from django.db.models import F


def nothing(apps: Any, schema_editor: Any) -> None:
    """There are none before."""


def to_lapsed(apps: Any, schema_editor: Any) -> None:
    """End those that wait, or waited, in a way that the version before knows."""
    sessions = apps.get_model("annotation", "Session").objects.using(schema_editor.connection.alias)
    sessions.filter(state="waiting").update(state="lapsed", ended_at=F("last_seen_at"), state_before_lapse="instructions")
    sessions.filter(state="waited").update(state="lapsed", state_before_lapse="instructions")


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0019_sessions_that_wait"),
    ]

    operations = [
        migrations.RunPython(nothing, to_lapsed),
    ]
