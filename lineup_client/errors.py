"""Errors: the server's sentence, and the places that are wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

MOST_SHOWN = 10


class LineupError(Exception):
    """The server refused. `detail` is its sentence, `errors` are places; `type` and `status` name the refusal."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.type: str = str(problem.get("type", "about:blank")).removeprefix("urn:lineup:problem:")
        self.detail: str = str(problem.get("detail") or problem.get("title") or f"The server answered {status}.")
        self.errors: Sequence[Mapping[str, Any]] = problem.get("errors") or []
        super().__init__("\n".join([self.detail, *map(_line, self.errors[:MOST_SHOWN])]))


def _line(error: Mapping[str, Any]) -> str:
    where = [f"{name} {error[name]}" for name in ("record", "line", "field") if error.get(name)]
    return f"  {', '.join(where)}: {error.get('reason')}" if where else f"  {error.get('reason')}"


class NotReached(Exception):
    """No response came after all tries; the request may have been carried out."""
