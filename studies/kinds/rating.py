"""`rating`: an image and a caption, or two images, rated on a scale with labelled ends."""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from studies.kinds.base import (
    InstanceFacts,
    Option,
    Picture,
    QuestionContent,
    Roles,
    Scale,
    Text,
    ask_schema_of,
    list_schema,
    one_caption,
    one_image,
    picture_of,
    schema_of,
)
from studies.kinds.choices import SingleChoice

FEWEST_STEPS, MOST_STEPS = 2, 10
LONGEST_LABEL = 60


class Rating(SingleChoice):
    """One question per image role with a caption, or one about two images.

    Labels are the steps "1", "2", ... There is no right answer, and nothing is accepted or rejected unless the study
    says so.
    """

    name = "rating"
    title = "Rate on a scale how well an image fits"
    study_title = "How well does the image fit?"
    about = "Collects ratings on a scale of 2 to 10 steps."
    needs = "a caption and one image in a role, or two images in two roles"
    rule = "collected-v1"
    collect_only = True
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema_of(
        caption=schema_of(
            "caption", 'The role of the caption that is shown with each image; "" for two images and no text.'
        ),
        images=list_schema(
            ["image"],
            (
                "The roles of the images. With a caption, each image is a question; without one, the two "
                "images are compared."
            ),
            minItems=1,
        ),
        steps=schema_of(5, "The number of steps of the scale.", minimum=FEWEST_STEPS, maximum=MOST_STEPS),
        lowest=schema_of("not at all", "What the lowest step means.", minLength=1, maxLength=LONGEST_LABEL),
        highest=schema_of("perfectly", "What the highest step means.", minLength=1, maxLength=LONGEST_LABEL),
        level={
            "enum": ["ordinal", "interval"],
            "default": "ordinal",
            "description": (
                "ordinal: only the order of the steps counts. interval: the steps are evenly spaced numbers."
            ),
        },
    )
    instructions = """\
Look at the image, read the description, and rate **how well the image shows what the description says**.

- Check everything in the description: every object, the number of objects, their colours and other properties, what
  they do, and where they are.
- Judge only whether the image matches the description. **Ignore visual flaws** such as strange faces, hands or letters.
- Use the whole scale: the lowest step if nothing fits, the highest if nothing is missing or wrong.
"""

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(captions=[ask["caption"]] if ask["caption"] else [], images=ask["images"])

    def problems(self, ask: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        if not ask["caption"] and len(ask["images"]) != 2:
            yield "images", f"Without a caption two images are compared; `ask.images` names {len(ask['images'])}."
        if ask["lowest"] == ask["highest"]:
            yield "highest", f"Both ends of the scale are called {ask['lowest']!r}; the two need different names."
        steps = [str(step) for step in range(1, ask["steps"] + 1)]
        for end, own in (("lowest", steps[0]), ("highest", steps[-1])):
            if ask[end].strip() in steps and ask[end].strip() != own:
                yield end, f"`ask.{end}` is {ask[end]!r}, which is the number of another step. Use words."

    def can_instruct(self, ask: Mapping[str, Any]) -> bool:
        return bool(ask["caption"])

    def variants(self, ask: Mapping[str, Any]) -> Sequence[str]:
        return list(ask["images"]) if ask["caption"] and len(ask["images"]) > 1 else [""]

    def common_options(self, ask: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(str(step) for step in range(1, ask["steps"] + 1))

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        scale = {name: ask[name] for name in ("steps", "lowest", "highest", "level")}
        if not ask["caption"]:
            return {"images": [one_image(instance, role) for role in ask["images"]], "scale": scale}
        image = one_image(instance, variant or ask["images"][0])
        return {"caption": one_caption(instance, ask["caption"]), "images": [image], "scale": scale}

    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        texts = [Text(content["caption"])] if "caption" in content else []
        pictures: list[Picture] = [picture_of(image) for image in content["images"]]
        return QuestionContent(texts, pictures)

    def options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        scale = content["scale"]
        ends = {1: scale["lowest"], scale["steps"]: scale["highest"]}
        return [
            Option(
                str(step),
                f"{step} ({ends[step]})" if step in ends else str(step),
                shuffled=False,
                digit=str(step % MOST_STEPS),
                is_own_words=True,
            )
            for step in range(1, scale["steps"] + 1)
        ]

    def simulate(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        if not label:
            # Simulated annotators agree about as much as people do: each question has its own mean on the scale.
            steps, own = content["scale"]["steps"], random.Random(repr(sorted(content.items())))  # noqa: S311 (play)
            label = str(min(steps, max(1, round(dice.gauss(own.uniform(1, steps), steps / 8)))))
        return super().simulate(content, order, dice=dice, label=label)

    def scale(self, content: Mapping[str, Any]) -> Scale:
        scale = content["scale"]
        return Scale(scale["level"], {str(step): float(step) for step in range(1, scale["steps"] + 1)})
