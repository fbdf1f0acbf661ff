"""What can go wrong: the server's sentence, and where it says that something is wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

# More are counted, not shown.
MOST_SHOWN = 10


class LineupError(Exception):
    """The server refused. `detail` is its sentence, `errors` are the places, `type` and `status` tell which refusal."""

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
    """No answer came, however often it was asked; what was asked for may have been done."""
