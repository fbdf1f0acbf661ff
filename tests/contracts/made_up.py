"""Extra question kinds for contract tests, each with a feature that no shipped kind has.

They are in the registry while the tests of this folder run; their templates are in `templates`.
"""

import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar

from analytics.rankings import kendall_w, mean_kendall_tau
from studies.kinds.base import (
    AgreementMeasure,
    Answer,
    CannotAsk,
    Group,
    InstanceFacts,
    Kind,
    NewQuestion,
    NotAnAnswer,
    Option,
    Picture,
    QuestionContent,
    Roles,
    Scale,
    Text,
    fields_of,
    gettext_noop,
    one_caption,
    one_image,
    posted_values,
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
        "rank_texts": "RankTexts",
        "two_scales": "TwoScales",
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
    about = "Collects answers."
    needs = "a caption or an image"
    STEPS = ("never", "seldom", "now and then", "always")

    def common_options(self, ask: Mapping[str, Any]) -> frozenset[str]:
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
    about = "Collects answers."
    needs = "a caption or an image"
    COUNT = 10

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        options = [{"key": f"{ask['caption']}-{number}", "text": f"Word {number + 1}"} for number in range(self.COUNT)]
        return super().build(instance, ask, variant) | {"options": options}


class OwnWords(MadeUp):
    """Other options, and other many, in every question; the right one is known."""

    name = "own_words"
    title = "Pick the word that matters"
    about = "Collects answers."
    needs = "a caption or an image"

    def knows_right(self, ask: Mapping[str, Any]) -> bool:
        return True

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        caption = one_caption(instance, ask["caption"])
        words = sorted(set(caption.rstrip(".").split()))
        # The seed decides, the same on any machine.
        chosen = random.Random(seed).choice(words)
        options = [{"key": f"key-of-{word}", "text": word} for word in words]
        return [NewQuestion("", {"caption": caption, "options": options}, f"key-of-{chosen}")]


class SameOrNot(MadeUp):
    """Two pictures with marks, and two options that are always there."""

    name = "same_or_not"
    title = "Say whether two images show the same"
    about = "Collects answers."
    needs = "a caption or an image"
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema(
        left=role_schema("image", "The role of the image on the left."),
        right=role_schema("negative_image", "The role of the image on the right."),
    )

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(images=[ask["left"], ask["right"]])

    def common_options(self, ask: Mapping[str, Any]) -> frozenset[str]:
        return frozenset({"same", "other"})

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        return {"images": [one_image(instance, ask[side]) for side in ("left", "right")]}

    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        left, right = content["images"]
        return QuestionContent(
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
    about = "Collects answers."
    needs = "a caption or an image"
    instructions = INSTRUCTIONS
    rule = "collected-v1"
    collect_only = True
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

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        return [NewQuestion("", {"about": one_image(instance, ask["image"]), "statements": list(ask["statements"])})]

    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        image = content["about"]
        picture = Picture(image["image"], image["width"], image["height"], role=image["key"])
        return QuestionContent([Text(statement) for statement in content["statements"]], [picture])

    def categories(self, content: Mapping[str, Any]) -> Sequence[str]:
        return self.LABELS

    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        said = {statement: posted.get(f"statement-{n}", "") for n, statement in enumerate(content["statements"], 1)}
        if set(said.values()) - set(self.LABELS):
            raise NotAnAnswer(CHOOSE)
        return Answer(said)

    def form_data(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        return {f"statement-{n}": value[statement] for n, statement in enumerate(content["statements"], 1)}

    def labels(self, content: Mapping[str, Any], label: str, value: Any) -> Mapping[str, str]:
        return {statement: value[statement] for statement in content["statements"]}

    def simulate(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        labels = [label] if label else self.LABELS
        return {f"statement-{n}": dice.choice(labels) for n, _ in enumerate(content["statements"], 1)}


class DescribeIt(Kind):
    """The answer is a text of one's own."""

    name = "describe_it"
    title = "Describe an image"
    about = "Collects answers."
    needs = "a caption or an image"
    instructions = INSTRUCTIONS
    rule = "collected-v1"
    collect_only = True
    has_one_label = False
    answers_are_sources = True
    is_written = True
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema(image=role_schema("image", "The role of the image."))

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(images=[ask["image"]])

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        if len(instance.images.get(ask["image"], ())) > 1:
            raise CannotAsk(f"Instance {instance.key} has several images in the role {ask['image']}; it needs one.")
        return [NewQuestion("", {"about": one_image(instance, ask["image"])})]

    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        image = content["about"]
        return QuestionContent(pictures=[Picture(image["image"], image["width"], image["height"], role=image["key"])])

    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        text = posted.get("text", "").strip()
        if not text:
            raise NotAnAnswer(CHOOSE)
        return Answer(text)

    def form_data(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        return {"text": value}

    def simulate(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        return {"text": label or f"A scene with {dice.randint(2, 99)} things."}


class RankTexts(Kind):
    """Four texts in random order, each with a rank from 1, ties allowed. The right ranking is known: that of the
    instance's source or, where it says nothing, of the study. An answer is role of the text -> rank."""

    name = "rank_texts"
    title = "Rank texts by how well they fit an image"
    about = "Collects answers."
    needs = "a caption or an image"
    instructions = INSTRUCTIONS
    rule = "collected-v1"
    has_one_label = False
    RANKS = ("1", "2", "3", "4")
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema(
        image=role_schema("image", "The role of the image."),
        texts={
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "minItems": 4,
            "maxItems": 4,
            "uniqueItems": True,
            "default": ["best", "good", "fair", "bad"],
            "description": "The roles of the texts.",
        },
        ranks={
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": 4},
            "minItems": 4,
            "maxItems": 4,
            "default": [1, 2, 2, 4],
            "description": "The right rank of each text, where the source of its instance says none.",
        },
    )

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(captions=ask["texts"], images=[ask["image"]])

    def knows_right(self, ask: Mapping[str, Any]) -> bool:
        return True

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        texts = [{"key": role, "text": one_caption(instance, role)} for role in ask["texts"]]
        ranks = instance.reference.get("right") or ask["ranks"]
        right = {text["key"]: str(rank) for text, rank in zip(texts, ranks, strict=True)}
        return [NewQuestion("", {"about": one_image(instance, ask["image"]), "texts": texts}, right)]

    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        image = content["about"]
        return QuestionContent(pictures=[Picture(image["image"], image["width"], image["height"], role=image["key"])])

    def options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        return [Option(text["key"], text=text["text"]) for text in content["texts"]]

    def categories(self, content: Mapping[str, Any]) -> Sequence[str]:
        return self.RANKS

    def scale(self, content: Mapping[str, Any]) -> Scale:
        return Scale("ordinal")

    def labels(self, content: Mapping[str, Any], label: str, value: Any) -> Mapping[str, str]:
        return {text["key"]: value[text["key"]] for text in content["texts"]}

    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        places = posted_values(self, content, order)
        said = {key: posted.get(f"rank-{place}", "") for place, key in places.items()}
        if set(said.values()) - set(self.RANKS):
            raise NotAnAnswer(CHOOSE)
        return Answer(said)

    def form_data(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        return {f"rank-{place}": value[key] for place, key in posted_values(self, content, order).items()}

    def score(self, content: Mapping[str, Any], right: Any, answer: Answer) -> float | None:
        """Return the share of pairs of texts that stand to each other as they should, tied pairs with them."""
        pairs = list(combinations([text["key"] for text in content["texts"]], 2))
        return sum(_order(answer.value, pair) == _order(right, pair) for pair in pairs) / len(pairs)

    def predict_answer(self, content: Mapping[str, Any], scores: Mapping[str, float]) -> Answer | None:
        return Answer({key: str(1 + sum(other > score for other in scores.values())) for key, score in scores.items()})

    def measures(self) -> Sequence[AgreementMeasure]:
        return [
            AgreementMeasure("Kendall's W", lambda content, values: kendall_w(self._ranks(content, values))),
            AgreementMeasure("Kendall's tau-b", lambda content, values: mean_kendall_tau(self._ranks(content, values))),
        ]

    def _ranks(self, content: Mapping[str, Any], values: Sequence[Any]) -> list[list[int]]:
        return [[int(value[text["key"]]) for text in content["texts"]] for value in values]

    def simulate(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        ranks = [label] if label else self.RANKS
        return self.form_data(content, order, {text["key"]: dice.choice(ranks) for text in content["texts"]})


def _order(ranks: Mapping[str, str], pair: tuple[str, str]) -> int:
    """Return -1 where the first of `pair` ranks before the second, 1 where after it, 0 where they are tied."""
    first, second = (int(ranks[key]) for key in pair)
    return (first > second) - (first < second)


class TwoScales(Kind):
    """Two things are asked at once, one on an ordinal scale and one of two labels without an order."""

    name = "two_scales"
    title = "Say how sharp an image is, and where it was taken"
    about = "Collects answers."
    needs = "a caption or an image"
    instructions = INSTRUCTIONS
    rule = "collected-v1"
    collect_only = True
    has_one_label = False
    SCALES: ClassVar[Mapping[str, Scale]] = {
        "sharpness": Scale("ordinal", labels=("blurred", "fair", "sharp")),
        "place": Scale(labels=("inside", "outside")),
    }
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema(image=role_schema("image", "The role of the image."))

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(images=[ask["image"]])

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        return [NewQuestion("", {"about": one_image(instance, ask["image"])})]

    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        image = content["about"]
        return QuestionContent(pictures=[Picture(image["image"], image["width"], image["height"], role=image["key"])])

    def groups(self, content: Mapping[str, Any]) -> Sequence[Group]:
        return [Group(unit, unit.capitalize()) for unit in self.SCALES]

    def categories(self, content: Mapping[str, Any]) -> Sequence[str]:
        return [label for scale in self.SCALES.values() for label in scale.labels]

    def unit_scales(self, content: Mapping[str, Any]) -> Mapping[str, Scale]:
        return self.SCALES

    def labels(self, content: Mapping[str, Any], label: str, value: Any) -> Mapping[str, str]:
        return {unit: value[unit] for unit in self.SCALES}

    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        said = {group.key: posted.get(name, "") for name, group in fields_of(self, content).items()}
        if any(label not in self.SCALES[unit].labels for unit, label in said.items()):
            raise NotAnAnswer(CHOOSE)
        return Answer(said)

    def form_data(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        return {name: value[group.key] for name, group in fields_of(self, content).items()}

    def simulate(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        return {
            name: label if label in self.SCALES[group.key].labels else dice.choice(self.SCALES[group.key].labels)
            for name, group in fields_of(self, content).items()
        }
