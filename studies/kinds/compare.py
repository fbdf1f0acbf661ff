"""`compare`: 2 to 4 images for a caption; per criterion, the preferred image or no difference."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from math import comb, exp
from typing import Any, ClassVar

from studies.kinds.base import (
    CannotAsk,
    Group,
    ImageFacts,
    InstanceFacts,
    NewQuestion,
    Option,
    QuestionContent,
    Roles,
    Text,
    ask_schema_of,
    gettext_noop,
    image_option,
    list_schema,
    one_caption,
    picture_of,
    schema_of,
)
from studies.kinds.choices import SeveralChoices

SAME = "no difference"
FEWEST_IMAGES, MOST_IMAGES, MOST_ROLES = 2, 4, 8
# More questions than anybody answers about one instance in a row.
MOST_QUESTIONS = 30
MOST_CRITERIA = 8
LONGEST_CRITERION = 120
# Spread of the images' worths (log scale) for simulated annotators, and how often they see no difference.
APART, UNDECIDED = 0.8, 0.15


class Compare(SeveralChoices):
    """One question per instance, or per combination of images if not all are shown at once.

    An image's key is its role or, if one role has all images, the role and the place. Preferences are compared across
    instances by these keys, so a role should be the same model or method in all of them. There is no right answer, and
    nothing is accepted or rejected.
    """

    name = "compare"
    title = "Compare images for a description, criterion by criterion"
    study_title = "Which image is better?"
    about = "Collects preferences, such as between the images of several generators."
    needs = "2 to 4 images"
    rule = "collected-v1"
    collect_only = True
    is_preference = True
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema_of(
        caption=schema_of("caption", 'The role of the caption that is shown above the images; "" for images alone.'),
        images=list_schema(
            ["image", "negative_image"],
            "The roles of the images, one image each; or one role that has several images.",
            minItems=1,
            maxItems=MOST_ROLES,
        ),
        at_once=schema_of(
            MOST_IMAGES,
            "The maximum number of images shown at once. With more roles, every combination of this "
            "many images is a question.",
            minimum=FEWEST_IMAGES,
            maximum=MOST_IMAGES,
        ),
        criteria=list_schema(
            ["Fits the description best"],
            "The criteria by which images are compared, as annotators read them. Each is answered separately.",
            longest=LONGEST_CRITERION,
            minItems=1,
            maxItems=MOST_CRITERIA,
        ),
        ties=schema_of(True, "Whether annotators may answer that there is no difference."),
    )
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
                f"There are {questions} combinations of {ask['at_once']} images, each a question about "
                f"every instance; at most {MOST_QUESTIONS} are allowed.",
            )

    def can_instruct(self, ask: Mapping[str, Any]) -> bool:
        return bool(ask["caption"] and ask["ties"])

    def instruction_check(
        self, content: Mapping[str, Any], number: int, say: Callable[[Option], str]
    ) -> tuple[Mapping[str, Any], Any]:
        instructed, option = super().instruction_check(content, number, say)
        return instructed, dict.fromkeys(content["criteria"], option)

    def variants(self, ask: Mapping[str, Any]) -> Sequence[str]:
        return [" ".join(roles) for roles in _role_combinations(ask)] if len(ask["images"]) > ask["at_once"] else [""]

    def common_options(self, ask: Mapping[str, Any]) -> frozenset[str]:
        return frozenset({SAME}) if ask["ties"] else frozenset()

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        about: dict[str, Any] = {"criteria": list(ask["criteria"]), "ties": ask["ties"]}
        if ask["caption"]:
            about["caption"] = one_caption(instance, ask["caption"])
        return [
            NewQuestion(variant, about | {"options": _options(instance, roles, ask)})
            for variant, roles in zip(self.variants(ask), _role_combinations(ask), strict=True)
        ]

    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        return QuestionContent([Text(content["caption"])] if "caption" in content else [])

    def groups(self, content: Mapping[str, Any]) -> Sequence[Group]:
        return [Group(criterion, criterion) for criterion in content["criteria"]]

    def options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        found = [Option(stored["key"], picture=picture_of(stored)) for stored in content["options"]]
        if content["ties"]:
            found.append(Option(SAME, gettext_noop("No difference"), shuffled=False, digit="0"))
        return found

    def simulate(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        if label:
            return super().simulate(content, order, dice=dice, label=label)
        said = {}
        for criterion in content["criteria"]:
            # Simulated annotators agree about as much as people do: a key has the same worth in all questions.
            keys = [option.key for option in self.options(content) if option.shuffled]
            worths = [exp(random.Random(f"{criterion}|{key}").gauss(0, APART)) for key in keys]  # noqa: S311 (play)
            tied = content["ties"] and dice.random() < UNDECIDED
            said[criterion] = SAME if tied else dice.choices(keys, worths)[0]
        return self.form_data(content, order, said)


def _role_combinations(ask: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the image roles of each question about an instance."""
    return list(combinations(ask["images"], min(ask["at_once"], len(ask["images"]))))


def _options(instance: InstanceFacts, roles: Sequence[str], ask: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = list(_keyed_images(instance, roles))
    if not FEWEST_IMAGES <= len(found) <= ask["at_once"]:
        raise CannotAsk(
            f"Instance {instance.key} has {len(found)} images in {' and '.join(roles)}; compare needs {FEWEST_IMAGES} "
            f"to {ask['at_once']}."
        )
    return [image_option(key, image, instance=instance.key) for key, image in found]


def _keyed_images(instance: InstanceFacts, roles: Sequence[str]) -> Iterable[tuple[str, ImageFacts]]:
    """Yield (option key, image). Raises CannotAsk."""
    for role in roles:
        images = instance.images.get(role, ())
        if len(roles) > 1 and len(images) != 1:
            raise CannotAsk(f"Instance {instance.key} has {len(images)} images in the role {role}; it needs one.")
        for place, image in enumerate(images):
            yield role if len(roles) > 1 else f"{role}-{place}", image
