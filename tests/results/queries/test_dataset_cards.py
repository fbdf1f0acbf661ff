"""Dataset cards, from the rows of studies."""

import pytest

from annotation.actions.launching.consent_versions import amend_consent
from results.exporting.dataset_card import About
from results.queries.exports.dataset_cards import studies_card
from tests.factories import NOON, TESTS, arrive_at_work, launch_study, make_launched, make_project, make_study

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        (
            {"consent": "Agree?", "ethics": "Board of Vases, no. 2026/14"},
            " Ethics approval: Board of Vases, no. 2026/14",
        ),
        ({}, ""),
    ],
)
def test_the_card_names_the_ethics_approval_of_a_study(entries: dict[str, str], told: str) -> None:
    study = make_study(make_project(), **entries)
    make_launched(study)
    dossier = studies_card([study], About(release="v1"))
    (protocol,) = [line for line in dossier.protocol if line.startswith(f"Study {study.slug} ")]
    assert protocol.endswith(f" for an estimated 40 minutes.{told}")
    assert "estimated 40 minutes." in dossier.body
    assert told.strip() in dossier.body


def test_the_card_says_how_many_sessions_agreed_to_each_consent_text() -> None:
    study = launch_study(consent="Agree?", answers=3)
    for person in ("ann", "ben"):
        arrive_at_work(study, person)
    amend_consent(study=study, text="Agree until 2030?", reason="Amendment 2", ask_again=False, by=TESTS, now=NOON)
    arrive_at_work(study, "cem")
    protocol = " ".join(studies_card([study], About(release="v1")).protocol)
    assert " Consent text: version 1, 2 sessions agreed; version 2, 1 session agreed." in protocol
