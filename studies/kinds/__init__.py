"""The kinds of question, by name. A new kind is one file, one template in templates/kinds/, and one line here."""

from functools import cache
from importlib import import_module

from studies.kinds.base import CannotAsk, ImageFacts, InstanceFacts, Kind, posted_values, shown_order

KINDS = {
    "best_of_n": "studies.kinds.best_of_n.BestOfN",
    "ambiguity": "studies.kinds.ambiguity.Ambiguity",
    "image_to_text": "studies.kinds.image_to_text.ImageToText",
    "text_to_image": "studies.kinds.text_to_image.TextToImage",
}


@cache
def get_kind(name: str) -> Kind:
    """Return the kind called `name`. Raises KeyError for a name that is not in the registry."""
    module, _, attribute = KINDS[name].rpartition(".")
    kind: Kind = getattr(import_module(module), attribute)()
    return kind


__all__ = ["KINDS", "CannotAsk", "ImageFacts", "InstanceFacts", "Kind", "get_kind", "posted_values", "shown_order"]
