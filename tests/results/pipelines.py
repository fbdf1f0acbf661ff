"""A small pipeline made through the real actions: step 3 feeds step 4, which feeds the baseline."""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

import yaml
from django.contrib.auth.models import User

from annotation.actions.answering import responses
from annotation.actions.answering.responses import Submission
from annotation.actions.launching import launch
from annotation.models import Report, Session, Skip
from studies.actions.studies import create_study
from studies.models import Instance, InstanceImage, Membership, Project, Question, Study, Tag
from tests.factories import CONTACT, NOON, TESTS, arrive_at_work, make_image, make_instance, make_person, make_project

Choice = str | Callable[[Question], str]
STEP_3 = {"study": "step-3", "kind": "best_of_n"}
STEP_4 = {"study": "step-4", "kind": "ambiguity", "instances": {"from": "step-3"}}
BASELINE = {
    "study": "baseline",
    "parts": [{"kind": "image_to_text"}, {"kind": "text_to_image"}],
    "instances": {"from": "step-4", "sample": 1},
    "surveys": {"size": 4},
}


def project_of(member: User, *, instances: int = 4) -> Project:
    """Return a project of vases; the first half are replace/obj, the others swap/att."""
    project = make_project()
    Membership.objects.create(project=project, user=member)
    for number in range(instances):
        category = ("replace", "obj") if number < instances / 2 else ("swap", "att")
        instance = make_instance(
            project, f"vase-{number}", type=category[0], subtype=category[1], source_row=number + 1
        )
        InstanceImage.objects.create(instance=instance, role="image", filename="o.png", image=make_image(f"o{number}"))
    return project


def open_study(project: Project, file: Mapping[str, Any]) -> Study:
    study = create_study(
        project=project, source=yaml.safe_dump({"title": "T", "contact": CONTACT, **file}), by=TESTS, now=NOON
    )
    launch.launch(study=study, by=TESTS, now=NOON)
    study.refresh_from_db()
    return study


def sit_through(study: Study, person: str, choose: Choice) -> Session:
    """Let `person` sit down and answer, as `go_on` says."""
    session = arrive_at_work(study, person)
    go_on(session, choose)
    return session


def go_on(session: Session, choose: Choice) -> None:
    """Answer the open questions of a sitting, choosing by the option's key; where that is "", leave the question."""
    for slot in responses.open_slots(session=session, limit=100):
        key = choose(slot.question) if callable(choose) else choose
        if not key:
            continue
        if slot.part > session.part_begun:
            Session.objects.filter(pk=session.pk).update(part_begun=slot.part)
        order = responses.order_for(session=session, question=slot.question)
        value = key if key in {"none", "both"} else str(order.index(key) + 1)
        sent = Submission(slot=slot.pk, submission=uuid.uuid4(), posted={"choice": value}, measured={"send_ms": 4200})
        responses.submit(token=session.token, sent=sent, now=NOON)


def by_key(**choices: str) -> Callable[[Question], str]:
    """Return a choice by the instance's key, with "_" for "-"; questions about others are left."""
    return lambda question: choices.get(question.instance.key.replace("-", "_"), "")


def make_pipeline() -> str:
    """Make a project: step 4 keeps vase-0 and drops vase-1, and step 3 waits for answers to vase-2 and vase-3. Here
    and there stand a tag, a report, and a picture that is awaited."""
    step_3 = open_study(project_of(make_person("researcher")), STEP_3)
    sit_through(step_3, "ann", by_key(vase_0="candidate-0", vase_1="candidate-1"))
    step_4 = open_study(step_3.project, STEP_4)
    session = sit_through(step_4, "ben", by_key(vase_0="original", vase_1="both"))
    Instance.objects.filter(key="vase-1").update(split="val")
    InstanceImage.objects.filter(instance__key="vase-2", role="image").update(image=None)
    tag = Tag.objects.create(project=step_3.project, name="odd")
    tag.instances.add(Instance.objects.get(key="vase-3"))
    about = {"study": step_4, "session": session, "annotator": session.annotator, "at": NOON}
    first, second = step_4.questions.order_by("instance__key")
    Report.objects.create(question=first, reason="broken", **about)
    failed = [{"option": "original", "image": "0" * 64, "failed_loads": 3, "missing": True}]
    Skip.objects.create(question=second, images=failed, file_missing=True, **about)
    return step_3.project.slug
