"""Files of exports and releases that no row names are deleted after a day."""

import os
from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from config.celery import PERIODIC
from results.actions.exports import request_export
from results.actions.orphaned_files import discard_orphans
from results.models import Export, Release
from tests.factories import draw_instance, make_launched, make_person, make_project, make_study

pytestmark = pytest.mark.django_db


def store(name: str, *, hours_ago: int) -> str:
    saved = default_storage.save(name, ContentFile(b"answers"))
    moment = (timezone.now() - timedelta(hours=hours_ago)).timestamp()
    os.utime(default_storage.path(saved), (moment, moment))
    return saved


def test_files_that_a_killed_worker_left_are_deleted_after_a_day() -> None:
    project = make_project()
    draw_instance(project, 1)
    study = make_study(project)
    named = [store("exports/1/named.jsonl", hours_ago=25), store("releases/1/named.jsonl", hours_ago=25)]
    by, now = make_person("ada"), timezone.now()
    export = request_export(study=make_launched(study), format="responses", by=by, now=now)
    Export.objects.filter(pk=export.pk).update(state="ready", file=named[0])
    Release.objects.create(project=study.project, study=study, name="v1", file=named[1], sha256="0" * 64, made_at=now)
    orphans = [store("exports/1/left.jsonl", hours_ago=25), store("releases/2/left.jsonl", hours_ago=25)]
    fresh = [store("exports/1/fresh.jsonl", hours_ago=23), store("releases/1/fresh.jsonl", hours_ago=23)]
    other = store("images/ab/abcd", hours_ago=25)
    assert discard_orphans(now=timezone.now()) == 2
    assert [default_storage.exists(name) for name in orphans] == [False, False]
    assert all(default_storage.exists(name) for name in (*named, *fresh, other))
    assert discard_orphans(now=timezone.now()) == 0


def test_an_empty_storage_has_none() -> None:
    assert discard_orphans(now=timezone.now()) == 0


def test_beat_sends_the_task() -> None:
    assert "results.discard_orphans" in {task for task, _, _ in PERIODIC.values()}
