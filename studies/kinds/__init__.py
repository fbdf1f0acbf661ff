"""The kinds of question, by name. A new kind is one file, one template in templates/kinds/, and one line here."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from studies.kinds.base import (
    AgreementMeasure,
    Answer,
    Built,
    CannotAsk,
    Collapse,
    Group,
    ImageFacts,
    InstanceFacts,
    Kind,
    NotAnAnswer,
    Option,
    Picture,
    Roles,
    Scale,
    Shown,
    Text,
    Writing,
    fields_of,
    has_own_score,
    in_shown_order,
    last_keys,
    posted_values,
    shown_order,
)
from studies.kinds.content import Match, content_hash, matches

KINDS = {
    "best_of_n": "studies.kinds.best_of_n.BestOfN",
    "ambiguity": "studies.kinds.ambiguity.Ambiguity",
    "image_to_text": "studies.kinds.image_to_text.ImageToText",
    "text_to_image": "studies.kinds.text_to_image.TextToImage",
    "rating": "studies.kinds.rating.Rating",
    "check": "studies.kinds.check.Check",
    "compare": "studies.kinds.compare.Compare",
    "describe": "studies.kinds.describe.Describe",
    "retrieve": "studies.kinds.retrieve.Retrieve",
}


@cache
def get_kind(name: str) -> Kind:
    """Return the kind called `name`. Raises KeyError for a name that is not in the registry."""
    module, _, attribute = KINDS[name].rpartition(".")
    kind: Kind = getattr(import_module(module), attribute)()
    return kind


def usual_ask(kind: Kind) -> dict[str, Any]:
    """Return what `kind` asks where a study file says nothing: the defaults of its schema."""
    return {name: part.get("default") for name, part in kind.ask_schema["properties"].items()}


@cache
def finer_scores() -> Mapping[str, tuple[str, str]]:
    """Return the finer scores of the field: name -> the kind and the variant, as usually asked, that make it up."""
    return {
        score: (name, variant)
        for name in KINDS
        for score, variant in zip(
            get_kind(name).scores, get_kind(name).variants(usual_ask(get_kind(name))), strict=False
        )
    }


__all__ = [
    "KINDS",
    "AgreementMeasure",
    "Answer",
    "Built",
    "CannotAsk",
    "Collapse",
    "Group",
    "ImageFacts",
    "InstanceFacts",
    "Kind",
    "Match",
    "NotAnAnswer",
    "Option",
    "Picture",
    "Roles",
    "Scale",
    "Shown",
    "Text",
    "Writing",
    "content_hash",
    "fields_of",
    "finer_scores",
    "get_kind",
    "has_own_score",
    "in_shown_order",
    "last_keys",
    "matches",
    "posted_values",
    "shown_order",
    "usual_ask",
]
