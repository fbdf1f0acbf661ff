import logging

from django.db import migrations

from studies.actions.word_index import create_word_index, drop_word_index


def create(apps, schema_editor):
    if problem := create_word_index(schema_editor.connection):
        logging.getLogger(__name__).warning(problem)


def drop(apps, schema_editor):
    drop_word_index(schema_editor.connection)


class Migration(migrations.Migration):
    """Find words in keys and captions by an index on PostgreSQL, if its extension pg_trgm can be created."""

    # The index is made while people write.
    atomic = False
    dependencies = [("studies", "0042_list_undone_questions")]

    operations = [migrations.RunPython(create, drop, elidable=False)]
