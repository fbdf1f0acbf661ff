"""Releases that are pushed to the Hub by a job, tried against a stand-in of its protocol."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import serializers

from annotation.actions.removing.removals import withdraw
from background.hub_commits import Progress, Target
from background.jobs import cancel, fail
from background.models import Job
from results.actions.releases import freeze_release, prepare_release
from results.exporting.dataset_card import About
from results.models import Release
from studies.models import Event, Project
from tests.factories import (
    NOON,
    answer,
    draw_instance,
    make_launched,
    make_person,
    make_project,
    make_study,
    questions,
    sit_down,
)
from tests.hub import TOKEN, Hub
from tests.jobs import run_now
from workspace.actions import hub as actions
from workspace.actions.hub import PushRefused, request_push
from workspace.hub_repository import push_folder
from workspace.models import HubPush

pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")]


@pytest.fixture
def release() -> Release:
    """Return a frozen release of one instance that one person answered."""
    project = make_project()
    draw_instance(project, 1)
    study = make_launched(make_study(project))
    answer(sit_down(study, "ann"), questions(study)[0], "candidate-0")
    release, _ = prepare_release(study=study, about=About(release="v1"), by=make_person("ben"), now=NOON)
    freeze_release(release=release, now=NOON)
    return release


def ask(release: Release, **changes: Any) -> HubPush:
    told = {"repository": "lab/vases", "private": True, "token": TOKEN, **changes}
    return request_push(release=release, **told, by=User.objects.get_or_create(username="cora")[0], now=NOON)


def done(push: HubPush) -> HubPush:
    assert push.job
    run_now(push.job)
    push.refresh_from_db()
    return push


def everything() -> str:
    models = (HubPush, Job, Event, Project, Release)
    return "".join(serializers.serialize("json", model._base_manager.all()) for model in models)


def test_a_release_lies_in_the_repository_as_it_is_written_and_the_token_is_nowhere(hub: Hub, release: Release) -> None:
    push = ask(release)
    assert push.sealed_token
    assert TOKEN not in everything()
    done(push)
    assert (push.error, push.sealed_token) == ("", "")
    repository = hub.repositories["lab/vases"]
    assert push.url.startswith(f"{hub.url}/datasets/lab/vases/commit/")
    assert {"README.md", "croissant.json", "data/test-00000-of-00001.parquet", "annotations/responses.csv"} <= set(
        repository.files
    )
    assert repository.tags == {"v1": 1}
    event = Event.objects.get(what="release pushed to the hub")
    assert (event.by_name, event.details) == ("cora", {"release": "v1", "repository": "lab/vases"})
    assert push.job
    assert push.job.total == push.job.done == sum(map(len, repository.files.values()))


def test_twice_is_once(hub: Hub, release: Release) -> None:
    push = done(ask(release))
    done(push)
    done(ask(release))
    assert hub.repositories["lab/vases"].commits == ["Release v1"]


def test_a_token_that_the_hub_does_not_know_is_said_and_forgotten(hub: Hub, release: Release) -> None:
    push = done(ask(release, token="hf_another"))
    assert push.error == "The Hub rejected the token: it is unknown or expired. Use a new one."
    assert (push.sealed_token, push.finished_at is not None) == ("", True)
    # And another can be given.
    assert done(ask(release)).error == ""


def test_a_push_that_waited_too_long_is_not_begun(hub: Hub, release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "TOKEN_KEPT", timedelta(seconds=-1))
    assert "The stored token has expired" in done(ask(release)).error
    assert hub.sent == []


def test_one_that_waits_is_cancelled_at_once_and_its_token_forgotten(hub: Hub, release: Release) -> None:
    push = ask(release)
    actions.cancel_push(push=push, by=make_person("dora"), now=NOON)
    push.refresh_from_db()
    assert (push.error, push.sealed_token) == ("It was cancelled.", "")
    assert done(push).url == ""
    assert hub.sent == []
    with pytest.raises(PushRefused, match="already ended"):
        actions.cancel_push(push=push, by=make_person("eva"), now=NOON)


def test_one_that_is_under_way_stops_before_its_next_file(
    hub: Hub, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    push = ask(release)

    def stopped(folder: Path, target: Target, progress: Progress) -> str:
        def tell(done: int, total: int) -> None:
            if done:
                cancel(job=Job.objects.get(), now=NOON)
            progress(done, total)

        return push_folder(folder, target, tell)

    monkeypatch.setattr(actions, "push_folder", stopped)
    monkeypatch.setattr("background.job_runner.TELL_EVERY", timedelta(0))
    done(push)
    assert push.error == "It was cancelled."
    assert hub.repositories["lab/vases"].files == {}


def test_a_job_that_fails_unforeseen_forgets_the_token(release: Release) -> None:
    push = ask(release)
    assert push.job
    fail(job=push.job, error="The server could not push this release.", now=NOON)
    push.refresh_from_db()
    assert (push.sealed_token, push.error) == ("", "The server could not push this release.")


def test_what_somebody_withdrew_from_is_pushed_no_more(hub: Hub, release: Release) -> None:
    push = ask(release)
    annotator = release.study.sessions.get().annotator
    withdraw(project=release.project, annotator=annotator, by=make_person("dora"), now=NOON)
    assert "has withdrawn since it was frozen" in done(push).error
    assert hub.sent == []
    with pytest.raises(PushRefused, match="has withdrawn"):
        ask(release)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"repository": "vases"}, "OWNER/NAME"),
        ({"repository": "https://huggingface.co/lab/vases"}, "OWNER/NAME"),
        ({"token": ""}, "Give a token"),
        ({"token": "hf token"}, "Give a token"),
        ({"token": "hf_a\r\nb"}, "Give a token"),
    ],
)
def test_what_cannot_be_pushed_is_refused(told: dict[str, Any], reason: str, release: Release) -> None:
    with pytest.raises(PushRefused, match=reason):
        ask(release, **told)
    assert not HubPush.objects.exists()


def test_two_are_not_pushed_to_one_repository_at_once(release: Release) -> None:
    ask(release)
    with pytest.raises(PushRefused, match="is already being pushed to lab/vases"):
        ask(release)
    ask(release, repository="lab/others")
