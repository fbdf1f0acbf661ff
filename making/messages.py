"""The messages between the site and workers that make candidates: task names, contents. Pure.

Messages are plain JSON; images travel in them as base64. They may come twice or not at all: a repeated answer changes
nothing, and the site sends unanswered messages again.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from making.makers.base import FoundImage, Made, MadeImage, MadeText, MakerIdentity, NothingMade, Request
from making.tokens import Tokens

MAKE, BEGUN, MADE = "making.make", "making.begun", "making.made"


def to_requests(plain: Sequence[Mapping[str, Any]]) -> list[Request]:
    """Return requests that `from_requests` wrote."""
    return [Request(**each) for each in plain]


def from_requests(requests: Sequence[Request]) -> list[dict[str, Any]]:
    """Return requests as plain JSON."""
    return [{"text": each.text, "count": each.count, "seed": each.seed} for each in requests]


def from_results(identity: MakerIdentity, results: Sequence[Sequence[Made] | NothingMade]) -> dict[str, Any]:
    """Return what a maker made, and what it is, as plain JSON."""
    return {
        "identity": {"name": identity.name, "version": identity.version, "weights": identity.weights},
        "results": [
            _plain_nothing(result) if isinstance(result, NothingMade) else {"made": [_plain(each) for each in result]}
            for result in results
        ],
    }


def to_results(answer: Mapping[str, Any]) -> tuple[MakerIdentity, list[Sequence[Made] | NothingMade]]:
    """Return what `from_results` wrote."""
    results: list[Sequence[Made] | NothingMade] = [
        _nothing(each) if "nothing" in each else [_made(one) for one in each["made"]] for each in answer["results"]
    ]
    return MakerIdentity(**answer["identity"]), results


def _plain_nothing(made: NothingMade) -> dict[str, Any]:
    return {
        "nothing": made.reason,
        "prompt": made.prompt,
        "answer": made.answer,
        "tokens": _numbers(made.tokens),
    }


def _nothing(plain: Mapping[str, Any]) -> NothingMade:
    told = plain.get("prompt", ""), plain.get("answer", "")
    return NothingMade(plain["nothing"], *told, Tokens(*plain.get("tokens", ())))


def _plain(made: Made) -> dict[str, Any]:
    if isinstance(made, MadeText):
        return {"text": made.text, "prompt": made.prompt, "tokens": _numbers(made.tokens)}
    if isinstance(made, FoundImage):
        return {"found": made.image, "similarity": made.similarity}
    return {
        "image": b64encode(made.data).decode(),
        "seed": made.seed,
        "prompt": made.prompt,
        "problem": made.problem,
    }


def _numbers(tokens: Tokens) -> list[int]:
    return [tokens.prompt, tokens.completion]


def _made(plain: Mapping[str, Any]) -> Made:
    if "text" in plain:
        return MadeText(plain["text"], plain["prompt"], Tokens(*plain.get("tokens", ())))
    if "found" in plain:
        return FoundImage(plain["found"], plain["similarity"])
    return MadeImage(b64decode(plain["image"]), plain["seed"], plain["prompt"], plain["problem"])
