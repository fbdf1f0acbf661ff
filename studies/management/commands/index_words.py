from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from studies.actions.word_index import create_word_index


class Command(BaseCommand):
    help = (
        "Create the index that makes searches by word quick in a large project, on PostgreSQL, unless it is there. "
        "`migrate` does so where the extension pg_trgm can be created. People can work meanwhile."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if connection.vendor != "postgresql":
            raise CommandError("Only PostgreSQL has this index. On SQLite, searches read every instance.")
        if problem := create_word_index(connection):
            raise CommandError(problem)
        self.stdout.write("Searches by word use an index.")
