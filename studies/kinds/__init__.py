"""Registry of question kinds. A new kind is one file, one template in templates/kinds/, and one line here."""

from collections.abc import Mapping
from functools import cache
from pkgutil import resolve_name

from studies.kinds.base import (
    AgreementMeasure,
    Answer,
    AsksAboutAnswers,
    CannotAsk,
    Group,
    ImageFacts,
    InstanceFacts,
    Kind,
    LabelGrouping,
    NewQuestion,
    NotAnAnswer,
    Option,
    PairRoles,
    Picture,
    QuestionContent,
    Roles,
    Scale,
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
from studies.kinds.fit import CAPTIONS, IMAGES, find_fit, is_foil_name, role_entries, usual_ask

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

# The finer scores of the field (Miranda et al. 2024, section 4): name -> kind and variant, with the default `ask`.
FINER_SCORES: Mapping[str, tuple[str, str]] = {
    "Ipos2T": ("image_to_text", "image"),
    "Ineg2T": ("image_to_text", "negative_image"),
    "Tpos2I": ("text_to_image", "caption"),
    "Tneg2I": ("text_to_image", "negative_caption"),
}


@cache
def get_kind(name: str) -> Kind:
    """Return the kind called `name`. Raises KeyError for a name that is not in the registry."""
    kind: Kind = resolve_name(KINDS[name])()
    return kind


__all__ = [
    "CAPTIONS",
    "FINER_SCORES",
    "IMAGES",
    "KINDS",
    "AgreementMeasure",
    "Answer",
    "AsksAboutAnswers",
    "CannotAsk",
    "Group",
    "ImageFacts",
    "InstanceFacts",
    "Kind",
    "LabelGrouping",
    "Match",
    "NewQuestion",
    "NotAnAnswer",
    "Option",
    "PairRoles",
    "Picture",
    "QuestionContent",
    "Roles",
    "Scale",
    "Text",
    "Writing",
    "content_hash",
    "fields_of",
    "find_fit",
    "get_kind",
    "has_own_score",
    "in_shown_order",
    "is_foil_name",
    "last_keys",
    "matches",
    "posted_values",
    "role_entries",
    "shown_order",
    "usual_ask",
]
