"""`retrieve`: a description and its image set; the annotator finds the described image (ImageCoDe)."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from studies.descriptions import SET, SET_SIZE, VIDEO, image_of_set, source_description
from studies.kinds.base import (
    IN_ORDER,
    REDACTED_TEXT,
    AsksAboutAnswers,
    CannotAsk,
    InstanceFacts,
    NewQuestion,
    Roles,
    Scale,
    ask_schema_of,
    image_option,
    role_schema,
    several_images,
)
from studies.kinds.choices import SingleChoice

FEWEST_IMAGES = 2


class Retrieve(AsksAboutAnswers, SingleChoice):
    """One question per description (docs/decisions/0026).

    The instance's source has the `text` and the `target`, the index of the image from 0. Option keys count images from
    1. Frames of a video keep their order for everybody, on an interval scale of their places; other images are shuffled
    and nominal.
    """

    name = "retrieve"
    title = "Find the image that a description is about"
    study_title = "Which image is described?"
    usual_seconds = 30
    about = "Tests descriptions: people look for the described image among the others."
    needs = "a set of 2 to 10 images, and descriptions of one of them"
    rule = "retrieved-1-of-1-v1"
    asks_about_parts = True
    excludes_upstream_annotators = True
    scale_varies = True
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema_of(
        images=role_schema(SET, "The role of the images, in their order.")
    )
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

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        content = self.build(instance, ask, "")
        target = instance.source.get("target")
        if not isinstance(target, int) or not 0 <= target < len(content["options"]):
            raise CannotAsk(f"It is unknown which image of instance {instance.key} its description is about.")
        key = image_of_set(target)
        return [NewQuestion("", content, key, item=key)]

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        text = instance.source.get("text")
        if not text:
            raise CannotAsk(f"Instance {instance.key} has no description.")
        images = several_images(self, instance, ask["images"], FEWEST_IMAGES, SET_SIZE)
        options = [
            image_option(image_of_set(place), image, instance=instance.key) for place, image in enumerate(images)
        ]
        return {"caption": text, "options": options, IN_ORDER: instance.type == VIDEO}

    def accepts_source(self, source: Mapping[str, Any]) -> bool:
        return source_description(source) is not None

    def redact(self, content: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**content, "caption": REDACTED_TEXT}

    def scale(self, content: Mapping[str, Any]) -> Scale:
        if not self.fixed_order(content):
            return Scale()
        keys = [option["key"] for option in content["options"]]
        return Scale("interval", {key: float(place) for place, key in enumerate(keys, start=1)})
