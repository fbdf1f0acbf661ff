"""Times on researchers' pages: in UTC, until `static/js/moments.js` converts them to the reader's time zone."""

from datetime import UTC, datetime

from django import template
from django.utils.dateformat import format as date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

# Precisions of a time; the script uses the same names.
FORMATS = {"minute": "j M Y, H:i", "second": "j M Y, H:i:s", "short": "j M, H:i", "day": "j M Y"}

register = template.Library()


@register.simple_tag
def moment(at: datetime | None, told: str = "minute") -> SafeString:
    """Return the HTML of a time that the browser can convert to the reader's time zone; "" for None."""
    if at is None:
        return SafeString("")
    at = at.astimezone(UTC)
    written = date_format(at, FORMATS[told])
    # The script leaves out the zone of a day; where scripts run it is hidden from the start, so that nothing moves.
    zone = SafeString(' <span class="zone">UTC</span>') if told == "day" else " UTC"
    return format_html('<time datetime="{}" data-moment="{}">{}{}</time>', at.isoformat(), told, written, zone)
