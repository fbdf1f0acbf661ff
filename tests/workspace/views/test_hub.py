"""The page from which a release is pushed to the Hub."""

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client

from background.jobs import cancel, claim, progress
from background.models import Job
from results.models import Release
from tests.factories import NOON, draw_instance, make_launched, make_member, make_project, make_study
from workspace.models import HubPush

pytestmark = pytest.mark.django_db
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
WANTED = {"repository": "lab/vases", "private": "on", "token": "hf_secret"}


@pytest.fixture
def release(client: Client, monkeypatch: pytest.MonkeyPatch) -> Release:
    """Return a frozen release of no rows, whose project's editor has signed in."""
    monkeypatch.setattr("workspace.views.projects.hub.send", lambda job: None)
    project = make_project()
    draw_instance(project, 1)
    client.force_login(make_member(project, "editor"))
    file = default_storage.save("releases/rows.jsonl", ContentFile(b""))
    study = make_launched(make_study(project))
    frozen = {"file": file, "sha256": EMPTY, "dossier": {"size": 0}}
    return Release.objects.create(project=project, study=study, name="v1", made_at=NOON, **frozen)


def test_a_push_is_asked_for_watched_and_its_end_is_shown(client: Client, release: Release) -> None:
    page = f"/releases/{release.pk}/hub/"
    releases = client.get(f"/studies/vases/{release.study.slug}/releases/").content.decode()
    assert f'href="{page}"' in releases
    shown = client.post(page, WANTED, follow=True).content.decode()
    assert "Waiting for the worker" in shown
    assert "hf_secret" not in shown
    push = HubPush.objects.get()
    assert (push.repository, push.private) == ("lab/vases", True)
    job = claim(job_id=Job.objects.get().pk, message="", now=NOON)
    assert job
    progress(job=job, now=NOON, done=1024, total=2048)
    how_far = client.get(f"/hub-pushes/{push.pk}/").content.decode()
    assert "1.0\xa0KB of 2.0\xa0KB" in how_far
    assert "<li" not in how_far
    cancel(job=job, now=NOON)
    assert "Cancelling" in client.get(f"/hub-pushes/{push.pk}/").content.decode()
    HubPush.objects.update(finished_at=NOON, sealed_token="", url="https://hub.example/commit/1")
    assert 'href="https://hub.example/commit/1"' in client.get(f"/hub-pushes/{push.pk}/").content.decode()


def test_the_page_says_what_it_was_never_tried_against(client: Client, release: Release) -> None:
    assert "against a simulated Hub only" in client.get(f"/releases/{release.pk}/hub/").content.decode()


def test_what_is_refused_is_said_what_was_written_stays_and_the_token_goes(client: Client, release: Release) -> None:
    response = client.post(f"/releases/{release.pk}/hub/", {**WANTED, "repository": "vases"})
    page = response.content.decode()
    assert response.status_code == 409
    assert "Write the repository as OWNER/NAME" in page
    assert 'value="vases"' in page
    assert "hf_secret" not in page


def test_a_push_is_cancelled_by_its_button(client: Client, release: Release) -> None:
    client.post(f"/releases/{release.pk}/hub/", WANTED)
    push = HubPush.objects.get()
    shown = client.post(f"/hub-pushes/{push.pk}/cancel/", follow=True).content.decode()
    assert "It was cancelled." in shown
    assert "already ended" in client.post(f"/hub-pushes/{push.pk}/cancel/", follow=True).content.decode()
