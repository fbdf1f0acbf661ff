"""Outcomes as researchers' pages word them."""

from django import template

from results.reports.explorer_links import OUTCOME_WORDS

register = template.Library()


@register.filter
def outcome_word(outcome: object) -> str:
    """Return the word for an outcome. Example: "none yet" is "undecided"."""
    return OUTCOME_WORDS.get(str(outcome), str(outcome))
