"""Hash of what a question shows, and the text-image pairs that a model scores. Pure.

Works for any kind, by what the kind says it shows.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studies.kinds.base import Kind, Option, Picture

# Version of the hashed form: increase it when the form changes.
FORM = 1


@dataclass(frozen=True, slots=True)
class Match:
    """A text and a picture (SHA-256) that belong together if a certain option is right."""

    text: str
    picture: str


def content_hash(kind: Kind, content: Mapping[str, Any]) -> str:
    """Return the SHA-256 (64 hexadecimal digits) of what a question of `kind` with `content` shows.

    Included: texts, pictures (SHA-256, role, key, mark), groups, and options by key with what they show. Not included:
    the shown order, the instance, the study, the right option, and the kind's own words, which are translated.
    """
    shown = kind.question_content(content)
    said = {
        "form": FORM,
        "kind": kind.name,
        "texts": [[text.role, text.text] for text in shown.texts],
        "pictures": sorted(map(_picture, shown.pictures)),
        "groups": sorted([group.key, group.text] for group in kind.groups(content)),
        "options": sorted(map(_option, kind.options(content))),
    }
    canonical = json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    # Imported text may contain a lone surrogate, which UTF-8 cannot encode.
    return hashlib.sha256(canonical.encode("utf-8", errors="surrogatepass")).hexdigest()


def _picture(picture: Picture) -> list[str]:
    return [picture.role, picture.key, picture.mark, picture.sha256]


def _option(option: Option) -> list[str]:
    """Return the sort key of an option."""
    words = option.label if option.is_own_words else ""
    return [option.key, option.text, option.picture.sha256 if option.picture else "", words]


def matches(kind: Kind, content: Mapping[str, Any]) -> dict[str, Match]:
    """Return option key -> the text-image pair that belongs together if the option is right.

    Picture options are paired with the question's one text, text options with its one picture. Other options (None,
    Both) have no pair. Returns {} for other questions: several texts or pictures, several groups, or words only.
    """
    shown = kind.question_content(content)
    found: dict[str, Match] = {}
    for option in kind.model_options(content):
        if option.picture is not None and len(shown.texts) == 1 and not shown.pictures:
            found[option.key] = Match(shown.texts[0].text, option.picture.sha256)
        elif option.text and len(shown.pictures) == 1 and not shown.texts:
            found[option.key] = Match(option.text, shown.pictures[0].sha256)
    return found if len(found) > 1 else {}
