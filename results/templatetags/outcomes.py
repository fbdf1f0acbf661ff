"""Words for outcomes on researchers' pages."""

import re

from django import template

from results.reports.explorer_links import word_of
from studies.models import Study

register = template.Library()
# Between the parts of a sentence, not within its brackets.
_BETWEEN = re.compile(r"; (?![^()]*\))")


@register.filter
def outcome_word(outcome: object) -> str:
    """Return the word for an outcome. Example: "none yet" is "undecided"."""
    return word_of(outcome)


@register.filter
def outcome_in(outcome: object, study: Study) -> str:
    """Return the word for an outcome in `study`; "collected" if its rule accepts every answer."""
    return word_of(outcome, study.rule)


@register.filter
def sentences_by_study(sentence: str) -> list[str]:
    """Split a sentence about several studies, "name: ...; name: ...", into its parts; other sentences stay whole."""
    parts = _BETWEEN.split(sentence)
    return parts if len(parts) > 1 and all(": " in part for part in parts) else [sentence]
