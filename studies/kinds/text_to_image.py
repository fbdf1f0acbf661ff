"""`text_to_image`: a caption and 2 to N images; the annotator picks the matching image (BiVLC's baseline)."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from studies.kinds.base import MOST_DIGITS, InstanceFacts, Roles, one_caption, one_image
from studies.kinds.choices import SingleChoice


class TextToImage(SingleChoice):
    """One question per caption role; the image at the same place in the list is right."""

    name = "text_to_image"
    title = "Pick the image that a caption describes"
    rule = "majority-v1"
    ask_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "captions": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "minItems": 1,
                "uniqueItems": True,
                "default": ["caption", "negative_caption"],
                "description": "The roles of the captions asked about, one question each.",
            },
            "images": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "minItems": 2,
                "maxItems": MOST_DIGITS,
                "uniqueItems": True,
                "default": ["image", "negative_image"],
                "description": "The roles of the images; the first belongs to the first caption, and so on.",
            },
        },
    }
    instructions = """\
Read the description, look at all the images, and pick the **one image that the description fits**.

- Everything in the description must be in the image: objects, numbers, colours, actions and places.
- The images may differ in a single detail. Look closely, and enlarge them if that helps.
- Ignore visual flaws. If several images fit, pick the one that fits best.
"""

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(captions=ask["captions"], images=ask["images"])

    def problems(self, ask: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        if len(ask["captions"]) > len(ask["images"]):
            yield (
                "captions",
                f"`ask.captions` names {len(ask['captions'])} roles and `ask.images` only {len(ask['images'])}: the "
                "right image of each caption stands at the same place.",
            )

    def common_options(self, ask: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(ask["images"])

    def variants(self, ask: Mapping[str, Any]) -> list[str]:
        return list(ask["captions"])

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        options = [one_image(instance, role) for role in ask["images"]]
        return {"caption": one_caption(instance, variant), "options": options}

    def right_option(self, ask: Mapping[str, Any], variant: str) -> str:
        right: str = ask["images"][ask["captions"].index(variant)]
        return right
