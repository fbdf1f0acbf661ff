"""The job that looks for near duplicates: after imports, once for each picture, whoever is lost meanwhile."""

from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from pytest_django import Settings

from background.errors import Superseded
from background.models import Job, JobState
from predictions.actions import duplicates
from predictions.actions.duplicates import look_for_new
from predictions.models import NearDuplicate, PictureVector
from predictions.tasks import look_for_near_duplicates
from studies.actions.images import original_name, rendition_name
from studies.models import Instance, InstanceImage, Project
from tests.factories import NOON, make_project
from tests.jobs import run_now
from tests.predictions.near import put, saved

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project("birds")


def look() -> list[Job]:
    """Do what the clock asks for."""
    return [run_now(job, now=NOON) for job in look_for_new(now=NOON)]


def sha_of(instance: Instance, position: int = 0) -> str:
    return str(instance.images.get(position=position).image_id)


def pairs() -> set[frozenset[str]]:
    rows = NearDuplicate.objects.exclude(other=None).values_list("image_id", "other_id")
    return {frozenset(pair) for pair in rows}


def test_a_picture_that_was_saved_again_is_found_in_the_project_and_across_projects(project: Project) -> None:
    first, again = put(project, "first", saved(1)), put(project, "again", saved(1, quality=40))
    other = put(project, "other", saved(2))
    # The same bytes in two places are one picture.
    put(project, "the same", saved(2))
    elsewhere = put(make_project("fish"), "elsewhere", saved(2, quality=40))
    assert [job.state for job in look()] == [JobState.DONE, JobState.DONE]
    assert PictureVector.objects.count() == 4
    assert pairs() == {frozenset({sha_of(first), sha_of(again)}), frozenset({sha_of(other), sha_of(elsewhere)})}
    assert all(0 < distance < 0.02 for distance in NearDuplicate.objects.values_list("distance", flat=True))


def test_what_was_compared_is_not_looked_at_again_and_what_comes_later_is_compared_with_it(project: Project) -> None:
    put(project, "first", saved(1))
    assert len(look()) == 1
    assert look() == []
    assert pairs() == set()
    put(project, "again", saved(1, quality=40))
    look()
    assert len(pairs()) == 1
    assert look() == []


def test_pictures_of_one_instance_are_meant_to_be_alike_and_do_not_hide_one_that_stands_elsewhere(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duplicates, "MOST_KEPT", 1)
    in_set = put(project, "set", saved(1), saved(1, quality=94), saved(1, quality=93))
    alone = put(project, "alone", saved(1, quality=40))
    look()
    assert pairs() == {frozenset({sha_of(in_set, place), sha_of(alone)}) for place in range(3)}


def test_small_blocks_find_what_large_ones_do(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "PICTURES_AT_ONCE", 2)
    monkeypatch.setattr(duplicates, "COMPARED_AT_ONCE", 2)
    monkeypatch.setattr(duplicates, "BLOCK", 3)
    for number in range(4):
        put(project, f"first-{number}", saved(number))
        put(project, f"again-{number}", saved(number, quality=40))
    (job,) = look()
    assert (job.done, job.total) == (8, 8)
    assert len(pairs()) == NearDuplicate.objects.count() == 4


def test_a_picture_that_cannot_be_read_is_passed_over_and_asked_for_once(project: Project) -> None:
    lost = sha_of(put(project, "lost", saved(1)))
    for name in (original_name(lost), rendition_name(lost, "card")):
        default_storage.delete(name)
    assert [job.state for job in look()] == [JobState.DONE]
    assert look() == []


def test_a_worker_that_was_lost_leaves_nothing_twice(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    put(project, "first", saved(1))
    put(project, "again", saved(1, quality=40))
    (job,) = look_for_new(now=NOON)
    compared = duplicates._picture_pairs

    def lost(*args: Any) -> Any:
        raise Superseded

    monkeypatch.setattr(duplicates, "_picture_pairs", lost)
    run_now(job, now=NOON)
    assert (PictureVector.objects.count(), NearDuplicate.objects.count()) == (2, 0)
    monkeypatch.setattr(duplicates, "_picture_pairs", compared)
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
    run_now(job, now=NOON + timedelta(hours=2))
    assert (PictureVector.objects.count(), NearDuplicate.objects.count()) == (2, 1)


def test_the_clock_asks_once_while_a_job_waits_and_not_for_pictures_that_are_awaited(project: Project) -> None:
    InstanceImage.objects.create(instance=put(project, "awaited"), role="image", filename="a.jpg")
    assert look_for_new(now=NOON) == []
    put(project, "first", saved(1))
    for _ in range(2):
        look_for_near_duplicates()
    assert Job.objects.filter(kind=duplicates.KIND).count() == 1


def test_a_job_that_failed_is_not_asked_for_again_the_same_day(
    project: Project, settings: Settings, tmp_path: Path
) -> None:
    put(project, "first", saved(1))
    settings.NEAR_DUPLICATE_MODEL = "open_clip:ViT-B-32/openai"
    (job,) = look()
    assert (job.state, "NEAR_DUPLICATE_BELOW" in job.error) == (JobState.FAILED, True)
    assert look_for_new(now=NOON + timedelta(hours=23)) == []
    settings.NEAR_DUPLICATE_MODEL = ""
    # A known set that cannot be used ends it too.
    settings.KNOWN_SETS_DIR = str(tmp_path)
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    (job,) = look_for_new(now=NOON + timedelta(hours=25))
    run_now(job, now=NOON)
    assert (job.state, "bad.npz is not a file of vectors" in job.error) == (JobState.FAILED, True)


def test_pictures_of_known_test_sets_are_found(project: Project, settings: Settings, tmp_path: Path) -> None:
    """As after a set has become known: by a command, since the pictures were compared before."""
    settings.DATA_DIR = tmp_path / "data"
    seen = sha_of(put(project, "seen", saved(1)))
    put(project, "new", saved(2))
    look()
    assert not NearDuplicate.objects.exists()
    settings.KNOWN_SETS_DIR = str(tmp_path / "sets")
    (tmp_path / "sets/coco").mkdir(parents=True)
    (tmp_path / "sets/coco/139.jpg").write_bytes(saved(1, quality=40))
    (tmp_path / "sets/coco/140.jpg").write_bytes(saved(3))
    said = StringIO()
    for _ in range(2):
        call_command("find_near_duplicates", "birds", stdout=said)
    found = NearDuplicate.objects.get()
    assert (found.image_id, found.other_id, found.known) == (seen, None, "coco: 139.jpg")
    assert said.getvalue().startswith("Near-duplicate pairs: 1.")
