"""Refusals and other sentences of the site, in which names of entries of a study file are between backticks."""

import re

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString

register = template.Library()
_QUOTED = re.compile(r"`([^`]+)`")


@register.filter
def with_code(sentence: object) -> SafeString:
    """Return a sentence with what is between backticks as code."""
    return SafeString(_QUOTED.sub(r"<code>\1</code>", conditional_escape(str(sentence))))
