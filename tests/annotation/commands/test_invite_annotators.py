"""The command that prints a link for each named annotator."""

import io
from urllib.parse import urlsplit

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from annotation.models import Session
from tests.factories import create_draft, launch_study
from tests.people import opened

pytestmark = pytest.mark.django_db


def invite(*names: str) -> str:
    out = io.StringIO()
    call_command("invite_annotators", "best-vase", *names, stdout=out)
    return out.getvalue()


def test_every_name_gets_a_link_that_leads_to_one_session_on_any_device(settings: Settings) -> None:
    settings.SITE_URL = "https://lineup.example.org"
    launch_study(answers=3)
    said = dict(line.split(": ", 1) for line in invite("Anna", "José Ñandú").splitlines())
    assert list(said) == ["Anna", "José Ñandú"]
    for link in said.values():
        assert link.startswith("https://lineup.example.org/take/")
        address = urlsplit(link)
        first = Client().post(f"{address.path}?{address.query}")["Location"]
        # Also after a move to another machine.
        # As docs/operating.md says: the old key stays among those that find people.
        settings.ENCRYPTION_KEYS = [*settings.ENCRYPTION_KEYS, settings.SECRET_KEY]
        settings.SECRET_KEY += "another key"
        assert Client().post(f"{address.path}?{address.query}")["Location"] == first
    assert sorted(opened(Session.objects.values_list("annotator__sealed_id", flat=True))) == [
        "name:Anna",
        "name:José Ñandú",
    ]


def test_a_name_that_no_link_can_carry_is_refused_and_no_link_printed() -> None:
    launch_study()
    for name in ("", " ", "Anna\nBen", "Anna ", "A" * 101, "\u202eannA"):
        with pytest.raises(CommandError, match="cannot be used as the name of a link"):
            invite("Ben", name)


def test_a_study_that_lets_nobody_in_by_invitation_says_so() -> None:
    create_draft(recruitment={"invite": False})
    with pytest.raises(CommandError, match="has no invite links"):
        invite("Anna")
