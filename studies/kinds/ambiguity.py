"""`ambiguity`: a caption, its original image and a generated one; the annotator picks one or Both (BiVLC step 4)."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from studies.kinds.base import (
    InstanceFacts,
    LabelGrouping,
    Option,
    PairRoles,
    Roles,
    ask_schema_of,
    gettext_noop,
    one_caption,
    one_image,
    role_schema,
)
from studies.kinds.choices import SingleChoice

ORIGINAL, GENERATED, BOTH = "original", "generated", "both"
NOT_ORIGINAL = "not told apart"


class Ambiguity(SingleChoice):
    name = "ambiguity"
    title = "Say which of two images fits a caption, or both"
    study_title = "Which image fits the caption?"
    about = "Keeps instances whose caption fits one of the two images only."
    needs = "a caption and two images, each in its own role"
    rule = "unambiguous-v1"
    rejecting_options = frozenset({GENERATED, BOTH})
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema_of(
        caption=role_schema("caption", "The role of the caption that is shown."),
        original=role_schema("image", "The role of the image that belongs to the caption."),
        generated=role_schema("negative_image", "The role of the image that must not fit it."),
    )
    instructions = """\
Read the description and look at both images. Choose the **image that shows what the description says**.

- Everything in the description must be in the image: every object, the number of objects, their colours and other
  properties, what they do, and where they are.
- Judge only whether the image matches the description. **Ignore visual flaws** such as strange faces, hands or letters.
- If one image fits better than the other, pick that one.
- If the description fits both equally well, choose **Both**.
"""

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(captions=[ask["caption"]], images=[ask["original"], ask["generated"]])

    def pair_roles(self, ask: Mapping[str, Any]) -> PairRoles:
        return PairRoles(caption=ask["caption"], image=ask["original"], negative_image=ask["generated"])

    def can_instruct(self, ask: Mapping[str, Any]) -> bool:
        return True

    def common_options(self, ask: Mapping[str, Any]) -> frozenset[str]:
        return frozenset({ORIGINAL, GENERATED, BOTH})

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        options = [
            one_image(instance, ask["original"]) | {"key": ORIGINAL},
            one_image(instance, ask["generated"]) | {"key": GENERATED},
        ]
        return {"caption": one_caption(instance, ask["caption"]), "options": options}

    def last_options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        return [Option(BOTH, gettext_noop("Both"), shuffled=False, digit="0")]

    def label_groupings(self, content: Mapping[str, Any]) -> Sequence[LabelGrouping]:
        title = f"{ORIGINAL} / {NOT_ORIGINAL}"
        return [LabelGrouping(title, {ORIGINAL: ORIGINAL}, NOT_ORIGINAL, (ORIGINAL, NOT_ORIGINAL))]

    def reference_label(self, reference: Mapping[str, Any]) -> str:
        # A source that names the faithful image implies that the other one does not fit the original caption.
        return ORIGINAL if "right" in reference else ""
