"""Print evaluations as a table of models x scores with the chance row, and write them as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from analytics.scores import Score
from evaluation.protocols.base import Breakdown, Cell, Evaluation

NO_VALUE = "-"


@dataclass(frozen=True)
class Line:
    """One model's evaluation; `model`: its name in the table."""

    model: str
    evaluation: Evaluation


def as_text(heading: str, lines: Sequence[Line], chance: Mapping[str, float | None]) -> str:
    """Return Markdown: all models overall with the chance row, then each model by part, then notes."""
    names = list(dict.fromkeys(name for line in lines for name in line.evaluation.whole.cells))
    rows = [[line.model, *_percents(line.evaluation.whole, names)] for line in lines]
    rows.append(["chance", *(_format_percent(_percent(chance.get(name))) for name in names)])
    texts = [f"## {heading}", _table(["model", *names], rows)]
    for line in lines:
        if line.evaluation.parts:
            columns = list(dict.fromkeys(name for part in line.evaluation.parts for name in part.cells))
            body = [[part.title, f"{part.n:,}", *_percents(part, columns)] for part in line.evaluation.parts]
            texts += [f"### {line.model}", _table(["part", "n", *columns], body)]
    for line in lines:
        said = [
            f"- {line.model}, {name}: {cell.reason}"
            for name, cell in line.evaluation.whole.cells.items()
            if cell.reason
        ]
        said += [f"- {line.model}: {note}" for note in line.evaluation.notes]
        if said:
            texts.append("\n".join(said))
    return "\n\n".join(texts) + "\n"


def as_json(lines: Sequence[Line], chance: Mapping[str, float | None]) -> dict[str, Any]:
    """Return the same as plain JSON, with the counts behind every percentage."""
    return {
        "models": [
            {
                "model": line.model,
                "whole": _breakdown(line.evaluation.whole),
                "parts": [_breakdown(part) for part in line.evaluation.parts],
                "notes": list(line.evaluation.notes),
            }
            for line in lines
        ],
        "chance": {name: _number(_percent(share)) for name, share in chance.items()},
    }


def _breakdown(part: Breakdown) -> dict[str, Any]:
    return {"title": part.title, "n": part.n, "cells": {name: _cell(cell) for name, cell in part.cells.items()}}


def _cell(cell: Cell) -> dict[str, Any]:
    said: dict[str, Any] = {"percent": _number(_percent_of(cell)), "n": cell.n}
    if isinstance(cell, Score):
        said["count"] = cell.count
    return said | ({"reason": cell.reason} if cell.reason else {})


def _percents(part: Breakdown, names: Sequence[str]) -> list[str]:
    return [_format_percent(_percent_of(part.cells[name])) if name in part.cells else NO_VALUE for name in names]


def _percent_of(cell: Cell) -> Decimal | None:
    return cell.percent() if isinstance(cell, Score) else _percent(cell.value)


def _percent(share: float | None) -> Decimal | None:
    return None if share is None else (Decimal(share) * 100).quantize(Decimal("0.01"), ROUND_HALF_UP)


def _format_percent(percent: Decimal | None) -> str:
    return NO_VALUE if percent is None else str(percent)


def _number(percent: Decimal | None) -> float | None:
    return None if percent is None else float(percent)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    ruler = [f"{'-' * max(width - 1, 2)}{'-' if column == 0 else ':'}" for column, width in enumerate(widths)]
    lines = [header, ruler, *rows]
    return "\n".join(
        "| "
        + " | ".join(
            text.ljust(width) if column == 0 else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        + " |"
        for line in lines
    )
