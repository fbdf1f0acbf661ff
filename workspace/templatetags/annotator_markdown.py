"""Render researchers' Markdown as annotators see it."""

from django import template

from studies.markdown import HeadedText, render_headed

register = template.Library()


@register.filter
def annotator_markdown(text: str) -> HeadedText:
    """Return `text` as HTML, with its heading apart."""
    return render_headed(text)
