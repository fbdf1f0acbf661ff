"""Renders what researchers write (consent, instructions) as HTML; raw HTML in it is shown, never run."""

from dataclasses import dataclass
from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


@dataclass(frozen=True)
class Headed:
    """A text and the heading that it begins with, "" where it begins with something else, both as HTML."""

    heading: SafeString
    body: SafeString


@lru_cache(maxsize=256)
def render_markdown(text: str) -> SafeString:
    """Return `text` as HTML. Safe by construction: the renderer escapes HTML and refuses script links."""
    html: str = _MARKDOWN.render(text)
    return mark_safe(html)  # noqa: S308


@lru_cache(maxsize=256)
def render_headed(text: str) -> Headed:
    """Return `text` with the heading that it begins with apart, so that its page has one heading, and no two."""
    tokens = _MARKDOWN.parse(text)
    # A heading is three tokens: it opens, says something and closes.
    if not tokens or tokens[0].type != "heading_open":
        return Headed(SafeString(""), render_markdown(text))
    heading = _MARKDOWN.renderer.render(tokens[1:2], _MARKDOWN.options, {})
    body = _MARKDOWN.renderer.render(tokens[3:], _MARKDOWN.options, {})
    return Headed(mark_safe(heading), mark_safe(body))  # noqa: S308
