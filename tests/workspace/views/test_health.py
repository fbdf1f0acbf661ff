from pathlib import Path

import pytest
from django.core.files import File
from django.core.files.storage import FileSystemStorage
from django.db import OperationalError
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from annotation.models import Annotator
from tests.factories import draw_instance, make_project
from workspace.views import health

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_written_yet() -> None:
    health._check_write.cache_clear()


def test_a_process_is_healthy_without_asking_the_database(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(0):
        response = Client().get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_a_site_is_ready_when_every_part_answers() -> None:
    response = Client().get("/readyz")
    assert response.status_code == 200
    parts = {"database", "migrations", "storage", "broker", "keys", "images"}
    assert response.json() == {"status": "ok"} | dict.fromkeys(parts, "ok")


def test_readiness_leaves_nothing_in_the_storage(settings: Settings) -> None:
    Client().get("/readyz")
    assert [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()] == []


def test_however_often_anybody_asks_it_is_written_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    save = FileSystemStorage.save

    def noted(self: FileSystemStorage, name: str, content: File) -> str:  # type: ignore[type-arg]
        written.append(name)
        return save(self, name, content)

    monkeypatch.setattr(FileSystemStorage, "save", noted)
    clock = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: clock)
    assert {Client().get("/readyz").status_code for _ in range(20)} == {200}
    assert len(written) == 1
    clock += 60
    Client().get("/readyz")
    assert len(written) == 2


def test_a_storage_that_failed_is_tried_again_at_once(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.MEDIA_ROOT = tmp_path / "file"
    assert Client().get("/readyz").status_code == 503
    settings.MEDIA_ROOT = tmp_path / "folder"
    assert Client().get("/readyz").status_code == 200


def test_a_storage_that_cannot_be_written_is_named(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.MEDIA_ROOT = tmp_path / "file"
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert (response.json()["status"], response.json()["storage"]) == ("failing", "failing")
    assert response.json()["database"] == "ok"


def test_a_database_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise OperationalError("could not connect to server: secret.example.org")

    monkeypatch.setitem(health.NEEDED, "database", gone)
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert response.json()["database"] == "failing"
    assert "secret.example.org" not in response.content.decode()


def test_a_migration_that_is_not_applied_is_told_with_what_to_do() -> None:
    MigrationRecorder.Migration.objects.filter(app="results").latest("pk").delete()
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert response.json()["migrations"] == "1 migrations are not applied: run `manage.py migrate`"


def test_a_broker_that_is_away_is_told_and_pages_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: object, **about: object) -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr("kombu.Connection.ensure_connection", away)
    response = Client().get("/readyz")
    assert response.status_code == 200
    assert (response.json()["status"], response.json()["broker"]) == ("ok", "failing")


def test_a_machine_with_other_keys_than_the_others_says_so(settings: Settings) -> None:
    Annotator.objects.create(provider="prolific", **Annotator.seal_id("5f" * 12))
    assert Client().get("/readyz").json()["keys"] == "ok"
    settings.SECRET_KEY = "the key of another machine " * 3
    response = Client().get("/readyz")
    assert (response.status_code, response.json()["status"]) == (200, "ok")
    assert response.json()["keys"] == (
        "other keys than those of the stored ids: use the same SECRET_KEY and ENCRYPTION_KEYS on all machines"
    )


def test_a_machine_with_another_media_folder_than_the_others_says_so(settings: Settings, tmp_path: Path) -> None:
    draw_instance(make_project("birds"), 1)
    assert Client().get("/readyz").json()["images"] == "ok"
    settings.MEDIA_ROOT = tmp_path / "another"
    response = Client().get("/readyz")
    assert (response.status_code, response.json()["status"]) == (200, "ok")
    assert response.json()["images"] == "the last image is missing: use the same MEDIA_ROOT on all machines"
