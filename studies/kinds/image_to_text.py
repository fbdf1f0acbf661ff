"""`image_to_text`: an image and 2 to N captions; the annotator picks the matching caption (BiVLC's baseline)."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from studies.kinds.base import MOST_DIGITS, InstanceFacts, Roles, one_caption, one_image
from studies.kinds.choices import SingleChoice


class ImageToText(SingleChoice):
    """One question per image role; the caption at the same place in the list is right."""

    name = "image_to_text"
    title = "Pick the caption that describes an image"
    rule = "majority-v1"
    ask_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "images": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "minItems": 1,
                "uniqueItems": True,
                "default": ["image", "negative_image"],
                "description": "The roles of the images asked about, one question each.",
            },
            "captions": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "minItems": 2,
                "maxItems": MOST_DIGITS,
                "uniqueItems": True,
                "default": ["caption", "negative_caption"],
                "description": "The roles of the captions; the first belongs to the first image, and so on.",
            },
        },
    }
    instructions = """\
Look at the image, read all the descriptions, and pick the **one description that fits the image**.

- The descriptions may differ in a single word, or only in the **order of the words**. Read them closely.
- Everything in the description must be in the image. Ignore visual flaws of the image.
- If several fit, pick the one that fits best.
"""

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(captions=ask["captions"], images=ask["images"])

    def problems(self, ask: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        if len(ask["images"]) > len(ask["captions"]):
            yield (
                "images",
                f"`ask.images` names {len(ask['images'])} roles and `ask.captions` only {len(ask['captions'])}: the "
                "right caption of each image stands at the same place.",
            )

    def common_options(self, ask: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(ask["captions"])

    def variants(self, ask: Mapping[str, Any]) -> list[str]:
        return list(ask["images"])

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        options = [{"key": role, "text": one_caption(instance, role)} for role in ask["captions"]]
        return {"image": one_image(instance, variant), "options": options}

    def right_option(self, ask: Mapping[str, Any], variant: str) -> str:
        right: str = ask["captions"][ask["images"].index(variant)]
        return right
