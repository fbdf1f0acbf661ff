"""`best_of_n`: a caption and N candidate images; the annotator picks the best one, or None (BiVLC step 3)."""

from collections.abc import Mapping
from typing import Any

from studies.kinds.base import CannotAsk, InstanceFacts, image_option, one_caption

NONE = "none"
FEWEST_IMAGES = 2
# The keyboard has nine digits for them.
MOST_IMAGES = 9


class BestOfN:
    name = "best_of_n"
    title = "Pick the best image for a caption, or none"
    rules = ("chosen-v1", "majority-v1")
    ask_schema: Mapping[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "caption": {
                "type": "string",
                "minLength": 1,
                "default": "negative_caption",
                "description": "The role of the caption that is shown.",
            },
            "images": {
                "type": "string",
                "minLength": 1,
                "default": "candidate",
                "description": "The role of the images to choose from.",
            },
            "becomes": {
                "type": "string",
                "minLength": 1,
                "default": "negative_image",
                "description": "The role that the chosen image takes in the accepted instance.",
            },
        },
    }
    instructions = """\
Read the description, look at all the images, and pick the **one image that shows what the description says**.

- Everything the description says must be in the image: every object, how many there are, their colours and other
  properties, what they do, and how they are placed.
- Only faithfulness counts. Strange faces, hands or letters and other flaws of beauty **do not matter**.
- If several images fit, pick the one that fits best. One acceptable image is enough.
- If **no** image shows everything, choose **None of these**.
"""

    def variants(self, ask: Mapping[str, Any]) -> list[str]:
        return [""]

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        caption = one_caption(instance, ask["caption"])
        images = instance.images.get(ask["images"], ())
        if not FEWEST_IMAGES <= len(images) <= MOST_IMAGES:
            raise CannotAsk(
                f"Instance {instance.key} has {len(images)} images in the role {ask['images']}; "
                f"best_of_n needs {FEWEST_IMAGES} to {MOST_IMAGES}."
            )
        options = [
            image_option(f"{ask['images']}-{number}", image, instance=instance.key)
            for number, image in enumerate(images)
        ]
        return {"caption": caption, "options": options, "becomes": ask["becomes"]}

    def right_option(self, ask: Mapping[str, Any], variant: str) -> str:
        return ""

    def fixed_options(self, content: Mapping[str, Any]) -> list[str]:
        return [NONE]

    def accepted_images(self, content: Mapping[str, Any], winner: str) -> dict[str, Mapping[str, Any]]:
        return {content["becomes"]: next(option for option in content["options"] if option["key"] == winner)}
