"""`text_to_image`: a caption and 2 to N images; the annotator picks the matching image (BiVLC's baseline)."""

from collections.abc import Mapping
from typing import Any, ClassVar

from studies.kinds.base import (
    MOST_DIGITS,
    InstanceFacts,
    ask_schema_of,
    list_schema,
    one_caption,
    one_image,
)
from studies.kinds.choices import MatchingChoice


class TextToImage(MatchingChoice):
    """One question per caption role; the image at the same place in the list is right."""

    name = "text_to_image"
    title = "Pick the image that a caption describes"
    study_title = "Which image does the caption describe?"
    about = "Measures how often people pick the right image for a caption."
    needs = "a caption and 2 to 9 images, each in its own role"
    asked, offered = "captions", "images"
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema_of(
        captions=list_schema(
            ["caption", "negative_caption"], "The roles of the captions asked about, one question each.", minItems=1
        ),
        images=list_schema(
            ["image", "negative_image"],
            "The roles of the images; the first belongs to the first caption, and so on.",
            minItems=2,
            maxItems=MOST_DIGITS,
        ),
    )
    instructions = """\
Read the description, look at all the images, and pick the **one image that the description fits**.

- Everything in the description must be in the image: objects, numbers, colours, actions and places.
- The images may differ in a single detail. Look closely, and enlarge them if that helps.
- Ignore visual flaws. If several images fit, pick the one that fits best.
"""

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        options = [one_image(instance, role) for role in ask["images"]]
        return {"caption": one_caption(instance, variant), "options": options}
