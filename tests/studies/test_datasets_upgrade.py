"""The dataset of a project on the way to several studies, and on the way back to the version before."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.factories import NOON

BEFORE = [("studies", "0027_name_items_of_old_questions")]
AFTER = [("studies", "0029_copy_datasets")]


def migrate(targets: list[tuple[str, str]]) -> Any:
    MigrationExecutor(connection).migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


def make_study(apps: Any, project: Any, slug: str, **fields: Any) -> Any:
    design = {"design": {}, "seed": "", "invite_token": slug, "source": "", "rule": "majority-v1"}
    return apps.get_model("studies", "Study").objects.create(
        project=project, slug=slug, kind="best_of_n", **design, **fields
    )


def test_the_dataset_is_copied_there_and_back(empty_database: None) -> None:
    before = migrate(BEFORE)
    projects = before.get_model("studies", "Project").objects
    birds, fish = (projects.create(slug=slug, name=slug) for slug in ("birds", "fish"))
    kept = make_study(before, birds, "step-3", state="open", launched_at=NOON)
    projects.filter(pk=birds.pk).update(dataset=kept)
    after = migrate(AFTER)
    studies = after.get_model("studies", "Study").objects
    assert list(studies.filter(in_dataset=True).values_list("slug", flat=True)) == ["step-3"]
    # Chosen since: another study of fish, and two of birds, of which the version before can have one.
    for project, slug, hours in ((birds, "step-4", 2), (birds, "step-5", 1), (fish, "all", 1)):
        own = after.get_model("studies", "Project").objects.get(pk=project.pk)
        launched_at = NOON + timedelta(hours=hours)
        make_study(after, own, slug, state="open", launched_at=launched_at, in_dataset=True)
    studies.filter(slug="step-3").update(in_dataset=False)
    back = migrate(BEFORE)
    found = back.get_model("studies", "Project").objects.order_by("slug").values_list("slug", "dataset__slug")
    assert list(found) == [("birds", "step-4"), ("fish", "all")]
    migrate(AFTER)
    kept_now = after.get_model("studies", "Study").objects.filter(in_dataset=True).order_by("slug")
    assert list(kept_now.values_list("slug", flat=True)) == ["all", "step-4"]
