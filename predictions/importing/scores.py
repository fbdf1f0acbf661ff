"""Lineup's own format: one JSON object per line with a model's score for every option (docs/predictions.md)."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.result_files import ResultsFileError, RowContent
from predictions.importing.base import Answer, Row
from studies.importing.base import RowProblem
from studies.importing.captions import CAPTION_RULES
from studies.importing.rows import kind_of, read_objects
from studies.kinds import KINDS

FIELDS = ("key", "kind", "variant", "scores", "caption_rule")
_OPTION = re.compile(r"[a-z][a-z0-9_-]{0,49}")


class _InvalidRow(Exception):
    """A row is invalid; the message is a whole sentence."""


def read(path: Path) -> list[Row]:
    """Return one row per line, without `is_right`. Raises evaluation.result_files.ResultsFileError."""
    rows: list[Row] = []
    problems: list[str] = []
    with path.open("rb") as stream:
        for item in read_objects(stream):
            if isinstance(item, RowProblem):
                problems.append(str(item))
                continue
            number, fields = item
            try:
                rows.append(_row(number, fields))
            except _InvalidRow as error:
                problems.append(f"Record {number}: {error}")
    if problems:
        raise ResultsFileError(problems)
    return rows


def _row(number: int, fields: Mapping[str, Any]) -> Row:
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise _InvalidRow(f"The field {unknown[0]!r} is unknown. Use only {', '.join(FIELDS)}.")
    key, kind, variant, rule = (_text(fields, name) for name in ("key", "kind", "variant", "caption_rule"))
    if kind not in KINDS:
        raise _InvalidRow(f"The kind {kind!r} is unknown. Use one of {', '.join(KINDS)}.")
    if rule and rule not in CAPTION_RULES:
        raise _InvalidRow(f"The caption rule {rule!r} is unknown. Use one of {', '.join(CAPTION_RULES)}.")
    scores = _scores(fields.get("scores"))
    return Row(number, RowContent("", "", "", "", key=key), (Answer(kind, variant, None, scores),), rule)


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name, "")
    if isinstance(value, int) and not isinstance(value, bool) and name == "key":
        return str(value)
    if not isinstance(value, str):
        raise _InvalidRow(f"The field {name} must be a text, not {kind_of(value)}.")
    if name in ("key", "kind") and not value:
        raise _InvalidRow(f"The field {name} is missing.")
    return value


def _scores(value: Any) -> dict[str, float]:
    if not isinstance(value, dict) or len(value) < 2:
        raise _InvalidRow(
            'The field scores must be an object with a number for every option, like {"caption": 0.3, ...}.'
        )
    return {_option(option): _number(option, number) for option, number in value.items()}


def _option(option: str) -> str:
    if not _OPTION.fullmatch(option):
        raise _InvalidRow(
            f"{option[:50]!r} is not an option. Options have names like caption, negative_image, candidate-2."
        )
    return option


def _number(option: str, number: Any) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise _InvalidRow(f"The score of {option} is {kind_of(number)}, not a number.")
    try:
        return float(number)
    except OverflowError as error:
        raise _InvalidRow(f"The score of {option} is too large.") from error
