"""Pictures in storages that are no folder of ours (S3 and the like); folders are tested by the imports and the view."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from pytest_django import Settings

from studies.actions.images import (
    NoSuchPicture,
    check_and_store,
    original_name,
    remove_unused,
    rendition,
    rendition_name,
)
from studies.models import Image
from studies.picture_handles import handle_of
from tests.studies.source_files import picture_bytes

pytestmark = pytest.mark.django_db


@pytest.fixture
def _no_folder(settings: Settings) -> None:
    settings.STORAGES = settings.STORAGES | {"default": {"BACKEND": "django.core.files.storage.InMemoryStorage"}}


@pytest.mark.usefixtures("_no_folder")
def test_a_picture_is_stored_and_served_from_any_storage(client: Client) -> None:
    data = picture_bytes(size=(400, 300))
    sha256, facts = check_and_store(data, keep=True, on_write=lambda name: None)
    Image.objects.create(sha256=sha256, byte_size=len(data), **asdict(facts))
    with default_storage.open(original_name(sha256)) as file:
        assert file.read() == data
    for size in ("card", "view", "full"):
        assert client.get(f"/images/{handle_of(sha256, study=1)}/{size}").status_code == 200


@pytest.mark.usefixtures("_no_folder")
def test_files_that_no_instance_uses_can_be_removed_from_any_storage() -> None:
    names: list[str] = []
    sha256, _ = check_and_store(picture_bytes(size=(400, 300)), keep=True, on_write=names.append)
    assert names == [rendition_name(sha256, "card"), original_name(sha256)]
    remove_unused(names)
    assert not any(default_storage.exists(name) for name in names)


@pytest.mark.parametrize("storage", ["FileSystemStorage", "InMemoryStorage"])
def test_the_same_picture_taken_in_at_once_is_stored_once(storage: str, settings: Settings) -> None:
    settings.STORAGES = settings.STORAGES | {"default": {"BACKEND": f"django.core.files.storage.{storage}"}}
    data = picture_bytes(size=(900, 700))
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: check_and_store(data, keep=True, on_write=lambda name: None)[0], range(16)))
    (sha256,) = found
    assert default_storage.listdir(f"images/{sha256[:2]}") == ([], [sha256])
    assert sorted(default_storage.listdir(f"renditions/{sha256[:2]}/{sha256}")[1]) == ["card.webp", "view.webp"]


def test_a_rendition_that_several_ask_for_at_once_is_made_once() -> None:
    data = picture_bytes(size=(900, 700))
    sha256, facts = check_and_store(data, keep=True, on_write=lambda name: None)
    Image.objects.create(sha256=sha256, byte_size=len(data), **asdict(facts))
    default_storage.delete(rendition_name(sha256, "view"))
    assert {rendition(sha256=sha256, size="view") for _ in range(3)} == {rendition_name(sha256, "view")}
    with pytest.raises(NoSuchPicture, match="There is no such image here"):
        rendition(sha256="0" * 64, size="view")
