"""The cast of the stories: projects, launched studies and annotators who arrive, all through the real actions."""

import hashlib
from datetime import UTC, datetime
from typing import Any

import yaml

from annotation.actions import sessions
from annotation.actions.launching import launch
from annotation.models import Session
from annotation.recruitment.base import Entry
from studies.actions.studies import create_study
from studies.models import Image, Instance, InstanceImage, Project, Study

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def make_image(name: str, *, width: int = 64, height: int = 64) -> Image:
    """Return a stored image without a file; pages that only link to it need no more."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    image, _ = Image.objects.get_or_create(
        sha256=digest, defaults={"width": width, "height": height, "format": "PNG", "byte_size": 100}
    )
    return image


def make_project(slug: str = "vases") -> Project:
    project, _ = Project.objects.get_or_create(slug=slug, defaults={"name": slug.title()})
    return project


def make_instance(project: Project, key: str, *, candidates: int = 4, **fields: Any) -> Instance:
    """Return an instance with two captions and `candidates` candidate images."""
    captions = {"caption": f"A vase, {key}.", "negative_caption": f"A map, {key}."}
    defaults = {
        "type": "replace",
        "subtype": "obj",
        "captions": captions,
        "original_captions": captions,
        "caption_rule": "as-is-v1",
        "source_file": "vases.csv",
        "source_row": 1,
    }
    instance = Instance.objects.create(project=project, key=key, **(defaults | fields))
    InstanceImage.objects.bulk_create(
        InstanceImage(
            instance=instance,
            role="candidate",
            position=position,
            filename=f"{key}_{position}.png",
            image=make_image(f"{key}_{position}"),
        )
        for position in range(candidates)
    )
    return instance


def make_draft(
    project: Project | None = None, *, instances: int = 4, selection: dict[str, list[str]] | None = None, **design: Any
) -> Study:
    """Return a draft study, making instances until the project has `instances`; `design` adds to its file.

    `selection` is the `instances` section of the file.
    """
    project = project or make_project()
    have = project.instances.count()
    for number in range(have, max(have, instances)):
        make_instance(project, f"vase-{number}")
    file = {"study": "best-vase", "title": "Which vase?", "kind": "best_of_n", "instances": selection or {}} | design
    return create_study(project=project, source=yaml.safe_dump(file), by=None)


def make_study(project: Project | None = None, *, instances: int = 4, **design: Any) -> Study:
    """Return an open study, as `make_draft` makes it."""
    study = make_draft(project, instances=instances, **design)
    launch(study=study, now=NOON)
    return study


def arrive(study: Study, person: str = "ann", *, session: str = "", now: datetime = NOON) -> Session:
    """Return the session of a person who has just come from Prolific."""
    entry = Entry(provider="prolific", person=person, session_id=session or f"session-of-{person}", study_id="study")
    return sessions.start(study=study, entry=entry, now=now)


def arrive_at_work(study: Study, person: str = "ann", *, session: str = "", now: datetime = NOON) -> Session:
    """Return the session of a person who has read everything and is at the first question."""
    started = arrive(study, person, session=session, now=now)
    sessions.consent(session=started, agreed=True, now=now)
    sessions.begin(session=started, part=0, now=now)
    return started
