"""How captions are formatted on import: rules by name and version. A rule in use is never edited; add a new one."""

import re
from collections.abc import Callable

_WHITE_SPACE = re.compile(r"\s+")
# A mark that ends a sentence in the scripts we meet, and the closing quotes or brackets that may follow it.
_ENDED = re.compile(r"""[.!?\u2026\u3002\uff01\uff1f\u061f\u0964]["'\u2019\u201d\u00bb)\]]*$""")
_HANGING = re.compile(r"[\s,;:]+$")
_UNREAD = re.compile(r"[.!\"()*#:;~]")
MOST_WORDS = 30
_OPENING = re.compile(r"""["'\u2018\u201c\u00ab(\[\u00bf\u00a1]*""")


def as_is(text: str) -> str:
    """Return the caption exactly as the source has it."""
    return text


def bivlc_release(text: str) -> str:
    """Return the caption as BiVLC released it: stripped, ending in ".", first letter large and all others small.

    Names lose their capitals too ("DJ" becomes "dj"): that is what the released data has, whatever the paper says.
    Example: " A man in NYC" -> "A man in nyc."
    """
    text = text.strip()
    return (text if text.endswith(".") else f"{text}.").capitalize()


def keep_case(text: str) -> str:
    """Return the caption as one tidy sentence that keeps its capitals.

    White space at the ends goes and every run inside (newlines too) becomes one space. Where no mark ends the
    sentence (. ! ? and their like, quotes or brackets after it allowed) a full stop is put, in place of a hanging
    comma, semicolon or colon. The first letter, after opening quotes or brackets, becomes large. Nothing else
    changes, so a caption that is ALL CAPITALS stays so: a rule cannot tell a name from shouting.
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
    """Return the caption as ARO and RoCOCO hand it to models: small letters, without . ! " ( ) * # : ; ~, at most 30
    words.

    Words end at single spaces, so that an altered caption that was put together from tokens looks like any other.
    Source: `pre_caption` of ALBEF and BLIP (Li et al. 2021, 2022), which both evaluations take over with 30 words.
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
