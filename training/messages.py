"""The messages between the site and workers that train: task names, contents. Pure.

Messages are plain JSON. They may come twice, late or not at all: what is stored once changes nothing the second time,
and the site asks again when a worker is silent for long. A worker reads the examples from the site, and learns there
whether to go on.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypedDict, TypeVar

from pydantic import TypeAdapter

from predictions.scorers import ModelIdentity
from training.plan import Progress, Result

TRAIN = "training.train"
DISCARD, DISCARDED = "training.discard", "training.discarded"
PUSH, PUSHED = "training.push", "workspace.model_pushed"
BEAT, PROGRESS, TRAINED = "training.beat", "training.progress", "training.trained"
# Parts of the examples.
TRAINING, VALIDATION = "training", "validation"
T = TypeVar("T")


class Order(TypedDict):
    """What a worker is to train.

    `plan`: fields of `training.plan.Plan`. `folder`: the name of its folder among the trained models. `site`: where the
    examples are, with the `key` that opens them; `sha256`: part -> that of its file.
    """

    run: int
    attempt: int
    plan: dict[str, Any]
    folder: str
    site: str
    key: str
    sha256: dict[str, str]


class PushOrder(TypedDict):
    """Weights that a worker is to push to the Hub. `site`: where `key` opens what the push needs; it has the token."""

    push: int
    attempt: int
    site: str
    key: str


class BadAnswer(Exception):
    """A worker's answer cannot be used; the message is for people and says what to do."""


@dataclass(frozen=True)
class Report:
    """How far training is. `seconds`: the time of this attempt."""

    progress: Progress
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """A trained model, with the identity that predictions give it. `seconds`: the time of this attempt."""

    result: Result
    identity: ModelIdentity
    seconds: float


def to_plain(told: Report | Outcome) -> dict[str, Any]:
    """Return a report or an outcome as plain JSON."""
    return asdict(told)


def to_report(plain: Mapping[str, Any]) -> Report:
    """Return a report that `to_plain` wrote. Raises BadAnswer."""
    return _read(Report, plain)


def to_outcome(plain: Mapping[str, Any]) -> Outcome:
    """Return an outcome that `to_plain` wrote. Raises BadAnswer."""
    return _read(Outcome, plain)


def _read(form: type[T], plain: Mapping[str, Any]) -> T:
    try:
        return TypeAdapter(form).validate_json(json.dumps(plain), strict=True)
    except (TypeError, ValueError) as error:
        raise BadAnswer(
            "The answer of a worker that trains cannot be used. Check that the worker runs the same version of Lineup "
            "as the site, and resume."
        ) from error
