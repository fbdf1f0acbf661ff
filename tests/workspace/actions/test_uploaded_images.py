import errno
import hashlib
import os
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage

from studies.actions.images import is_stored, original_name
from studies.errors import StudyError
from studies.models import Image, InstanceImage, Project
from tests.factories import NOON, make_instance, make_person, make_project
from tests.workspace.api.test_changing import picture
from workspace.actions.uploaded_images import KEPT_FOR, discard_unused, missing_images, upload_image

pytestmark = pytest.mark.django_db
LATER = NOON + KEPT_FOR + timedelta(seconds=1)


@pytest.fixture
def project() -> Project:
    return make_project("birds", members=[make_person("ann")])


def send(project: Project, shade: int, *, days: int = 0) -> str:
    data = picture(shade)
    person = project.memberships.get().user
    name = hashlib.sha256(data).hexdigest()
    upload_image(project=project, sha256=name, data=data, uploader=person, now=NOON + timedelta(days=days))
    return name


def show(project: Project, sha256: str) -> None:
    instance = make_instance(project, "1", candidates=1)
    InstanceImage.objects.filter(instance=instance).update(image=sha256)


def test_a_picture_that_no_row_shows_goes_after_a_month(project: Project) -> None:
    name = send(project, 1)
    assert discard_unused(now=NOON + KEPT_FOR) == 0
    assert is_stored(name)
    assert (discard_unused(now=LATER), discard_unused(now=LATER)) == (1, 0)
    assert not Image.objects.filter(pk=name).exists()
    assert not default_storage.exists(original_name(name))
    assert missing_images(project, [name]) == [name]
    send(project, 1, days=31)
    assert missing_images(project, [name]) == []


def test_one_that_a_row_shows_stays(project: Project) -> None:
    name = send(project, 1)
    show(project, name)
    assert discard_unused(now=LATER) == 0
    assert is_stored(name)


def test_one_that_was_sent_again_waits_anew(project: Project) -> None:
    name = send(project, 1)
    send(project, 1, days=10)
    assert discard_unused(now=LATER) == 0
    assert is_stored(name)


def test_one_that_another_project_shows_or_was_given_is_taken_from_this_one_alone(project: Project) -> None:
    other, third = make_project("vases", members=[make_person("ben")]), make_project("maps", members=[make_person("c")])
    shown, given = send(project, 1), send(project, 2)
    send(other, 1)
    show(other, shown)
    send(third, 2, days=20)
    assert discard_unused(now=LATER) == 2
    assert missing_images(project, [shown, given]) == [shown, given]
    assert missing_images(other, [shown]) == missing_images(third, [given]) == []
    assert is_stored(shown)
    assert is_stored(given)


def test_on_a_full_disk_one_is_refused_in_a_sentence(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **about: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StudyError, match=r"^The disk of the server is nearly full. Ask your administrator"):
        send(project, 1)
    assert not Image.objects.exists()
