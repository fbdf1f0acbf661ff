"""Kinds of question that no study asks, each unlike all others in something: what holds for every kind holds for them.

They are in the registry while the tests of this folder run, with templates of their own beside them.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from studies.kinds.base import (
    Answer,
    Built,
    CannotAsk,
    InstanceFacts,
    Kind,
    NotAnAnswer,
    Option,
    Picture,
    Roles,
    Scale,
    Shown,
    Text,
    gettext_noop,
    one_caption,
    one_image,
    role_schema,
)
from studies.kinds.choices import SingleChoice

KINDS = {
    name: f"tests.contracts.made_up.{cls}"
    for name, cls in {
        "how_often": "HowOften",
        "ten_words": "TenWords",
        "own_words": "OwnWords",
        "same_or_not": "SameOrNot",
        "checklist": "Checklist",
        "describe_it": "DescribeIt",
    }.items()
}
INSTRUCTIONS = """\
Read what stands there, look at what is shown, and answer as well as you can. There is no hurry, and nobody is judged
by how long it takes. When you are not sure, choose what seems most likely to you.
"""
CHOOSE = gettext_noop("Choose one of the answers, then send.")


def ask_schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties}


CAPTION = role_schema("caption", "The role of the caption.")


class MadeUp(SingleChoice):
    instructions = INSTRUCTIONS
    rule = "majority-v1"
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema(caption=CAPTION)

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(captions=[ask["caption"]])

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        return {"caption": one_caption(instance, ask["caption"])}


class HowOften(MadeUp):
    """On an ordinal scale of words whose alphabetical order is another one."""

    name = "how_often"
    title = "Say how often something is seen"
    STEPS = ("never", "seldom", "now and then", "always")

    def always_offers(self, ask: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(self.STEPS)

    def options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        return [
            Option(step, step, shuffled=False, digit=str(position), is_own_words=True)
            for position, step in enumerate(self.STEPS, start=1)
        ]

    def scale(self, content: Mapping[str, Any]) -> Scale:
        return Scale("ordinal")


class TenWords(MadeUp):
    """Ten options in random order: one more than there are digits."""

    name = "ten_words"
    title = "Pick one of ten words"
    COUNT = 10

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        options = [{"key": f"{ask['caption']}-{number}", "text": f"Word {number + 1}"} for number in range(self.COUNT)]
        return super().build(instance, ask, variant) | {"options": options}


class OwnWords(MadeUp):
    """Other options, and other many, in every question; the right one is known."""

    name = "own_words"
    title = "Pick the word that matters"

    def knows_right(self, ask: Mapping[str, Any]) -> bool:
        return True

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[Built]:
        caption = one_caption(instance, ask["caption"])
        words = sorted(set(caption.rstrip(".").split()))
        # The seed decides, the same on any machine.
        chosen = random.Random(seed).choice(words)
        options = [{"key": f"key-of-{word}", "text": word} for word in words]
        return [Built("", {"caption": caption, "options": options}, f"key-of-{chosen}")]


class SameOrNot(MadeUp):
    """Two pictures with marks, and two options that are always there."""

    name = "same_or_not"
    title = "Say whether two images show the same"
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema(
        left=role_schema("image", "The role of the image on the left."),
        right=role_schema("negative_image", "The role of the image on the right."),
    )

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(images=[ask["left"], ask["right"]])

    def always_offers(self, ask: Mapping[str, Any]) -> frozenset[str]:
        return frozenset({"same", "other"})

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        return {"images": [one_image(instance, ask[side]) for side in ("left", "right")]}

    def shown(self, content: Mapping[str, Any]) -> Shown:
        left, right = content["images"]
        return Shown(
            pictures=[
                Picture(left["image"], left["width"], left["height"], role=left["key"], mark="left"),
                Picture(right["image"], right["width"], right["height"], role=right["key"], mark="right"),
            ]
        )

    def options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        return [
            Option("same", gettext_noop("Both"), shuffled=False, digit="1"),
            Option("other", "They differ", shuffled=False, digit="2", is_own_words=True),
        ]


class Checklist(Kind):
    """Several statements, each true or false: an answer has as many labels."""

    name = "checklist"
    title = "Say which statements are true of an image"
    instructions = INSTRUCTIONS
    rule = "collected-v1"
    collects = True
    has_one_label = False
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema(
        image=role_schema("image", "The role of the image."),
        statements={
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "minItems": 1,
            "uniqueItems": True,
            "default": ["There is a dog.", "It is raining."],
            "description": "What is true of the image or false.",
        },
    )
    LABELS = ("true", "false")

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(images=[ask["image"]])

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[Built]:
        return [Built("", {"about": one_image(instance, ask["image"]), "statements": list(ask["statements"])})]

    def shown(self, content: Mapping[str, Any]) -> Shown:
        image = content["about"]
        picture = Picture(image["image"], image["width"], image["height"], role=image["key"])
        return Shown([Text(statement) for statement in content["statements"]], [picture])

    def categories(self, content: Mapping[str, Any]) -> Sequence[str]:
        return self.LABELS

    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        said = {statement: posted.get(f"statement-{n}", "") for n, statement in enumerate(content["statements"], 1)}
        if set(said.values()) - set(self.LABELS):
            raise NotAnAnswer(CHOOSE)
        return Answer(said)

    def posted(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        return {f"statement-{n}": value[statement] for n, statement in enumerate(content["statements"], 1)}

    def labels(self, content: Mapping[str, Any], label: str, value: Any) -> Mapping[str, str]:
        return {statement: value[statement] for statement in content["statements"]}

    def made_up(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        labels = [label] if label else self.LABELS
        return {f"statement-{n}": dice.choice(labels) for n, _ in enumerate(content["statements"], 1)}


class DescribeIt(Kind):
    """The answer is a text of one's own."""

    name = "describe_it"
    title = "Describe an image"
    instructions = INSTRUCTIONS
    rule = "collected-v1"
    collects = True
    has_one_label = False
    is_written = True
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema(image=role_schema("image", "The role of the image."))

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(images=[ask["image"]])

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[Built]:
        if len(instance.images.get(ask["image"], ())) > 1:
            raise CannotAsk(f"Instance {instance.key} has several images in the role {ask['image']}; it needs one.")
        return [Built("", {"about": one_image(instance, ask["image"])})]

    def shown(self, content: Mapping[str, Any]) -> Shown:
        image = content["about"]
        return Shown(pictures=[Picture(image["image"], image["width"], image["height"], role=image["key"])])

    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        text = posted.get("text", "").strip()
        if not text:
            raise NotAnAnswer(CHOOSE)
        return Answer(text)

    def posted(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        return {"text": value}

    def made_up(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        return {"text": label or f"A scene with {dice.randint(2, 99)} things."}
