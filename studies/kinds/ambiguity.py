"""`ambiguity`: a caption and two images, its original and a generated one; one image, or Both (BiVLC step 4)."""

from collections.abc import Mapping
from typing import Any

from studies.kinds.base import InstanceFacts, one_caption, one_image

ORIGINAL, GENERATED, BOTH = "original", "generated", "both"


def _role(default: str, description: str) -> dict[str, str | int]:
    return {"type": "string", "minLength": 1, "default": default, "description": description}


class Ambiguity:
    name = "ambiguity"
    title = "Say which of two images fits a caption, or both"
    rules = ("unambiguous-v1",)
    ask_schema: Mapping[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "caption": _role("caption", "The role of the caption that is shown."),
            "original": _role("image", "The role of the image that belongs to the caption."),
            "generated": _role("negative_image", "The role of the image that must not fit it."),
        },
    }
    instructions = """\
Read the description and look at both images. Say **which image shows what the description says**.

- Everything the description says must be in the image: every object, how many there are, their colours and other
  properties, what they do, and how they are placed.
- Only faithfulness counts. Strange faces, hands or letters and other flaws of beauty **do not matter**.
- If one image fits better than the other, pick that one.
- If the description is just as true of the one as of the other, choose **Both**.
"""

    def variants(self, ask: Mapping[str, Any]) -> list[str]:
        return [""]

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        options = [
            one_image(instance, ask["original"]) | {"key": ORIGINAL},
            one_image(instance, ask["generated"]) | {"key": GENERATED},
        ]
        return {"caption": one_caption(instance, ask["caption"]), "options": options}

    def right_option(self, ask: Mapping[str, Any], variant: str) -> str:
        return ""

    def fixed_options(self, content: Mapping[str, Any]) -> list[str]:
        return [BOTH]

    def accepted_images(self, content: Mapping[str, Any], winner: str) -> dict[str, Mapping[str, Any]]:
        return {}
