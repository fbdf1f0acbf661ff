"""Registry of filters. A new filter is one file and one line here."""

from functools import cache
from pkgutil import resolve_name

from making.filters.base import CandidateText, Filter, Verdict

FILTERS = {
    "length": "making.filters.length.Length",
    "duplicates": "making.filters.duplicates.Duplicates",
}


@cache
def get_filter(name: str) -> type[Filter]:
    """Return the class of a filter. Raises KeyError for a name that is not in the registry."""
    found: type[Filter] = resolve_name(FILTERS[name])
    return found


__all__ = ["FILTERS", "CandidateText", "Filter", "Verdict", "get_filter"]
