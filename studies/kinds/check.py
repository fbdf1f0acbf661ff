"""`check`: an image and statements; the annotator marks each as true, false or cannot tell."""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from studies.kinds.base import (
    CannotAsk,
    Group,
    InstanceFacts,
    NewQuestion,
    Option,
    QuestionContent,
    Roles,
    Text,
    ask_schema_of,
    gettext_noop,
    list_schema,
    one_image,
    picture_of,
    role_schema,
)
from studies.kinds.choices import SeveralChoices

TRUE, FALSE, CANNOT_TELL = "true", "false", "cannot tell"
# More statements than anybody reads next to one image.
MOST_STATEMENTS = 20
LONGEST_STATEMENT = 300
# How often simulated annotators give the opposite answer, and "cannot tell".
SLIPS, UNTOLD = 0.12, 0.05


class Check(SeveralChoices):
    """One question per instance.

    Statements are captions of the instance (key: the role) and the study's own statements about every image (key: the
    text). There is no right answer, and nothing is accepted or rejected.
    """

    name = "check"
    title = "Say which statements about an image are true"
    study_title = "Which statements about the image are true?"
    about = "Collects True, False or Cannot tell for captions and for statements of your own."
    needs = "one image in a role, and a caption or statements of your own"
    rule = "collected-v1"
    collect_only = True
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema_of(
        image=role_schema("image", "The role of the image."),
        captions=list_schema(
            ["caption"],
            "The roles of the captions that are statements about the image. If an instance lacks "
            "one, only the others are asked.",
            maxItems=MOST_STATEMENTS,
        ),
        statements=list_schema(
            [],
            "Statements about every image, shown after the captions of its instance.",
            longest=LONGEST_STATEMENT,
            maxItems=MOST_STATEMENTS,
        ),
    )
    instructions = """\
Look at the image and read the statements below or beside it. Decide for **each statement separately** whether it is
true.

- **True**: the image shows everything that the statement says.
- **False**: something in the statement is wrong, even a single detail such as a number, a colour or a place.
- **Cannot tell**: the image does not show enough to decide.
- Judge only what the image shows. **Ignore visual flaws** such as strange faces, hands or letters.
"""

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(captions=ask["captions"], images=[ask["image"]])

    def problems(self, ask: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        count = len(ask["captions"]) + len(ask["statements"])
        if not count:
            yield (
                "statements",
                "There are no statements about the image. Write `ask.captions`, `ask.statements`, or both.",
            )
        if count > MOST_STATEMENTS:
            yield (
                "statements",
                f"There are {count} statements about one image; at most {MOST_STATEMENTS} are allowed.",
            )
        for statement in ask["statements"]:
            if statement in ask["captions"]:
                yield (
                    "statements",
                    f"The statement {statement!r} is the name of a caption's role. Use other words.",
                )

    def common_options(self, ask: Mapping[str, Any]) -> frozenset[str]:
        return frozenset({TRUE, FALSE, CANNOT_TELL})

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        said = [(role, instance.captions.get(role, "")) for role in ask["captions"]]
        said += [(statement, statement) for statement in ask["statements"]]
        statements = [{"key": key, "text": text} for key, text in said if text]
        if not statements:
            roles = ", ".join(ask["captions"])
            raise CannotAsk(f"Instance {instance.key} has no statement to check: no caption in the roles {roles}.")
        return [NewQuestion("", {"about": one_image(instance, ask["image"]), "statements": statements})]

    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        statements = [Text(statement["text"], role=statement["key"]) for statement in content["statements"]]
        return QuestionContent(statements, [picture_of(content["about"])])

    def groups(self, content: Mapping[str, Any]) -> Sequence[Group]:
        return [Group(statement["key"], statement["text"]) for statement in content["statements"]]

    def options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        return [
            Option(TRUE, gettext_noop("True"), shuffled=False, digit="1"),
            Option(FALSE, gettext_noop("False"), shuffled=False, digit="2"),
            Option(CANNOT_TELL, gettext_noop("Cannot tell"), shuffled=False, digit="3"),
        ]

    def simulate(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        if label:
            return super().simulate(content, order, dice=dice, label=label)
        said = {}
        for statement in content["statements"]:
            # Simulated annotators agree about as much as people do: each statement is mostly true or mostly false.
            own = random.Random(f"{content['about']['image']}|{statement['key']}")  # noqa: S311 (play)
            truth = FALSE if own.random() < (1 + content["statements"].index(statement)) / 5 else TRUE
            slip = dice.random()
            said[statement["key"]] = (
                CANNOT_TELL if slip < UNTOLD else {TRUE: FALSE, FALSE: TRUE}[truth] if slip < SLIPS else truth
            )
        return self.form_data(content, order, said)
