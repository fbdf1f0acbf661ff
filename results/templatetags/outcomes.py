"""Words for outcomes on researchers' pages."""

from django import template

from results.reports.explorer_links import word_of
from studies.models import Study

register = template.Library()


@register.filter
def outcome_word(outcome: object) -> str:
    """Return the word for an outcome. Example: "none yet" is "undecided"."""
    return word_of(outcome)


@register.filter
def outcome_in(outcome: object, study: Study) -> str:
    """Return the word for an outcome in `study`; "collected" if its rule accepts every answer."""
    return word_of(outcome, study.rule)
