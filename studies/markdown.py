"""Render researchers' Markdown (consent, instructions) as HTML; raw HTML in it is escaped."""

from dataclasses import dataclass
from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


@dataclass(frozen=True)
class HeadedText:
    """A text and its first heading ("" if it does not begin with one), both as HTML."""

    heading: SafeString
    body: SafeString


@lru_cache(maxsize=256)
def render_markdown(text: str) -> SafeString:
    """Return `text` as HTML. Safe: the renderer escapes HTML and refuses script links."""
    html: str = _MARKDOWN.render(text)
    return mark_safe(html)  # noqa: S308


@lru_cache(maxsize=256)
def render_headed(text: str) -> HeadedText:
    """Return the first heading of `text` and the rest separately, so that the page has only one main heading."""
    tokens = _MARKDOWN.parse(text)
    # A heading is three tokens: open, inline text, close.
    if not tokens or tokens[0].type != "heading_open":
        return HeadedText(SafeString(""), render_markdown(text))
    heading = _MARKDOWN.renderer.render(tokens[1:2], _MARKDOWN.options, {})
    body = _MARKDOWN.renderer.render(tokens[3:], _MARKDOWN.options, {})
    return HeadedText(mark_safe(heading), mark_safe(body))  # noqa: S308
