"""Captions on researchers' pages, with their differences marked."""

from collections.abc import Mapping
from difflib import SequenceMatcher

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

# Comparing longer texts word by word takes too long and helps nobody.
MOST_WORDS = 200
# Less similar captions differ nearly everywhere: marks would show nothing.
ALIKE = 0.5

register = template.Library()


@register.simple_tag
def caption_marked(captions: Mapping[str, str], role: str) -> SafeString:
    """Return the caption of `role`, with the words marked that the first caption of the instance does not have.

    Example: with "A red cup." first, "A blue cup." becomes "A <mark>blue</mark> cup.".
    """
    words = captions[role].split()
    first = next(iter(captions.values())).split()
    if words == first or max(len(words), len(first)) > MOST_WORDS:
        return format_html_join("", "{}", [(captions[role],)])
    matcher = SequenceMatcher(None, [_plain(word) for word in first], [_plain(word) for word in words], autojunk=False)
    if matcher.ratio() < ALIKE:
        return format_html_join("", "{}", [(captions[role],)])
    parts = [
        ("{}" if change == "equal" else "<mark>{}</mark>", " ".join(words[start:end]))
        for change, _, _, start, end in matcher.get_opcodes()
        if end > start
    ]
    return SafeString(" ".join(format_html_join("", form, [(text,)]) for form, text in parts))


def _plain(word: str) -> str:
    """Return a word without case and punctuation, which do not count as differences."""
    return word.strip(".,;:!?\"'").casefold()
