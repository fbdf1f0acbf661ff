"""`compare`: two to four images for a caption; for each of several criteria the one preferred, or no difference."""

import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import comb, exp
from typing import Any, ClassVar

from studies.kinds.base import (
    Built,
    CannotAsk,
    Group,
    ImageFacts,
    InstanceFacts,
    Option,
    Roles,
    Shown,
    Text,
    gettext_noop,
    image_option,
    one_caption,
    picture_of,
)
from studies.kinds.choices import SeveralChoices

SAME = "no difference"
FEWEST_IMAGES, MOST_IMAGES, MOST_ROLES = 2, 4, 8
# More questions about one instance than anybody answers in a row.
MOST_QUESTIONS = 30
MOST_CRITERIA = 8
LONGEST_CRITERION = 120
# How far apart made-up people find the images, and how often they see no difference.
APART, UNDECIDED = 0.8, 0.15


class Compare(SeveralChoices):
    """One question per instance, or one for each combination of images where there are more than are shown at once.

    An image is called by its role; those of the only role, which has several, by the role and their place. What is
    preferred is compared across instances by these names, so that a role should be the same model or method in all of
    them. Nothing is right, and nothing is accepted or rejected."""

    name = "compare"
    title = "Compare images for a description, criterion by criterion"
    rule = "collected-v1"
    collects = True
    prefers = True
    ask_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "caption": {
                "type": "string",
                "default": "caption",
                "description": 'The role of the caption that is shown above the images; "" for images alone.',
            },
            "images": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "minItems": 1,
                "maxItems": MOST_ROLES,
                "uniqueItems": True,
                "default": ["image", "negative_image"],
                "description": "The roles of the images, one image each; or one role that has several images.",
            },
            "at_once": {
                "type": "integer",
                "minimum": FEWEST_IMAGES,
                "maximum": MOST_IMAGES,
                "default": MOST_IMAGES,
                "description": "How many images are shown at once at most. Where there are more roles, every "
                "combination of so many is a question.",
            },
            "criteria": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_CRITERION},
                "minItems": 1,
                "maxItems": MOST_CRITERIA,
                "uniqueItems": True,
                "default": ["Fits the description best"],
                "description": "What the images are compared by, each answered by itself, as annotators read it.",
            },
            "ties": {
                "type": "boolean",
                "default": True,
                "description": "Whether it can be answered that there is no difference.",
            },
        },
    }
    instructions = """\
Read the description, look at all the images, and say **for each criterion separately** which image is better.

- Judge one criterion at a time. An image can fit the description best and still be the least beautiful.
- Enlarge the images if they look alike.
- Choose **No difference** only if you see none after looking closely.
"""

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(captions=[ask["caption"]] if ask["caption"] else [], images=ask["images"])

    def problems(self, ask: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        questions = comb(len(ask["images"]), min(ask["at_once"], len(ask["images"])))
        if questions > MOST_QUESTIONS:
            yield (
                "images",
                f"These are {questions} combinations of {ask['at_once']} images, each a question about every instance; "
                f"the most are {MOST_QUESTIONS}.",
            )

    def variants(self, ask: Mapping[str, Any]) -> Sequence[str]:
        return [" ".join(roles) for roles in _combined(ask)] if len(ask["images"]) > ask["at_once"] else [""]

    def always_offers(self, ask: Mapping[str, Any]) -> frozenset[str]:
        return frozenset({SAME}) if ask["ties"] else frozenset()

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[Built]:
        about: dict[str, Any] = {"criteria": list(ask["criteria"]), "ties": ask["ties"]}
        if ask["caption"]:
            about["caption"] = one_caption(instance, ask["caption"])
        return [
            Built(variant, about | {"options": _options(instance, roles, ask)})
            for variant, roles in zip(self.variants(ask), _combined(ask), strict=True)
        ]

    def shown(self, content: Mapping[str, Any]) -> Shown:
        return Shown([Text(content["caption"])] if "caption" in content else [])

    def groups(self, content: Mapping[str, Any]) -> Sequence[Group]:
        return [Group(criterion, criterion) for criterion in content["criteria"]]

    def options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        found = [Option(stored["key"], picture=picture_of(stored)) for stored in content["options"]]
        if content["ties"]:
            found.append(Option(SAME, gettext_noop("No difference"), shuffled=False, digit="0"))
        return found

    def made_up(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        if label:
            return super().made_up(content, order, dice=dice, label=label)
        said = {}
        for criterion in content["criteria"]:
            # Made-up people agree about as much as people do: every name is worth as much in all questions.
            keys = [option.key for option in self.options(content) if option.shuffled]
            worths = [exp(random.Random(f"{criterion}|{key}").gauss(0, APART)) for key in keys]  # noqa: S311 (play)
            tied = content["ties"] and dice.random() < UNDECIDED
            said[criterion] = SAME if tied else dice.choices(keys, worths)[0]
        return self.posted(content, order, said)


def _combined(ask: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the roles of each question about an instance."""
    return list(combinations(ask["images"], min(ask["at_once"], len(ask["images"]))))


def _options(instance: InstanceFacts, roles: Sequence[str], ask: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = list(_named(instance, roles))
    if not FEWEST_IMAGES <= len(found) <= ask["at_once"]:
        raise CannotAsk(
            f"Instance {instance.key} has {len(found)} images in {' and '.join(roles)}; compare needs {FEWEST_IMAGES} "
            f"to {ask['at_once']}."
        )
    return [image_option(key, image, instance=instance.key) for key, image in found]


def _named(instance: InstanceFacts, roles: Sequence[str]) -> Iterable[tuple[str, ImageFacts]]:
    """Yield the images with the names that they have in answers. Raises CannotAsk."""
    for role in roles:
        images = instance.images.get(role, ())
        if len(roles) > 1 and len(images) != 1:
            raise CannotAsk(f"Instance {instance.key} has {len(images)} images in the role {role}; it needs one.")
        for place, image in enumerate(images):
            yield role if len(roles) > 1 else f"{role}-{place}", image
