"""Shows Markdown of researchers in a page as annotators read it."""

from django import template

from studies.markdown import Headed, render_headed

register = template.Library()


@register.filter
def as_read(text: str) -> Headed:
    """Return `text` as HTML, its heading apart."""
    return render_headed(text)
