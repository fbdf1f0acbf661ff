"""`image_to_text`: an image and 2..N captions; the annotator picks the caption that describes it (BiVLC's baseline)."""

from collections.abc import Mapping
from typing import Any

from studies.kinds.base import InstanceFacts, one_caption, one_image


class ImageToText:
    """One question per image role: the image is shown, and the caption of the same place in the list is right."""

    name = "image_to_text"
    title = "Pick the caption that describes an image"
    rules = ("majority-v1",)
    ask_schema: Mapping[str, Any] = {
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
                "maxItems": 9,
                "uniqueItems": True,
                "default": ["caption", "negative_caption"],
                "description": "The roles of the captions; the first belongs to the first image, and so on.",
            },
        },
    }
    instructions = """\
Look at the image, read all the descriptions, and pick the **one description that fits the image**.

- The descriptions may differ in a single word, or only in the **order of the words**: read them closely.
- Everything a description says must be in the image. Small flaws of the image do not matter.
- If several fit, pick the one that fits best.
"""

    def variants(self, ask: Mapping[str, Any]) -> list[str]:
        return list(ask["images"])

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        options = [{"key": role, "text": one_caption(instance, role)} for role in ask["captions"]]
        return {"image": one_image(instance, variant), "options": options}

    def right_option(self, ask: Mapping[str, Any], variant: str) -> str:
        right: str = ask["captions"][ask["images"].index(variant)]
        return right

    def fixed_options(self, content: Mapping[str, Any]) -> list[str]:
        return []

    def accepted_images(self, content: Mapping[str, Any], winner: str) -> dict[str, Mapping[str, Any]]:
        return {}
