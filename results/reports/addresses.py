"""How the list of instances is narrowed by an address."""

from collections.abc import Sequence
from urllib.parse import urlencode

from analytics.outcomes import Outcome

# A type, subtype or split that the source does not name.
NO_NAME = "(none)"


def in_address(outcome: Outcome) -> str:
    return outcome.replace(" ", "-")


def narrowed_to(categories: Sequence[tuple[str, str]], *, is_type: bool) -> str:
    """Return the query that narrows the list of instances to the type of all `categories`, or to the one that they are;
    "" where they are of several types, and for none."""
    if len({type for type, _ in categories}) != 1:
        return ""
    type, subtype = (name or NO_NAME for name in categories[0])
    return urlencode({"type": type} if is_type else {"type": type, "subtype": subtype})


def listing(*, study: str, category: tuple[str, str] | None, state: str = "", question: str = "") -> str:
    """Return the query that narrows the list of instances to what `study` asks about, "" for whatever any does, of a
    type and subtype, None for all, and to those that stand so there, or have a question that does."""
    narrowed = {"study": study, "state": state, "question": question}
    query = urlencode({name: value for name, value in narrowed.items() if value})
    return "&".join(filter(None, [query, narrowed_to([category], is_type=False) if category else ""]))
