"""What many tests read is made once, and none of them knows what ran before it."""

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection

from studies.models import Project
from tests.databases import kept
from tests.factories import make_project

times_made: list[int] = []


def make() -> str:
    times_made.append(make_project("kept").pk)
    default_storage.save("kept.txt", ContentFile(b"as it was made"))
    return "what the maker said"


made = kept(make)


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_finds_what_was_made_once_and_leaves_nothing(made: str, turn: int) -> None:
    assert made == "what the maker said"
    assert len(times_made) == 1
    assert [project.slug for project in Project.objects.all()] == ["kept"]
    with default_storage.open("kept.txt") as file:
        assert file.read() == b"as it was made"
    Project.objects.update(slug=f"changed in turn {turn}")
    default_storage.delete("kept.txt")


@pytest.mark.django_db
def test_the_shared_database_has_none_of_it() -> None:
    assert "kept" not in str(connection.settings_dict["NAME"])
    assert not Project.objects.exists()
