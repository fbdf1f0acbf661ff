"""`text_to_image`: a caption and 2..N images; the annotator picks the image it describes (BiVLC's baseline)."""

from collections.abc import Mapping
from typing import Any

from studies.kinds.base import InstanceFacts, one_caption, one_image


class TextToImage:
    """One question per caption role: the caption is shown, and the image of the same place in the list is right."""

    name = "text_to_image"
    title = "Pick the image that a caption describes"
    rules = ("majority-v1",)
    ask_schema: Mapping[str, Any] = {
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
                "maxItems": 9,
                "uniqueItems": True,
                "default": ["image", "negative_image"],
                "description": "The roles of the images; the first belongs to the first caption, and so on.",
            },
        },
    }
    instructions = """\
Read the description, look at all the images, and pick the **one image that the description fits**.

- Everything the description says must be in the image: objects, numbers, colours, actions and places.
- The images may differ in one detail only: look closely, and enlarge them where it helps.
- Flaws of beauty do not matter. If several fit, pick the one that fits best.
"""

    def variants(self, ask: Mapping[str, Any]) -> list[str]:
        return list(ask["captions"])

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        options = [one_image(instance, role) for role in ask["images"]]
        return {"caption": one_caption(instance, variant), "options": options}

    def right_option(self, ask: Mapping[str, Any], variant: str) -> str:
        right: str = ask["images"][ask["captions"].index(variant)]
        return right

    def fixed_options(self, content: Mapping[str, Any]) -> list[str]:
        return []

    def accepted_images(self, content: Mapping[str, Any], winner: str) -> dict[str, Mapping[str, Any]]:
        return {}
