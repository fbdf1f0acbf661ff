"""How the list of instances is narrowed by an address."""

from collections.abc import Sequence
from urllib.parse import urlencode

from analytics.outcomes import Outcome

# In the place of a type or subtype: any.
ALL = "all"
# A type, subtype or split that the source does not name.
NO_NAME = "(none)"
# Of a question: that somebody has answered it, that two or more have, and that a researcher has settled it.
ANSWERED, SEVERAL, SETTLED = "answered", "several", "settled"
# Of a question, beside the reasons that annotators give: that they were led past it because its images failed.
NOT_SHOWN = "not-shown"
# What a page whose numbers are kept hands to the list: how many instances it counted, which may be others by then.
COUNTED = "counted"


def in_address(outcome: Outcome) -> str:
    return outcome.replace(" ", "-")


def narrowed_to(categories: Sequence[tuple[str, str]], *, is_type: bool) -> str:
    """Return the query that narrows the list of instances to the type of all `categories`, or to the one that they are;
    "" where they are of several types, and for none."""
    if len({type for type, _ in categories}) != 1:
        return ""
    type, subtype = (name or NO_NAME for name in categories[0])
    return urlencode({"type": type} if is_type else {"type": type, "subtype": subtype})


def listing(*, study: str = "", category: tuple[str, str] = (ALL, ALL), **narrowed: str) -> str:
    """Return the query that narrows the list of instances to what `study` asks about, "" for whatever any does, of a
    type and subtype, and by what else stands in its addresses."""
    query = urlencode({name: value for name, value in {"study": study, **narrowed}.items() if value})
    is_type = category[1] == ALL
    where = "" if category == (ALL, ALL) else narrowed_to([category], is_type=is_type)
    return "&".join(filter(None, [query, where]))
