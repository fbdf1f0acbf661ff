"""Renders what researchers write (consent, instructions) as HTML; raw HTML in it is shown, never run."""

from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


@lru_cache(maxsize=256)
def render_markdown(text: str) -> SafeString:
    """Return `text` as HTML. Safe by construction: the renderer escapes HTML and refuses script links."""
    html: str = _MARKDOWN.render(text)
    return mark_safe(html)  # noqa: S308
