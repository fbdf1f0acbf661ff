"""A search in texts that stand in a JSON column under names: what the texts say, and not what the names are."""

import json
from typing import Any

from django.db.models import BooleanField, F, Func, Value


def says(column: str, words: str) -> Func:
    """Return whether a text of a JSON object of texts has these words in it, whatever their case as far as the database
    knows it (SQLite knows that of ASCII letters only)."""
    return _Says(F(column), Value(words), output_field=BooleanField())


class _Says(Func):
    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        column, words = self.get_source_expressions()
        escaped = words.value.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        sought = Func(
            column,
            Value(f"%{escaped}%"),
            template=r"EXISTS (SELECT 1 FROM json_each(%(expressions)s ESCAPE '\')",
            arg_joiner=") AS said WHERE said.value LIKE ",
        )
        return compiler.compile(sought)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # Much quicker than a row for each text. The words are a string of JSON, taken letter by letter.
        column, words = self.get_source_expressions()
        path = Value(f'$.* ? (@ like_regex {json.dumps(words.value)} flag "iq")')
        sought = Func(column, path, template="jsonb_path_exists(%(expressions)s::jsonpath)")
        return compiler.compile(sought)
