"""Registry of filters. A new filter is one file and one line here."""

from functools import cache
from pkgutil import resolve_name

from making.filters.base import (
    BaseFilter,
    CandidateImage,
    CandidateText,
    Filter,
    FilterIdentity,
    FilterInput,
    LoadedFilter,
    ModelFilter,
    StageContext,
    StageFilter,
    StageVerdicts,
    Verdict,
)

FILTERS = {
    "length": "making.filters.length.Length",
    "duplicates": "making.filters.duplicates.Duplicates",
    "near-duplicates": "making.filters.near_duplicates.NearDuplicates",
    "plausible": "making.filters.plausible.Plausible",
    "grammar": "making.filters.grammar.Grammar",
    "toxicity": "making.filters.toxicity.Toxicity",
    "says-the-same": "making.filters.says_the_same.SaysTheSame",
    "shows": "making.filters.shows.Shows",
    "adversarial-refinement": "making.filters.adversarial_refinement.AdversarialRefinement",
    "blind-solvability": "making.filters.blind_solvability.BlindSolvability",
}


@cache
def get_filter(name: str) -> type[BaseFilter]:
    """Return the class of a filter. Raises KeyError for a name that is not in the registry."""
    found: type[BaseFilter] = resolve_name(FILTERS[name])
    return found


__all__ = [
    "FILTERS",
    "BaseFilter",
    "CandidateImage",
    "CandidateText",
    "Filter",
    "FilterIdentity",
    "FilterInput",
    "LoadedFilter",
    "ModelFilter",
    "StageContext",
    "StageFilter",
    "StageVerdicts",
    "Verdict",
    "get_filter",
]
