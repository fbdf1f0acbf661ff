from datetime import timedelta

import pytest
from annotation.actions.withdrawing import withdraw
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import Annotator
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.tables.exported import count_rows, exported_rows
from studies.models import Study
from tests.factories import NOON, answer, questions, sit_down

pytestmark = pytest.mark.django_db


@pytest.fixture
def answered(study: Study) -> Study:
    for person in ("ann", "ben"):
        if person == "ann":
            session = sit_down(study, person)
            for question in questions(study)[:2]:
                answer(session, question, "candidate-1")
            session.state, session.ended_at = "given_up", NOON
            session.save()
            study.seats.update(session=None, claimed_at=None)
        else:
            session = sit_down(study, person)
            for question in questions(study)[2:]:
                answer(session, question, "none")
    name_annotators(project=study.project)
    return study


def test_after_withdrawing_nothing_of_theirs_is_exported(answered: Study) -> None:
    assert count_rows("responses", answered) == 4
    name = Pseudonym.objects.get(annotator__provider_id="ann").name
    call_command("withdraw", "birds", name)
    assert count_rows("responses", answered) == 2
    assert {row.worker for row in exported_rows("responses", answered)} == {
        Pseudonym.objects.get(annotator__provider_id="ben").name
    }


def test_withdrawing_twice_keeps_the_first_moment_and_starts_nothing_more(answered: Study) -> None:
    ann = Annotator.objects.get(provider_id="ann")
    withdraw(annotator=ann, now=NOON)
    withdraw(annotator=ann, now=NOON + timedelta(days=1))
    assert (ann.withdrawn_at, ann.blocked) == (NOON, True)


def test_what_a_study_has_accepted_stays(answered: Study) -> None:
    withdraw(annotator=Annotator.objects.get(provider_id="ann"), now=NOON)
    assert count_rows("instances", answered) == 2


def test_a_name_that_nobody_has_gets_a_sentence(answered: Study) -> None:
    with pytest.raises(CommandError, match="Nobody in birds is called A-00000"):
        call_command("withdraw", "birds", "A-00000")
