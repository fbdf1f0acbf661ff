"""Outcomes as researchers' pages word them."""

from django import template

from analytics.outcomes import Outcome

# Files and addresses keep the stored word.
WORDS = {str(Outcome.NONE_YET): "undecided"}

register = template.Library()


@register.filter
def outcome_word(outcome: object) -> str:
    """Return the word for an outcome. Example: "none yet" is "undecided"."""
    return WORDS.get(str(outcome), str(outcome))
