"""Captions on researchers' pages, with their differences marked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby

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
    """Return the caption of `role`, with the words marked that the first caption of the instance does not have there.

    Examples: with "A red cup." first, "A blue cup." becomes "A <mark>blue</mark> cup."; with "a dog on a mat", "a mat
    on a dog" becomes "a <mark>mat</mark> on a <mark>dog</mark>".
    """
    words = captions[role].split()
    first = next(iter(captions.values())).split()
    differs = _differing_words(first, words) if max(len(words), len(first)) <= MOST_WORDS else []
    if not any(differs):
        return format_html_join("", "{}", [(captions[role],)])
    parts = [
        ("<mark>{}</mark>" if marked else "{}", " ".join(word for _, word in run))
        for marked, run in groupby(zip(differs, words, strict=True), key=lambda pair: pair[0])
    ]
    return SafeString(" ".join(format_html_join("", form, [(text,)]) for form, text in parts))


def _differing_words(first: Sequence[str], words: Sequence[str]) -> list[bool]:
    """Return for each of `words` whether it differs from `first`; empty if marks would show nothing."""
    before, after = [_plain(word) for word in first], [_plain(word) for word in words]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    differs = [True] * len(words)
    for block in matcher.get_matching_blocks():
        differs[block.b : block.b + block.size] = [False] * block.size
    if Counter(before) == Counter(after):
        # The same words in another order: they changed places, or a part moved. The fewest marks show which.
        return min([old != new for old, new in zip(before, after, strict=True)], differs, key=sum)
    return differs if matcher.ratio() >= ALIKE else []


def _plain(word: str) -> str:
    """Return a word without case and punctuation, which do not count as differences."""
    return word.strip(".,;:!?\"'").casefold()
