"""Importing a dataset by its name on the Hub, from the page."""

import pytest
from django.test import Client

from studies.models import Project, Upload
from tests.factories import draw_instance, make_member, make_person, make_project
from tests.hub import TOKEN, Hub, Repository
from tests.jobs import run_now
from tests.pages import signed_in, words_of
from workspace.models import HubDownload

pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")]
NEW = "/projects/vases/hub-datasets/"
WANTED = {"repository": "lab/balls", "revision": "", "folder": "", "token": ""}


@pytest.fixture
def project(client: Client, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose editor has signed in, beside a public dataset of one table."""
    monkeypatch.setattr("workspace.views.projects.hub_datasets.send", lambda job: None)
    hub.repositories["lab/balls"] = Repository(private=False, files={"balls.csv": b"key,caption\none,A ball.\n"})
    project = make_project()
    client.force_login(make_member(project, "editor"))
    return project


def download() -> HubDownload:
    return HubDownload.objects.get()


def run() -> None:
    job = download().job
    assert job
    run_now(job)


@pytest.mark.usefixtures("project")
def test_a_dataset_is_asked_for_by_name_watched_and_its_columns_assigned(client: Client) -> None:
    page = words_of(client.get("/projects/vases/imports/new/"))
    assert "Import a dataset by its name on the Hugging Face Hub" in page
    assert "Dataset on 127.0.0.1:" in page, "the hub that the site is set to"
    shown = client.post(NEW, WANTED, follow=True)
    assert "Waiting for the worker" in words_of(shown)
    address = f"/hub-downloads/{download().pk}/"
    assert shown.redirect_chain == [(address, 302)]
    fragment = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert 'hx-trigger="every 1s"' in fragment
    assert "<h1" not in fragment
    assert "Download of lab/balls" in words_of(client.get("/jobs/"))
    run()
    assert client.get(address, headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    mapping = client.get(address, follow=True)
    assert mapping.redirect_chain == [(f"/uploads/{download().upload_id}/mapping/", 302)]
    assert "A ball." in words_of(mapping)


@pytest.mark.usefixtures("project")
def test_a_failed_download_says_why_and_keeps_what_was_typed_to_be_changed_there(client: Client) -> None:
    client.post(NEW, {**WANTED, "repository": "lab/cubes", "folder": "en", "revision": "v1"})
    run()
    page = words_of(client.get(f"/hub-downloads/{download().pk}/"))
    assert "The Hub has no dataset lab/cubes that can be read without a token. Check the name." in page
    for name, value in (("repository", "lab/cubes"), ("folder", "en"), ("revision", "v1")):
        assert f'name="{name}" value="{value}"' in page
    assert '<input id="token" name="token" type="password"' in page
    assert "Try again</button>" in page


@pytest.mark.usefixtures("project")
def test_a_button_pressed_twice_downloads_once(client: Client) -> None:
    first, second = client.post(NEW, WANTED), client.post(NEW, WANTED)
    assert first["Location"] == second["Location"] == f"/hub-downloads/{download().pk}/"
    assert Upload.objects.count() == 1


@pytest.mark.usefixtures("project")
def test_a_table_that_is_none_is_said_on_the_page_for_another_import(client: Client, hub: Hub) -> None:
    hub.repositories["lab/balls"].files = {"balls.parquet": b"<html>Sign in</html>"}
    client.post(NEW, WANTED)
    run()
    shown = client.get(f"/hub-downloads/{download().pk}/", follow=True)
    assert shown.redirect_chain[-1] == ("/projects/vases/imports/new/", 302)
    assert "balls.parquet: " in words_of(shown)


@pytest.mark.usefixtures("project")
def test_what_is_refused_is_said_and_stays_in_the_form_without_the_token(client: Client) -> None:
    response = client.post(NEW, {**WANTED, "repository": "balls <b>", "folder": "data", "token": TOKEN})
    page = words_of(response)
    assert response.status_code == 409
    assert "Write the dataset as OWNER/NAME" in page
    assert 'value="balls &lt;b&gt;"' in page
    assert 'value="data"' in page
    assert TOKEN not in page
    assert not Upload.objects.exists()


@pytest.mark.usefixtures("project")
def test_a_download_is_cancelled_by_its_button(client: Client) -> None:
    client.post(NEW, WANTED)
    shown = words_of(client.post(f"/hub-downloads/{download().pk}/cancel/", follow=True))
    assert "It was cancelled." in shown


def test_nobody_else_sees_a_download_and_a_viewer_asks_for_none(client: Client, project: Project) -> None:
    client.post(NEW, WANTED)
    draw_instance(project, 1)
    for other in (make_member(project, "viewer", name="eve"), make_person("stranger")):
        browser = signed_in(other)
        assert browser.get(f"/hub-downloads/{download().pk}/").status_code == 404
        assert browser.post(f"/hub-downloads/{download().pk}/cancel/").status_code == 404
        assert browser.post(NEW, WANTED).status_code in {403, 404}
        assert "lab/balls" not in words_of(browser.get("/jobs/"))
    assert HubDownload.objects.count() == 1
