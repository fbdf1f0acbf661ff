"""The page that makes a link for each name."""

import re
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from pytest_django import Settings

from annotation.models import Annotator, Session
from studies.models import Study
from tests.factories import create_draft, launch_study, make_member
from tests.pages import signed_in, words_of
from tests.people import opened

pytestmark = pytest.mark.django_db
PAGE = "/studies/vases/best-vase/personal-links/"


def make(study: Study, names: str) -> Any:
    return signed_in(make_member(study.project, "editor")).post(PAGE, {"names": names})


def test_each_name_has_a_link_to_a_session_of_its_own_and_nothing_is_kept(settings: Settings) -> None:
    settings.SITE_URL = "https://lineup.example.org"
    page = make(launch_study(answers=2), "Anna\n\n José Ñandú \nAnna").content.decode()
    links = [unescape(link) for link in re.findall(r'id="link-\d+" readonly value="(.*?)"', page)]
    assert not Annotator.objects.exists()
    for link in links:
        assert link.startswith("https://lineup.example.org/take/")
        address = urlsplit(link)
        assert Client().post(f"{address.path}?{address.query}").status_code == 303
    assert list(opened(Session.objects.order_by("pk").values_list("annotator__sealed_id", flat=True))) == [
        "name:Anna",
        "name:José Ñandú",
    ]
    assert f">\nAnna: {links[0]}\nJosé Ñandú: {links[1]}\n</textarea>" in unescape(page)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (" \n", "Write at least one name."),
        ("Anna\n\u202eneB", "cannot be used as the name of a link"),
        ("\u202ea\n" * 12, "The same holds for 2 more."),
    ],
)
def test_what_is_refused_is_said_and_what_was_written_stays(names: str, sentence: str) -> None:
    refused = make(launch_study(), names)
    assert refused.status_code == 409
    assert sentence in words_of(refused)
    assert f">\n{names}</textarea>" in refused.content.decode()
    assert "/take/" not in refused.content.decode()


def test_a_study_that_lets_nobody_in_by_invitation_has_no_such_form() -> None:
    study = create_draft(recruitment={"invite": False})
    editor = signed_in(make_member(study.project, "editor"))
    assert "personal-links" not in editor.get("/studies/vases/best-vase/recruit/").content.decode()
    assert editor.get(PAGE)["Location"] == "/studies/vases/best-vase/recruit/"
    assert "has no invite links" in words_of(editor.post(PAGE, {"names": "Anna"}, follow=True))


def test_a_study_of_a_version_without_keys_has_none() -> None:
    study = launch_study()
    Study.objects.update(order_secret="")
    refused = make(study, "Anna")
    assert refused.status_code == 409
    assert "it cannot have personal links" in words_of(refused)
