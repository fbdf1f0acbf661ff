import django.db.models.deletion
from django.db import migrations, models

# Table and column of each index, and its name: another index of the table begins with the same column.
INDEXES = (
    ("annotation_session", "study_id", "annotation_session_study_id_6315725e"),
    ("annotation_slot", "seat_id", "annotation_slot_seat_id_974b9f02"),
    ("annotation_decision", "study_id", "annotation_decision_study_id_0898b041"),
    ("annotation_draft", "session_id", "annotation_draft_session_id_b8c28a81"),
    ("annotation_response", "session_id", "annotation_response_session_id_95b0fcc1"),
    ("annotation_response", "study_id", "annotation_response_study_id_c5cfc039"),
)


def _concurrently(schema_editor):
    # Nobody who answers meanwhile waits.
    return "CONCURRENTLY" if schema_editor.connection.vendor == "postgresql" else ""


def drop(apps, schema_editor):
    for _, _, name in INDEXES:
        schema_editor.execute(f'DROP INDEX {_concurrently(schema_editor)} IF EXISTS "{name}"')


def create(apps, schema_editor):
    for table, column, name in INDEXES:
        schema_editor.execute(
            f'CREATE INDEX {_concurrently(schema_editor)} IF NOT EXISTS "{name}" ON "{table}" ("{column}")'
        )


class Migration(migrations.Migration):
    """Drop indexes that another makes needless.

    Django would make the foreign keys anew, for which PostgreSQL reads whole tables while nobody can write.
    """

    atomic = False
    dependencies = [
        ("annotation", "0045_suspend_memberships"),
        ("studies", "0041_consent_versions"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(drop, create)],
            state_operations=[
                migrations.AlterField(
                    model_name="decision",
                    name="study",
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="decisions", to="studies.study"),
                ),
                migrations.AlterField(
                    model_name="draft",
                    name="session",
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="drafts", to="annotation.session"),
                ),
                migrations.AlterField(
                    model_name="response",
                    name="session",
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="responses", to="annotation.session"),
                ),
                migrations.AlterField(
                    model_name="response",
                    name="study",
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="responses", to="studies.study"),
                ),
                migrations.AlterField(
                    model_name="session",
                    name="study",
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="sessions", to="studies.study"),
                ),
                migrations.AlterField(
                    model_name="slot",
                    name="seat",
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="slots", to="annotation.seat"),
                ),
            ],
        )
    ]
