"""Base classes of multiple-choice kinds: parse, post and simulate choices. Pure."""

import random
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from studies.kinds.base import (
    CHOICE,
    CHOOSE_ANOTHER,
    Answer,
    Group,
    InstanceFacts,
    Kind,
    NewQuestion,
    NotAnAnswer,
    Option,
    PairRoles,
    QuestionContent,
    Roles,
    Text,
    fields_of,
    gettext_noop,
    picture_of,
    posted_values,
)


class SingleChoice(Kind):
    """A kind whose answer is one option."""

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        return [
            NewQuestion(variant, self.build(instance, ask, variant), self.right_option(ask, variant))
            for variant in self.variants(ask)
        ]

    @abstractmethod
    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        """Return the content of one question about `instance`. Raises CannotAsk."""

    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        texts = [Text(content["caption"])] if content.get("caption") else []
        pictures = [picture_of(content["image"])] if "image" in content else []
        return QuestionContent(texts, pictures)

    def options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        return [*map(_option_of, content["options"]), *self.last_options(content)]

    def last_options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        """Return the options that are no picture or text of the instance; they always come last."""
        return ()

    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        by_value = posted_values(self, content, order)
        value = posted.get(CHOICE, "")
        if not value:
            raise NotAnAnswer(gettext_noop("Choose one of the answers, then send."))
        if value not in by_value:
            raise NotAnAnswer(CHOOSE_ANOTHER)
        return Answer(value=by_value[value], label=by_value[value])

    def form_data(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        by_value = posted_values(self, content, order)
        return {CHOICE: next(posts for posts, key in by_value.items() if key == value)}

    def simulate(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        by_value = posted_values(self, content, order)
        label = label or dice.choice(sorted(by_value.values()))
        return {CHOICE: next(value for value, key in by_value.items() if key == label)}


class MatchingChoice(SingleChoice):
    """A kind with one question per role in the list `asked`; the role at the same place in the list `offered` is right.

    Both are the names of an `ask` entry, "images" or "captions".
    """

    rule = "majority-v1"
    asked: ClassVar[str]
    offered: ClassVar[str]

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(captions=ask["captions"], images=ask["images"])

    def problems(self, ask: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        asked, offered = ask[self.asked], ask[self.offered]
        if len(asked) > len(offered):
            yield (
                self.asked,
                f"`ask.{self.asked}` names {len(asked)} roles and `ask.{self.offered}` only "
                f"{len(offered)}: the right {self.offered[:-1]} of each {self.asked[:-1]} must be at the "
                "same position.",
            )

    def pair_roles(self, ask: Mapping[str, Any]) -> PairRoles:
        captions, images = ask["captions"], ask["images"]
        other = _place_of_negative(captions, images)
        return PairRoles(captions[0], images[0], *("".join(roles[other : other + 1]) for roles in (captions, images)))

    def common_options(self, ask: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(ask[self.offered])

    def variants(self, ask: Mapping[str, Any]) -> Sequence[str]:
        return list(ask[self.asked])

    def right_option(self, ask: Mapping[str, Any], variant: str) -> str:
        return str(ask[self.offered][ask[self.asked].index(variant)])


def _place_of_negative(captions: Sequence[str], images: Sequence[str]) -> int:
    """Return the place of the other side of the pair: of the usual negative roles, else the second."""
    for roles, usual in ((captions, "negative_caption"), (images, "negative_image")):
        if usual in roles[1:]:
            return roles.index(usual)
    return 1


class SeveralChoices(Kind):
    """A kind that asks several items at once, each answered by one option.

    An answer maps group key -> option key and has one label per group.
    """

    has_one_label = False

    @abstractmethod
    def groups(self, content: Mapping[str, Any]) -> Sequence[Group]: ...

    def categories(self, content: Mapping[str, Any]) -> Sequence[str]:
        return [option.key for option in self.options(content)]

    def labels(self, content: Mapping[str, Any], label: str, value: Any) -> Mapping[str, str]:
        return {group.key: value[group.key] for group in self.groups(content)}

    def score(self, content: Mapping[str, Any], right: Any, answer: Answer) -> float | None:
        """Return the share of groups answered correctly, None if no group counts.

        right: group key -> option key; other groups do not count.
        """
        asked = [group.key for group in self.groups(content) if group.key in right]
        return sum(answer.value[key] == right[key] for key in asked) / len(asked) if asked else None

    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        by_value = posted_values(self, content, order)
        said = {group.key: posted.get(name, "") for name, group in fields_of(self, content).items()}
        if not all(said.values()):
            raise NotAnAnswer(gettext_noop("Some answers are missing. Choose one answer for each, then send."))
        if set(said.values()) - set(by_value):
            raise NotAnAnswer(CHOOSE_ANOTHER)
        return Answer({key: by_value[value] for key, value in said.items()})

    def form_data(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        posts = {key: value for value, key in posted_values(self, content, order).items()}
        return {name: posts[value[group.key]] for name, group in fields_of(self, content).items()}

    def simulate(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        keys = [label] if label else sorted(self.categories(content))
        return self.form_data(content, order, {group.key: dice.choice(keys) for group in self.groups(content)})


def _option_of(stored: Mapping[str, Any]) -> Option:
    if "text" in stored:
        return Option(stored["key"], text=stored["text"])
    return Option(stored["key"], picture=picture_of(stored))
