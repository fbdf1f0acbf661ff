"""Makes a study in which image sets are described, and one in which the images are found, in the database of
DATABASE_URL: python -m tests.flows.two_roles_studies."""

import argparse

import django

django.setup()

import yaml
from django.utils import timezone

from annotation.actions.launching.launch import launch
from studies.actions.studies import create_study
from studies.models import Project
from tests.factories import CONTACT, TESTS, make_instance, make_project

PEOPLE = {"any_ids": True, "sessions_per_annotator": 0}
DESCRIBING = {"study": "describe", "kind": "describe", "rule": "described-v1", "max_answers": 2, "surveys": {"size": 4}}
RETRIEVING = {
    "study": "retrieve",
    "kind": "retrieve",
    "ask": {"images": "candidate"},
    "instances": {"from": "describe"},
    "rule": "retrieved-2-of-3-v1",
    "answers": 2,
    "max_answers": 3,
    "surveys": {"size": 4},
    "lobby": {"minutes": 10},
}


def make_studies(*, sets: int, targets: int) -> None:
    """Open both studies over `sets` image sets of ten, `targets` images of each described."""
    project = make_project()
    for number in range(sets):
        make_instance(project, f"set-{number}", candidates=10, type="static")
    _open(project, DESCRIBING | {"ask": {"images": "candidate", "targets": targets}})
    _open(project, RETRIEVING)


def _open(project: Project, file: dict[str, object]) -> None:
    source = yaml.safe_dump({"title": "Image sets", "contact": CONTACT, "recruitment": PEOPLE} | file)
    launch(
        study=create_study(project=project, source=source, by=TESTS, now=timezone.now()), by=TESTS, now=timezone.now()
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=8)
    parser.add_argument("--targets", type=int, default=2)
    chosen = parser.parse_args()
    make_studies(sets=chosen.sets, targets=chosen.targets)
