"""Stored rows of a release: one JSON array per line, with the type of row and its fields."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from results.exporting.base import RowType
from results.exporting.rows import (
    AcceptedInstance,
    AcceptedQuestion,
    DecidedQuestion,
    DescribedImage,
    ExportedImage,
    GivenPrediction,
    GivenResponse,
    NotedEvent,
    PredictionConditions,
)


def row_line(sort: RowType, row: Any) -> bytes:
    """Return the line that stores `row`, a row of `results.exporting.rows`."""
    kept = json.dumps([sort, asdict(row)], ensure_ascii=False, default=datetime.isoformat)
    return f"{kept}\n".encode()


def read_row(line: bytes, wanted: RowType) -> Any:
    """Return the row stored in `line`, unchanged, or None if its type is not `wanted`."""
    if not line.startswith(f'["{wanted}", '.encode()):
        return None
    return _READ[wanted](json.loads(line)[1])


def read_any_row(line: bytes) -> tuple[RowType, Any]:
    """Return the row stored in `line`, unchanged, with its type."""
    sort, kept = json.loads(line)
    return sort, _READ[sort](kept)


def _instance(kept: Mapping[str, Any]) -> AcceptedInstance:
    questions = tuple(AcceptedQuestion(**question) for question in kept.get("questions", ()))
    images = [ExportedImage(**image) for image in kept["images"]]
    return AcceptedInstance(**{**kept, "images": images, "questions": questions})


def _response(kept: Mapping[str, Any]) -> GivenResponse:
    return GivenResponse(**{**kept, "received_at": datetime.fromisoformat(kept["received_at"])})


def _decision(kept: Mapping[str, Any]) -> DecidedQuestion:
    at = kept["decided_at"]
    return DecidedQuestion(**{**kept, "decided_at": datetime.fromisoformat(at) if at else None})


def _event(kept: Mapping[str, Any]) -> NotedEvent:
    return NotedEvent(**{**kept, "at": datetime.fromisoformat(kept["at"])})


def _description(kept: Mapping[str, Any]) -> DescribedImage:
    found = DescribedImage(**kept)
    return replace(found, tags=tuple(found.tags), looked_for=tuple(found.looked_for))


_READ: Mapping[RowType, Callable[[Mapping[str, Any]], Any]] = {
    "instances": _instance,
    "responses": _response,
    "decisions": _decision,
    "predictions": lambda kept: GivenPrediction(**kept),
    "conditions": lambda kept: PredictionConditions(**kept),
    "descriptions": _description,
    "events": _event,
}
