"""Search in texts stored as values of a JSON object, ignoring its keys."""

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from django.db.models import BooleanField, F, Func, Value

# An index of groups of three letters finds nothing shorter (`studies.actions.word_index`).
SHORTEST_INDEXED = 3


def captions_containing(column: str, words: str) -> Func:
    """Match rows in which a text of a JSON object contains these words, ignoring case.

    Case follows the database: SQLite ignores that of ASCII letters only.
    """
    return _CaptionsContaining(F(column), Value(words), output_field=BooleanField())


class _CaptionsContaining(Func):
    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        column, words = self.get_source_expressions()
        sought = Func(
            column,
            Value(f"%{_literal(words.value)}%"),
            template=r"EXISTS (SELECT 1 FROM json_each(%(expressions)s ESCAPE '\')",
            arg_joiner=") AS said WHERE said.value LIKE ",
        )
        return compiler.compile(sought)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # Much faster than a row per text. The words are encoded as a JSON string and matched literally.
        column, words = self.get_source_expressions()
        path = Value(f'$.* ? (@ like_regex {json.dumps(words.value)} flag "iq")')
        # Where a text has the words, the object has their parts, which an index finds.
        parts = [Value(f"%{_literal(part)}%") for part in indexed_parts(words.value)]
        sought = Func(
            Func(column, path, template="jsonb_path_exists(%(expressions)s::jsonpath)"),
            *(Func(column, part, template="%(expressions)s", arg_joiner="::text ILIKE ") for part in parts),
            template="(%(expressions)s)",
            arg_joiner=" AND ",
        )
        return compiler.compile(sought)


def indexed_parts(words: str) -> Sequence[str]:
    """Return the parts of `words` that an object with them contains in its JSON, by every rule for upper case.

    A regular expression takes a letter for that in the other case, ILIKE makes both small: the two differ for letters
    such as the Greek final sigma. Letters with case outside ASCII are left out.
    """
    runs = ("".join(run) for is_plain, run in groupby(words, _is_plain) if is_plain)
    return [json.dumps(run, ensure_ascii=False)[1:-1] for run in runs if len(run) >= SHORTEST_INDEXED]


def _is_plain(character: str) -> bool:
    return character.isascii() or character.lower() == character == character.upper()


def _literal(text: str) -> str:
    """Return `text` as a pattern of LIKE that matches only it."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
