"""Facets and active filters of the explorer as links."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analytics.outcomes import Outcome
from results.queries.instances.explorer import ALIKE, IMAGES, NOT_ACCEPTED, PARTED, PROGRESS, QUESTIONS, REASONS, STATES
from results.queries.instances.facets import FACETS, FacetCounts
from results.reports.explorer_links import in_address, word_of
from results.views.search import Search
from studies.models import Study

# Values of a facet that are shown before the others unfold.
MOST_SHOWN = 8
LABELS: Mapping[str, str] = {
    "words": "Words",
    "state": "Outcome",
    "study": "Study",
    "type": "Type",
    "subtype": "Subtype",
    "split": "Split",
    "tag": "Tag",
    "images": "Images",
    "progress": "Progress of its questions",
    "question": "Has a question that is",
    "alike": "Answers",
    "reason": "Reported problem",
    "parted": "People and models",
    "model": "Answered by model",
    "person": "Answered by annotator",
    "survey": "In survey",
    "without": "Not asked about by",
    "longer": "Seconds, from",
    "shorter": "Seconds, to",
}
# Filter -> its values in addresses -> as displayed.
CODED: Mapping[str, Mapping[str, str]] = {
    "state": STATES,
    "images": IMAGES,
    "progress": PROGRESS,
    "question": QUESTIONS,
    "alike": ALIKE,
    "reason": REASONS,
    "parted": PARTED,
}


@dataclass(frozen=True)
class FacetValue:
    """A value with the number of instances it leaves, None if unknown. `query` chooses it, or unchooses it."""

    text: str
    count: int | None
    is_chosen: bool
    query: str


@dataclass(frozen=True)
class Facet:
    """A filter whose values are links. `values` come first, `more` unfold."""

    name: str
    label: str
    values: Sequence[FacetValue]
    more: Sequence[FacetValue]


@dataclass(frozen=True)
class ActiveFilter:
    """A filter in use; `query` is that of the list without it."""

    label: str
    text: str
    query: str


def coded_texts(search: Search, studies: Iterable[Study]) -> Mapping[str, Mapping[str, str]]:
    """Return `CODED` with the words of the chosen one of `studies`."""
    rule = next((study.rule for study in studies if study.slug == search.wanted.study), "")
    word = {in_address(Outcome.ACCEPTED): word_of(Outcome.ACCEPTED, rule).capitalize()}
    return {**CODED, **{name: {**CODED[name], **word} for name in ("state", "question")}}


def facets_of(
    search: Search,
    names: Mapping[str, Iterable[str]],
    counts: FacetCounts | None,
    coded: Mapping[str, Mapping[str, str]],
) -> list[Facet]:
    """Return the facets with a choice.

    names: facet -> its values, for facets without fixed ones. coded: of `coded_texts`, for the others.
    """
    found = []
    for facet in FACETS:
        chosen = getattr(search.wanted, facet)
        values = [
            FacetValue(text, count, value == chosen, search.query(**{facet: "" if value == chosen else value}))
            for value, text in _values(facet, names, chosen, coded)
            if _is_offered(value, count := counts.of(facet, value) if counts else None) or value == chosen
        ]
        if len(values) > MOST_SHOWN:
            values.sort(key=lambda value: (not value.is_chosen, -(value.count or 0)))
        if values:
            found.append(Facet(facet, LABELS[facet], values[:MOST_SHOWN], values[MOST_SHOWN:]))
    return found


def _is_offered(value: str, count: int | None) -> bool:
    """Whether a facet offers a value: not a state that only sums up others, nor one that no instance has."""
    return value != NOT_ACCEPTED and count != 0


def _values(
    facet: str, names: Mapping[str, Iterable[str]], chosen: str, coded: Mapping[str, Mapping[str, str]]
) -> list[tuple[str, str]]:
    """Return the values of a facet with their texts; a chosen value is one even where no instance has it."""
    values = dict(coded[facet]) if facet in coded else {name: name for name in names[facet]}
    return [*values.items(), *([(chosen, chosen)] if chosen and chosen not in values and facet not in coded else [])]


def active_filters(search: Search, coded: Mapping[str, Mapping[str, str]]) -> list[ActiveFilter]:
    """Return the filters in use, in the order of the page. coded: of `coded_texts`."""
    return [
        ActiveFilter(label, coded.get(name, {}).get(value, value), search.query(**{name: ""}))
        for name, label in LABELS.items()
        if (value := getattr(search.wanted, name)) and (name not in coded or value in coded[name])
    ]
