"""Sets of images, studies that have them described and found, and a kind of writing that is made up for it."""

import random
import uuid
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from annotation.actions.answering import responses
from annotation.models import Decision, Session
from studies.descriptions import TARGETS, role_of
from studies.kinds import Answer, InstanceFacts, NewQuestion, NotAnAnswer, QuestionContent, Roles
from studies.kinds.base import Kind, image_option, picture_of
from studies.models import Instance, Project, Study
from tests.factories import NOON, arrive_at_work, launch_study, make_instance, make_project

TEN = {"images": "candidate"}


class Write(Kind):
    """A free text about one of the images of a set: always its third."""

    name = "write_about"
    title = "Write"
    about = "Collects answers."
    needs = "a caption or an image"
    instructions = "Write it down."
    rule = "described-v1"
    collect_only = True
    ask_schema: ClassVar[Mapping[str, Any]] = {"type": "object", "additionalProperties": False, "properties": {}}
    has_one_label = False
    answers_are_sources = True
    TARGET = 2

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(images=["candidate"])

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        target = instance.images["candidate"][self.TARGET]
        return [NewQuestion("", {"image": image_option("target", target, instance=instance.key)})]

    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        return QuestionContent(pictures=[picture_of(content["image"])])

    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        if not posted.get("text"):
            raise NotAnAnswer("Write something.")
        return Answer({"text": posted["text"]})

    def form_data(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        return {"text": value["text"]}

    def as_source(self, content: Mapping[str, Any], answer: Any) -> Mapping[str, Any] | None:
        return None if answer["text"] == "not possible" else {"text": answer["text"], "target": self.TARGET}

    def simulate(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        return {"text": f"number {dice.randint(1, 9)}"}


def make_set(
    project: Project, key: str, descriptions: Mapping[str, int | None] = MappingProxyType({}), *, type: str = "static"
) -> Instance:
    """Make a set of ten images with imported descriptions: text -> the place of its image, None where it is unknown."""
    captions = {role_of(number): text for number, text in enumerate(descriptions, start=1)}
    targets = [target for target in descriptions.values() if target is not None]
    reference = {TARGETS: targets} if targets else {}
    return make_instance(
        project, key, candidates=10, type=type, captions=captions, original_captions=captions, reference=reference
    )


def project_of(*keys: str, type: str = "static") -> Project:
    """Return a project with a set for each of `keys`, without descriptions."""
    project = make_project()
    for key in keys:
        make_set(project, key, type=type)
    return project


def find_study(project: Project, **design: Any) -> Study:
    asked = {"study": "find", "kind": "retrieve", "ask": TEN, "surveys": {"size": 1}}
    return launch_study(project, instances=0, **asked | design)


def write_study(project: Project, **design: Any) -> Study:
    return launch_study(project, instances=0, **{"study": "write", "kind": "write_about"} | design)


def send(session: Session, **posted: str) -> responses.SubmissionResult:
    (slot,) = responses.open_slots(session=session, limit=1)
    sent = responses.Submission(slot=slot.pk, submission=uuid.uuid4(), posted=posted)
    return responses.submit(token=session.token, sent=sent, now=NOON)


def choose(session: Session, *, place: int) -> responses.SubmissionResult:
    """Choose the image at `place` of the set, from 0."""
    (slot,) = responses.open_slots(session=session, limit=1)
    order = responses.order_for(session=session, question=slot.question)
    return send(session, choice=str(order.index(f"image_{place + 1}") + 1))


def states_of(study: Study) -> list[str]:
    """Return what has been decided about each question, in the order in which they were made."""
    decisions = Decision.objects.filter(study=study).order_by("question__source_id", "question")
    return [decision.state for decision in decisions]


def keys_of(session: Session) -> list[str]:
    """Return the keys of the sets that `session` is asked about, in alphabetical order."""
    return sorted(slot.question.instance.key for slot in responses.open_slots(session=session, limit=99))


def write_everything(study: Study, person: str) -> None:
    session = arrive_at_work(study, person)
    for number in range(session.questions_total):
        send(session, text=f"What {person} wrote, {number}.")
