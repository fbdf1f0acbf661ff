"""The page from which a trained model is pushed to the Hub."""

import pytest
from django.test import Client

from tests.factories import NOON, make_member, make_person, make_project
from tests.pages import signed_in
from tests.training.site import finish, waiting_run
from training.models import TrainingRun
from workspace.models import ModelPush

pytestmark = pytest.mark.django_db
WANTED = {"repository": "lab/clip", "licence": "MIT", "private": "on", "with_weights": "on", "token": "hf_secret"}


@pytest.fixture
def run(client: Client, monkeypatch: pytest.MonkeyPatch) -> TrainingRun:
    """Return a run whose model is trained. The editor of its project has signed in."""
    monkeypatch.setattr("workspace.views.projects.model_hub.send", lambda job: None)
    project = make_project()
    client.force_login(make_member(project, "editor"))
    run = waiting_run(project)
    finish(run)
    return run


def test_a_push_is_requested_watched_and_its_end_is_shown(client: Client, run: TrainingRun) -> None:
    page = f"/training/{run.pk}/hub/"
    assert f'href="{page}"' in client.get(f"/training/{run.pk}/").content.decode()
    shown = client.post(page, WANTED, follow=True).content.decode()
    assert "Waiting for the worker" in shown
    assert "hf_secret" not in shown
    push = ModelPush.objects.get()
    assert (push.repository, push.licence, push.private, push.with_weights) == ("lab/clip", "MIT", True, True)
    ModelPush.objects.update(card_url="https://hub.example/commit/1")
    how_far = client.get(f"/model-pushes/{push.pk}/").content.decode()
    assert "The card is on the Hub. Waiting for a worker with models" in how_far
    assert "<li" not in how_far
    ModelPush.objects.update(sent_at=NOON)
    assert "A worker pushes the weights" in client.get(f"/model-pushes/{push.pk}/").content.decode()
    ModelPush.objects.update(finished_at=NOON, sealed_token="", url="https://hub.example/commit/2")
    assert 'href="https://hub.example/commit/2"' in client.get(f"/model-pushes/{push.pk}/").content.decode()


def test_what_is_refused_is_said_what_was_written_stays_and_the_token_goes(client: Client, run: TrainingRun) -> None:
    response = client.post(f"/training/{run.pk}/hub/", {**WANTED, "repository": "clip"})
    page = response.content.decode()
    assert response.status_code == 409
    assert "Write the repository as OWNER/NAME" in page
    assert 'value="clip"' in page
    assert "hf_secret" not in page


def test_a_push_is_cancelled_by_its_button(client: Client, run: TrainingRun) -> None:
    client.post(f"/training/{run.pk}/hub/", WANTED)
    push = ModelPush.objects.get()
    assert "It was cancelled." in client.post(f"/model-pushes/{push.pk}/cancel/", follow=True).content.decode()
    push.refresh_from_db()
    assert push.sealed_token == ""


def test_a_run_that_is_not_trained_has_no_form(client: Client, run: TrainingRun) -> None:
    other = waiting_run(run.project, name="other")
    page = client.get(f"/training/{other.pk}/hub/").content.decode()
    assert "It can be pushed once its training is done." in page
    assert "id_token" not in page


def test_viewers_and_strangers_push_nothing(client: Client, run: TrainingRun) -> None:
    client.post(f"/training/{run.pk}/hub/", WANTED)
    push = ModelPush.objects.get()
    viewer, stranger = signed_in(make_member(run.project, "viewer", name="vi")), signed_in(make_person("stranger"))
    for address in (f"/training/{run.pk}/hub/", f"/model-pushes/{push.pk}/cancel/"):
        assert (viewer.post(address, WANTED).status_code, stranger.post(address, WANTED).status_code) == (403, 404)
    assert stranger.get(f"/model-pushes/{push.pk}/").status_code == 404
    assert ModelPush.objects.get().finished_at is None
