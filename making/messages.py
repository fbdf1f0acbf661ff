"""The messages between the site and workers that make candidates: task names, contents. Pure.

Messages are plain JSON; images travel in them as base64. They may come twice or not at all: a repeated answer changes
nothing, and the site sends unanswered messages again.
"""

import json
import math
import uuid
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from pydantic import TypeAdapter

from making.filters.base import CandidateImage, CandidateText, FilterIdentity, FilterInput, Verdict
from making.makers.base import FoundImage, Made, MadeImage, MadeText, MakerIdentity, NothingMade, Request
from making.tokens import NO_TOKENS, Tokens

MAKE, JUDGE, BEGUN, MADE = "making.make", "making.judge", "making.begun", "making.made"
T = TypeVar("T")


class BadAnswer(Exception):
    """A worker's answer cannot be used; the message is for people and says what to do."""


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
    """Return what `from_results` wrote. Raises BadAnswer."""
    identity = _part(answer, "identity", lambda plain: _read(MakerIdentity, plain))
    return identity, _part(answer, "results", lambda plain: [_result(each) for each in plain])


def check_results(
    results: Sequence[Sequence[Made] | NothingMade], requests: Sequence[Request], *, images: bool
) -> None:
    """Raise BadAnswer unless the results answer these requests, with images or with texts."""
    if len(results) != len(requests):
        raise _bad(f"it has {len(results)} results for {len(requests)} requests")
    for request, result in zip(requests, results, strict=True):
        if isinstance(result, NothingMade):
            continue
        if len(result) > request.count:
            raise _bad(f"it has {len(result)} candidates where {request.count} were requested")
        if any(isinstance(made, MadeText) == images for made in result):
            raise _bad("it has texts for images" if images else "it has images for texts")


def from_failure(sentence: str, tokens: Tokens = NO_TOKENS) -> dict[str, Any]:
    """Return why a batch failed, and what a language model had used for it by then, as plain JSON."""
    # Its `id` tells an answer that comes twice from another one.
    used = {"id": uuid.uuid4().hex, "tokens": _numbers(tokens)} if tokens != NO_TOKENS else {}
    return {"error": sentence} | used


def to_lost_tokens(answer: Mapping[str, Any]) -> Mapping[str, list[int]]:
    """Return the id of an answer that `from_failure` wrote -> its tokens; nothing if there are none."""
    try:
        return {str(answer["id"]): _numbers(_read(Tokens, _tokens(answer)))} if "error" in answer else {}
    except (KeyError, TypeError, ValueError):
        # Of a worker of another version; its sentence is what matters.
        return {}


def from_candidates(candidates: Sequence[FilterInput]) -> list[dict[str, Any]]:
    """Return candidates to judge as plain JSON: what a model filter needs."""
    return [
        {"text": each.text, "parent": each.parent}
        if isinstance(each, CandidateText)
        else {"image": each.image, "text": each.text, "rival": each.rival}
        for each in candidates
    ]


def to_candidates(plain: Sequence[Mapping[str, Any]]) -> list[FilterInput]:
    """Return candidates that `from_candidates` wrote."""
    return [CandidateImage(**each) if "image" in each else CandidateText(**each) for each in plain]


def from_verdicts(identity: FilterIdentity, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return what a filter says of candidates, and what it is, as plain JSON."""
    return {"identity": asdict(identity), "verdicts": [asdict(each) for each in verdicts]}


def to_verdicts(answer: Mapping[str, Any], count: int) -> tuple[FilterIdentity, list[Verdict]]:
    """Return what `from_verdicts` wrote, if it has a verdict for each of `count` candidates. Raises BadAnswer."""
    identity = _part(answer, "identity", lambda plain: _read(FilterIdentity, plain))
    verdicts = _part(answer, "verdicts", lambda plain: [_read(Verdict, each) for each in plain])
    if len(verdicts) != count:
        raise _bad(f"it has {len(verdicts)} verdicts for {count} candidates")
    if not all(math.isfinite(number) for each in verdicts for number in (each.score, each.gap) if number is not None):
        raise _bad("it has a score that is not a number")
    return identity, verdicts


def _part(answer: Mapping[str, Any], name: str, read: Callable[[Any], T]) -> T:
    if name not in answer:
        raise _bad(f"`{name}` is missing")
    try:
        return read(answer[name])
    # Whatever is wrong in JSON of another form: a list for an object, a missing key, no base64.
    except (KeyError, TypeError, ValueError) as error:
        raise _bad(f"`{name}` cannot be read") from error


def _bad(why: str) -> BadAnswer:
    return BadAnswer(
        f"The answer of a worker with models cannot be used: {why}. Check that the worker runs the same version of "
        "Lineup as the site, and go on."
    )


def _read(form: type[T], plain: Any) -> T:
    return TypeAdapter(form).validate_json(json.dumps(plain), strict=True)


def _result(plain: Mapping[str, Any]) -> Sequence[Made] | NothingMade:
    if "nothing" not in plain:
        return [_made(one) for one in plain["made"]]
    told = {"prompt": plain.get("prompt", ""), "answer": plain.get("answer", ""), "tokens": _tokens(plain)}
    return _read(NothingMade, {"reason": plain["nothing"]} | told)


def _tokens(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return tokens, which workers of older versions do not count, as their fields."""
    return asdict(Tokens(*plain.get("tokens", ())))


def _plain_nothing(made: NothingMade) -> dict[str, Any]:
    return {
        "nothing": made.reason,
        "prompt": made.prompt,
        "answer": made.answer,
        "tokens": _numbers(made.tokens),
    }


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
        return _read(MadeText, {"text": plain["text"], "prompt": plain["prompt"], "tokens": _tokens(plain)})
    if "found" in plain:
        return _read(FoundImage, {"image": plain["found"], "similarity": plain["similarity"]})
    known = {name: plain[name] for name in ("seed", "prompt", "problem")}
    return replace(_read(MadeImage, {"data": ""} | known), data=b64decode(plain["image"], validate=True))
