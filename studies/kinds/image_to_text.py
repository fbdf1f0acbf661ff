"""`image_to_text`: an image and 2 to N captions; the annotator picks the matching caption (BiVLC's baseline)."""

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


class ImageToText(MatchingChoice):
    """One question per image role; the caption at the same place in the list is right."""

    name = "image_to_text"
    title = "Pick the caption that describes an image"
    study_title = "Which caption describes the image?"
    about = "Measures how often people match an image with its caption."
    needs = "an image and 2 to 9 captions, each in its own role"
    asked, offered = "images", "captions"
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema_of(
        images=list_schema(
            ["image", "negative_image"], "The roles of the images asked about, one question each.", minItems=1
        ),
        captions=list_schema(
            ["caption", "negative_caption"],
            "The roles of the captions; the first belongs to the first image, and so on.",
            minItems=2,
            maxItems=MOST_DIGITS,
        ),
    )
    instructions = """\
Look at the image, read all the descriptions, and pick the **one description that fits the image**.

- The descriptions may differ in a single word, or only in the **order of the words**. Read them closely.
- Everything in the description must be in the image. Ignore visual flaws of the image.
- If several fit, pick the one that fits best.
"""

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        options = [{"key": role, "text": one_caption(instance, role)} for role in ask["captions"]]
        return {"image": one_image(instance, variant), "options": options}
