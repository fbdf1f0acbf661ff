"""A project in which some describe images of a set and others find them. The kind that describes is made up here, so
that every text is about the first image of its set or the fifth; the fixture `describing` puts it into the registry."""

import random
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from annotation.actions import sessions
from annotation.actions.answering import responses
from annotation.actions.launching.launch import launch
from annotation.models import Response, Session, SessionState
from studies.actions.studies import create_study
from studies.descriptions import SET, SET_SIZE, image_of_set
from studies.kinds import Answer, InstanceFacts, NewQuestion, NotAnAnswer, QuestionContent, Roles, Text, get_kind
from studies.kinds.base import Kind
from studies.models import Instance, InstanceImage, Project, Study
from tests.factories import NOON, TESTS, arrive_at_work, make_image, make_project

NOTHING: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}
PLACES = [f"image_{place}" for place in range(1, SET_SIZE + 1)]


class Tell(Kind):
    """A text about the first image of a set, and one about the fifth."""

    name = "tell"
    title = "Tell it apart"
    about = "Collects answers."
    needs = "a caption or an image"
    instructions = "Write what tells it apart."
    rule = "collected-v1"
    collect_only = True
    has_one_label = False
    answers_are_sources = True
    is_written = True
    asks_about_parts = True
    ask_schema: ClassVar[Mapping[str, Any]] = NOTHING
    TARGETS: ClassVar[Mapping[str, int]] = {"one": 0, "five": 4}

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(images=[SET])

    def variants(self, ask: Mapping[str, Any]) -> Sequence[str]:
        return list(self.TARGETS)

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        places = self.TARGETS.items()
        return [NewQuestion(variant, {"target": target}, item=image_of_set(target)) for variant, target in places]

    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        return QuestionContent([Text(f"Image {content['target']}")])

    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        if not posted.get("text"):
            raise NotAnAnswer("Write something.")
        impossible = posted["text"] == "not possible"
        return Answer({"not_possible": True} if impossible else {"text": posted["text"]})

    def form_data(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        return {"text": value.get("text", "not possible")}

    def answer_text(self, value: Any) -> str:
        return str(value.get("text", ""))

    def as_source(self, content: Mapping[str, Any], answer: Any) -> Mapping[str, Any] | None:
        return {"text": answer["text"], "target": content["target"]} if "text" in answer else None

    def simulate(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        return {"text": label or f"Number {dice.randint(1, 9)}."}


def make_set(project: Project, key: str, *, split: str = "train", size: int = SET_SIZE, **fields: Any) -> Instance:
    """Return a set of `size` images; `fields` are columns of it."""
    about: dict[str, Any] = {"type": "video" if key.startswith("video") else "static", "split": split, "captions": {}}
    instance = Instance.objects.create(
        project=project, key=key, caption_rule="as-is-v1", source_file="sets.jsonl", source_row=1, **about | fields
    )
    InstanceImage.objects.bulk_create(
        InstanceImage(instance=instance, role=SET, position=place, filename=f"{key}/{place}.png", image=image)
        for place, image in enumerate(make_image(f"{key}-{place}") for place in range(size))
    )
    return instance


def launched(project: Project, **file: Any) -> Study:
    lines = [f"{name}: {value}" for name, value in file.items()]
    source = "\n".join(["title: T", "contact: Ada", "recruitment: {any_ids: true, sessions_per_annotator: 0}", *lines])
    study = create_study(project=project, source=source, by=TESTS, now=NOON)
    launch(study=study, by=TESTS, now=NOON)
    study.refresh_from_db()
    return study


def two_studies(*keys: str, split: str = "train", name: str = "") -> tuple[Study, Study]:
    """Return a study that describes the sets called `keys` and one that retrieves, both launched."""
    project = make_project("sets")
    for key in keys:
        make_set(project, key, split=split)
    chosen = f"{{split: [{split}]}}"
    tell = launched(project, study=f"tell{name}", kind="tell", answers=1, max_answers=3, instances=chosen)
    find = launched(
        project,
        study=f"find{name}",
        kind="retrieve",
        purpose="filter",
        rule="retrieved-2-of-3-v1",
        answers=2,
        max_answers=3,
        instances=f"{{from: tell{name}}}",
    )
    return tell, find


def write(study: Study, person: str, texts: Mapping[str, str], **measured: Any) -> list[Response]:
    """Let `person` sit down, write and go; texts: key of the set and variant ("video-a one") -> text. measured: what
    the browser measured besides, of each."""
    session = _arrive(study, person)
    for slot in responses.open_slots(session=session, limit=100):
        text = texts.get(f"{slot.question.instance.key} {slot.question.variant}")
        if text:
            _send(session, slot.pk, {"text": text}, **measured)
    sessions.leave(session=session, to=SessionState.RETURNED, now=NOON)
    return list(Response.objects.filter(session=session).order_by("pk"))


def find(study: Study, person: str, places: Mapping[str, int]) -> Session:
    """Let `person` sit down, choose and go; places: text -> the place of the image chosen, from 1. Others are left."""
    session = _arrive(study, person)
    for slot in responses.open_slots(session=session, limit=100):
        source = slot.question.source or {}
        if source.get("text") in places:
            order = responses.order_for(session=session, question=slot.question)
            label = PLACES[places[source["text"]] - 1]
            posted = get_kind("retrieve").simulate(slot.question.content, order, dice=random.Random(0), label=label)
            _send(session, slot.pk, posted)
    # Their seat goes to the next one, where something is left.
    sessions.leave(session=session, to=SessionState.RETURNED, now=NOON)
    return session


def _arrive(study: Study, person: str) -> Session:
    """Return a new sitting of `person`, whether they were here before or not."""
    return arrive_at_work(study, person, session=f"{person}-{Session.objects.count()}")


def _send(session: Session, slot: int, posted: Mapping[str, str], **measured: Any) -> None:
    measured = {"send_ms": 4200} | measured
    sent = responses.Submission(slot=slot, submission=uuid.uuid4(), posted=posted, measured=measured)
    responses.submit(token=session.token, sent=sent, now=NOON)
