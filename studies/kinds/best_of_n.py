"""`best_of_n`: a caption and N candidate images; the annotator picks the best one, or None (BiVLC step 3)."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from studies.kinds.base import (
    MOST_DIGITS,
    NONE,
    InstanceFacts,
    LabelGrouping,
    Option,
    PairRoles,
    Roles,
    ask_schema_of,
    gettext_noop,
    image_option,
    one_caption,
    role_schema,
    several_images,
)
from studies.kinds.choices import SingleChoice

ANY_IMAGE = "any image"
FEWEST_IMAGES = 2


class BestOfN(SingleChoice):
    name = "best_of_n"
    title = "Pick the best image for a caption, or none"
    study_title = "Which image fits the caption best?"
    about = "Finds, for each caption, the image that shows it, and rejects instances without one."
    needs = "a caption and 2 to 9 images in one role"
    rule = "chosen-v1"
    rejecting_options = frozenset({NONE})
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema_of(
        caption=role_schema("negative_caption", "The role of the caption that is shown."),
        images=role_schema("candidate", "The role of the images to choose from."),
        becomes=role_schema("negative_image", "The role that the chosen image takes in the accepted instance."),
    )
    instructions = """\
Read the description, look at all the images, and pick the **one image that shows everything in the description**.

- Everything in the description must be in the image: every object, the number of objects, their colours and other
  properties, what they do, and where they are.
- Judge only whether the image matches the description. **Ignore visual flaws** such as strange faces, hands or letters.
- If several images fit, pick the one that fits best. One acceptable image is enough.
- If **no** image shows everything, choose **None of these**.
"""

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(captions=[ask["caption"]], images=[ask["images"]])

    def adds_roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(images=[ask["becomes"]])

    def pair_roles(self, ask: Mapping[str, Any]) -> PairRoles:
        return PairRoles(caption=ask["caption"], image=ask["becomes"])

    def suggested_ask(self, ask: Mapping[str, Any], instance: InstanceFacts) -> Mapping[str, Any]:
        # What fits the caption itself is its image, and no image of a negative caption.
        return {**ask, "becomes": "image"} if ask["caption"] == "caption" and "image" not in instance.images else ask

    def can_instruct(self, ask: Mapping[str, Any]) -> bool:
        return True

    def common_options(self, ask: Mapping[str, Any]) -> frozenset[str]:
        return frozenset({NONE, *(f"{ask['images']}-{number}" for number in range(FEWEST_IMAGES))})

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        caption = one_caption(instance, ask["caption"])
        images = several_images(self, instance, ask["images"], FEWEST_IMAGES, MOST_DIGITS)
        options = [
            image_option(f"{ask['images']}-{number}", image, instance=instance.key)
            for number, image in enumerate(images)
        ]
        return {"caption": caption, "options": options, "becomes": ask["becomes"]}

    def last_options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        return [Option(NONE, gettext_noop("None of these"), shuffled=False, digit="0")]

    def label_groupings(self, content: Mapping[str, Any]) -> Sequence[LabelGrouping]:
        return [LabelGrouping("any image / None", {NONE: NONE}, ANY_IMAGE, (ANY_IMAGE, NONE))]

    def adds(self, content: Mapping[str, Any], winner: str) -> Mapping[str, Mapping[str, Any]]:
        # A rule such as `collected-v1` accepts without a winner.
        won = next((option for option in content["options"] if option["key"] == winner), None)
        return {} if won is None else {content["becomes"]: won}
