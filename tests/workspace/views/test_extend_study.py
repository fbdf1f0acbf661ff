"""The page that asks more of a launched study says what would follow before it is done."""

import pytest
from django.test import Client

from annotation.models import Seat
from studies.design.model import BlindSolvability, LaunchConditions
from studies.models import Study
from tests.annotation.test_pipeline import answer_all
from tests.checking import CHECKS
from tests.factories import arrive_at_work, launch_study, make_instance

pytestmark = pytest.mark.django_db

ADDRESS = "/studies/vases/best-vase/more/"


@pytest.fixture
def study() -> Study:
    study = launch_study(instances=4, rule="majority-v1", pay={"per_session": "8.00", "per_answer": "0.05"})
    answer_all(arrive_at_work(study, "ann"), "candidate-0")
    return study


def text(page: str) -> str:
    return " ".join(page.split())


def test_what_would_follow_is_told_and_nothing_is_done(editor: Client, study: Study) -> None:
    shown = text(editor.get(ADDRESS, {"what": "answers", "number": "2"}).content.decode())
    assert "<dt>New places</dt><dd>2</dd>" in shown
    assert "<dt>More answers</dt><dd>8</dd>" in shown
    # 2 x 8.00 and 8 x 0.05.
    assert "USD 16.40" in shown
    assert "4 questions are decided now and will be open again until the new answers are in" in shown
    assert Seat.objects.count() == 1
    assert Study.objects.get().answers == 1


def test_the_cost_of_more_answers_includes_the_pay_of_their_checks(editor: Client, study: Study) -> None:
    pay = {"per_session": "8.00", "per_answer": "0.05"}
    launch_study(study.project, study="checked", instances=34, pay=pay, checks=CHECKS)
    make_instance(study.project, "came-later")
    address = "/studies/vases/checked/more/"
    # 8.00, and 0.05 for each of 30 answers and 6 checks.
    assert "USD 9.80" in text(editor.get(address, {"what": "answers", "number": "1"}).content.decode())
    # A survey of one question has no checks.
    assert "USD 8.05" in text(editor.get(address, {"what": "instances"}).content.decode())


def test_it_is_done_when_it_is_confirmed(editor: Client) -> None:
    assert '<input type="hidden" name="beyond" value="1">' in text(
        editor.get(ADDRESS, {"what": "answers", "number": "2"}).content.decode()
    )
    assert editor.post(ADDRESS, {"what": "answers", "number": "2", "beyond": "1"}).status_code == 302
    assert (Seat.objects.count(), Study.objects.get().answers) == (3, 3)
    assert editor.post(ADDRESS, {"what": "undecided", "number": "5"}).status_code == 302
    assert Study.objects.get().most_answers == 5


def test_what_is_sent_twice_is_done_once(editor: Client) -> None:
    """By a second click, or because the first reply was lost: nobody pays for twice as many answers."""
    sent = {"what": "answers", "number": "2", "beyond": "1"}
    editor.post(ADDRESS, sent)
    again = editor.post(ADDRESS, sent)
    assert again.status_code == 409
    assert "each question now gets 3 answers, not 1" in text(again.content.decode())
    assert (Seat.objects.count(), Study.objects.get().answers) == (3, 3)


def test_which_condition_new_instances_are_not_held_against_is_told_before(editor: Client, study: Study) -> None:
    make_instance(study.project, "came-later")
    shown = text(editor.get(ADDRESS, {"what": "instances"}).content.decode())
    assert "<dt>New questions</dt><dd>1</dd>" in shown
    assert "on the condition" not in shown
    blind = BlindSolvability(baselines=("text-only:ngrams",), at_most=0.6)
    study.design = study.design.model_copy(update={"conditions": LaunchConditions(blind_solvability=blind)})
    study.save()
    shown = text(editor.get(ADDRESS, {"what": "instances"}).content.decode())
    assert "see only a part of each question (text-only:ngrams) are right on at most 60.0 %" in shown
    assert "on the condition" not in text(editor.get(ADDRESS, {"what": "answers", "number": "1"}).content.decode())


def test_new_instances_are_taken_up(editor: Client, study: Study) -> None:
    assert "asks about every instance" in editor.get(ADDRESS, {"what": "instances"}).content.decode()
    make_instance(study.project, "came-later")
    assert "<dt>New questions</dt><dd>1</dd>" in text(editor.get(ADDRESS, {"what": "instances"}).content.decode())
    editor.post(ADDRESS, {"what": "instances"})
    assert study.questions.count() == 5


@pytest.mark.parametrize("typed", ["", "0", "-1", "two", "1000", "\u0661"])
def test_a_number_that_makes_no_sense_is_refused_beside_its_field(editor: Client, typed: str) -> None:
    refused = editor.post(ADDRESS, {"what": "answers", "number": typed})
    assert refused.status_code == 409
    assert 'aria-describedby="problem-answers"' in refused.content.decode()
    assert Study.objects.get().answers == 1


def test_what_follows_once_all_answers_are_in_can_be_set(editor: Client) -> None:
    editor.post("/studies/vases/best-vase/completion/", {"closes": "on"})
    study = Study.objects.get()
    assert (study.closes_itself, study.mails_when_complete) == (True, False)


def test_nothing_more_is_asked_of_a_study_that_is_closed(editor: Client) -> None:
    editor.post("/studies/vases/best-vase/close/")
    assert editor.get(ADDRESS).status_code == 302
    editor.post("/studies/vases/best-vase/completion/", {"closes": "on"})
    assert not Study.objects.get().closes_itself
