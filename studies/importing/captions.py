"""Caption formatting on import: rules by name and version. Never edit a rule in use; add a new one."""

import re
from collections.abc import Callable

_WHITE_SPACE = re.compile(r"\s+")
# Sentence-final punctuation of the supported scripts, and closing quotes or brackets after it.
_ENDED = re.compile(r"""[.!?\u2026\u3002\uff01\uff1f\u061f\u0964]["'\u2019\u201d\u00bb)\]]*$""")
_HANGING = re.compile(r"[\s,;:]+$")
_UNREAD = re.compile(r"[.!\"()*#:;~]")
MOST_WORDS = 30
_OPENING = re.compile(r"""["'\u2018\u201c\u00ab(\[\u00bf\u00a1]*""")


def as_is(text: str) -> str:
    """Return the caption unchanged."""
    return text


def bivlc_release(text: str) -> str:
    """Return the caption as released by BiVLC: stripped, ending in ".", first letter upper case, the rest lower case.

    Names lose their capitals too ("DJ" becomes "dj"), as in the released data, although the paper says otherwise.
    Example: " A man in NYC" -> "A man in nyc."
    """
    text = text.strip()
    return (text if text.endswith(".") else f"{text}.").capitalize()


def keep_case(text: str) -> str:
    """Return the caption as one tidy sentence, with its capitals.

    White space is stripped, and each run inside (newlines too) becomes one space. If the sentence has no final mark
    (. ! ? and similar, also before closing quotes or brackets), a full stop is added in place of a trailing comma,
    semicolon or colon. The first letter, after opening quotes or brackets, becomes upper case. Nothing else changes: a
    caption in ALL CAPITALS stays, because a rule cannot tell names from shouting.
    Example: ' a man in  NYC,' -> 'A man in NYC.'
    """
    text = _WHITE_SPACE.sub(" ", text).strip()
    if not text:
        return ""
    if not _ENDED.search(text):
        text = f"{_HANGING.sub('', text)}."
    opening = _OPENING.match(text)
    first = opening.end() if opening else 0
    return text[:first] + text[first : first + 1].upper() + text[first + 1 :]


def retrieval(text: str) -> str:
    """Return the caption as ARO and RoCOCO give it to models: lower case, no . ! " ( ) * # : ; ~, at most 30 words.

    Words are separated by single spaces, so that altered captions made from tokens look like the others. Source:
    `pre_caption` of ALBEF and BLIP (Li et al. 2021, 2022), which both evaluations use with 30 words.
    Example: "A man , on a hill . " -> "a man , on a hill"
    """
    words = _UNREAD.sub(" ", text.lower()).split()
    return " ".join(words[:MOST_WORDS])


CAPTION_RULES: dict[str, Callable[[str], str]] = {
    "as-is-v1": as_is,
    "bivlc-release-v1": bivlc_release,
    "keep-case-v1": keep_case,
    "retrieval-v1": retrieval,
}
# What each rule does, for forms.
RULE_TITLES = {
    "as-is-v1": "Unchanged",
    "bivlc-release-v1": "As BiVLC released them: small letters after the first, a full stop at the end",
    "keep-case-v1": "One tidy sentence, with its capitals",
    "retrieval-v1": "As ARO and RoCOCO give them to models: small letters, few signs, at most 30 words",
}
