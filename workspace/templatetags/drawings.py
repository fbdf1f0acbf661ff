"""Drawings of what annotators see of each kind of question."""

from django import template

register = template.Library()


@register.filter
def drawing_of(kind: str) -> list[str]:
    """Return the drawing of a kind and, for a kind without its own, a general one: the first that exists is shown."""
    return [f"workspace/drawings/{kind}.svg", "workspace/drawings/any.svg"]
