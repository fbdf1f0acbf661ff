"""What a question shows, whoever looks at it: by that it is told apart from others, and by that a program answers it.

Pure, and true of any kind: all that is asked is what the kind says it shows.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studies.kinds.base import Kind, Option, Picture

# Raised when what goes into the hash changes: hashes of another form are of other questions.
FORM = 1


@dataclass(frozen=True, slots=True)
class Match:
    """A text and a picture (its SHA-256) that a question holds to belong together if one of its options is right."""

    text: str
    picture: str


def content_hash(kind: Kind, content: Mapping[str, Any]) -> str:
    """Return the SHA-256, in 64 hexadecimal digits, of what a question of `kind` with `content` shows.

    That are the texts, the pictures by the SHA-256 of their bytes with their roles and marks, what is asked at once,
    and the options by their keys with what they show. The order in which somebody saw options or pictures is no part of
    it, nor are the instance, the study, which option is right, and words that a kind brings, which are translated.
    """
    shown = kind.shown(content)
    said = {
        "form": FORM,
        "kind": kind.name,
        "texts": [[text.role, text.text] for text in shown.texts],
        "pictures": sorted(map(_picture, shown.pictures)),
        "groups": sorted([group.key, group.text] for group in kind.groups(content)),
        "options": sorted(map(_option, kind.options(content))),
    }
    canonical = json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    # What was imported may hold half a character, which no encoding has.
    return hashlib.sha256(canonical.encode("utf-8", errors="surrogatepass")).hexdigest()


def _picture(picture: Picture) -> list[str]:
    return [picture.role, picture.key, picture.mark, picture.sha256]


def _option(option: Option) -> list[str]:
    """Return what tells an option apart: a list of texts, so that any two can be put in order."""
    words = option.label if option.is_own_words else ""
    return [option.key, option.text, option.picture.sha256 if option.picture else "", words]


def matches(kind: Kind, content: Mapping[str, Any]) -> dict[str, Match]:
    """Return key of the option -> what belongs together if that option is right.

    An option that is a picture is held against the one text that the question is about, one that is a text against its
    one picture. Options that show neither (None, Both) have no match. Nothing where a question asks otherwise: about
    several texts or pictures, several things at once, or by words alone.
    """
    shown = kind.shown(content)
    found: dict[str, Match] = {}
    for option in kind.model_options(content):
        if option.picture is not None and len(shown.texts) == 1 and not shown.pictures:
            found[option.key] = Match(shown.texts[0].text, option.picture.sha256)
        elif option.text and len(shown.pictures) == 1 and not shown.texts:
            found[option.key] = Match(option.text, shown.pictures[0].sha256)
    return found if len(found) > 1 else {}
