"""Moments on researchers' pages: in UTC as the server writes them, in the reader's zone once `static/js/moments.js` has
read them."""

from datetime import UTC, datetime

from django import template
from django.utils.dateformat import format as date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

# How much of a moment is told: the name is also what the script knows it by.
FORMATS = {"minute": "j M Y, H:i", "second": "j M Y, H:i:s", "short": "j M, H:i"}

register = template.Library()


@register.simple_tag
def moment(at: datetime | None, told: str = "minute") -> SafeString:
    """Return a moment as an element that a browser can tell in its reader's zone; nothing where there is none."""
    if at is None:
        return SafeString("")
    at = at.astimezone(UTC)
    written = date_format(at, FORMATS[told])
    return format_html('<time datetime="{}" data-moment="{}">{} UTC</time>', at.isoformat(), told, written)
