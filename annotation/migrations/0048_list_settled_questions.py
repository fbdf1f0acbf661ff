from django.db import migrations, models

NAME = "settled_questions_of_a_study"


def create(apps, schema_editor):
    # Nobody who answers meanwhile waits.
    concurrently = "CONCURRENTLY" if schema_editor.connection.vendor == "postgresql" else ""
    schema_editor.execute(f'DROP INDEX {concurrently} IF EXISTS "{NAME}"')
    schema_editor.execute(
        f'CREATE INDEX {concurrently} "{NAME}" ON "annotation_decision" ("study_id", "question_id") '
        "WHERE NOT (settled_choice = '')"
    )


def drop(apps, schema_editor):
    concurrently = "CONCURRENTLY" if schema_editor.connection.vendor == "postgresql" else ""
    schema_editor.execute(f'DROP INDEX {concurrently} IF EXISTS "{NAME}"')


class Migration(migrations.Migration):
    """List the questions that a researcher settled: few among all."""

    atomic = False
    dependencies = [("annotation", "0047_list_simulated_sessions")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(create, drop)],
            state_operations=[
                migrations.AddIndex(
                    model_name="decision",
                    index=models.Index(
                        condition=models.Q(("settled_choice", ""), _negated=True),
                        fields=["study", "question"],
                        name=NAME,
                    ),
                )
            ],
        )
    ]
