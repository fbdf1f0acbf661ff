"""`retrieve`: a description and the image set that it is about; the annotator finds the image (as in ImageCoDe)."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from studies.descriptions import SET, SET_SIZE, VIDEO, handed_on, image_of_set
from studies.kinds.base import (
    IN_ORDER,
    TAKEN_BACK,
    Built,
    CannotAsk,
    InstanceFacts,
    Roles,
    Scale,
    image_option,
    role_schema,
)
from studies.kinds.choices import SingleChoice

FEWEST_IMAGES = 2


class Retrieve(SingleChoice):
    """One question per description, which is what its instance's source says: a `text`, and the place of the `target`
    among the images, from 0 (docs/decisions/0026).

    An option is called by its place in the set, from 1. The images of a video stand in the order of time for everybody,
    and how far apart two answers are is how far apart their places are; all others stand at random, and their places
    mean nothing.
    """

    name = "retrieve"
    title = "Find the image that a description is about"
    rule = "retrieved-1-of-1-v1"
    asks_about_answers = True
    asks_about_parts = True
    is_for_strangers = True
    scales_differ = True
    ask_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"images": role_schema(SET, "The role of the images, in their order.")},
    }
    instructions = """\
Somebody saw these images with one of them marked, and described the marked one so that you can find it. Read the
description, look at all the images, and pick the **one image that it describes**.

- The images are similar, and often only a detail differs. Look closely, and enlarge them if that helps.
- Use everything in the description: what is there, what is **not** there, what is partly hidden, and what has just
  begun or ended.
- Some sets are frames of a video, in the order of time.
- If several images could fit, pick the single one that fits best.
"""

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(images=[ask["images"]])

    def knows_right(self, ask: Mapping[str, Any]) -> bool:
        return True

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[Built]:
        content = self.build(instance, ask, "")
        target = instance.source.get("target")
        if not isinstance(target, int) or not 0 <= target < len(content["options"]):
            raise CannotAsk(f"Nobody knows which image of instance {instance.key} a description of it is about.")
        key = image_of_set(target)
        return [Built("", content, key, item=key)]

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        text = instance.source.get("text")
        if not text:
            raise CannotAsk(f"Instance {instance.key} has no description to find an image by.")
        images = instance.images.get(ask["images"], ())
        if not FEWEST_IMAGES <= len(images) <= SET_SIZE:
            raise CannotAsk(
                f"Instance {instance.key} has {len(images)} images in the role {ask['images']}; "
                f"retrieve needs {FEWEST_IMAGES} to {SET_SIZE}."
            )
        keys = map(image_of_set, range(len(images)))
        options = [image_option(key, image, instance=instance.key) for key, image in zip(keys, images, strict=True)]
        return {"caption": text, "options": options, IN_ORDER: instance.type == VIDEO}

    def can_ask_about(self, source: Mapping[str, Any]) -> bool:
        return handed_on(source) is not None

    def without_source(self, content: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**content, "caption": TAKEN_BACK}

    def scale(self, content: Mapping[str, Any]) -> Scale:
        if not self.stands_in_order(content):
            return Scale()
        keys = [option["key"] for option in content["options"]]
        return Scale("interval", {key: float(place) for place, key in enumerate(keys, start=1)})
