from html import unescape

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Session, Skip
from results.actions import cached_statistics
from results.models import KeptNumbers
from results.queries.exports.soft_labels import soft_labels
from results.queries.people.answer_times import times_by_session
from results.queries.quality.session_records import sent_records
from studies.models import Check, Question, Study
from tests.annotation.checking.test_checks_of_seats import answer_all
from tests.checking import CHECKS
from tests.factories import NOON, arrive_at_work, launch_study
from tests.pages import words_of
from tests.people import digest_of
from tests.removing import exclude
from tests.results.pipelines import STEP_3, by_key, go_on, open_study, project_of, sit_through

PAGE = "/studies/vases/step-3/questions/"


@pytest.fixture
def study(researcher: User) -> Study:
    """Three answers a question: vase-0 gets three different ones, vase-1 a tie of one and two, vase-2 three alike,
    vase-3 one. Two sessions skipped vase-3, one vase-1."""
    study = open_study(project_of(researcher), STEP_3 | {"answers": 3})
    said = [("ann", "candidate-0", "none", "none"), ("ben", "candidate-1", "none", ""), ("cleo", "none", "", "")]
    for person, first, second, last in said:
        choices = {"vase_1": second or "candidate-0", "vase_2": "candidate-3", "vase_3": last}
        sit_through(study, person, by_key(vase_0=first, **choices))
    for person, key in (("ben", "vase-3"), ("cleo", "vase-3"), ("cleo", "vase-1")):
        skip(Session.objects.get(annotator__id_digest=digest_of(person)), key)
    return study


def skip(session: Session, key: str) -> None:
    about = {"study": session.study, "session": session, "annotator": session.annotator, "at": NOON}
    Skip.objects.create(question=Question.objects.get(instance__key=key), images=[], file_missing=False, **about)


def listed(client: Client, sort: str = "") -> list[str]:
    found = client.get(PAGE, {"sort": sort}).context["questions"].object_list
    return [line.asked.question.instance.key for line in found]


@pytest.mark.usefixtures("study")
def test_questions_have_their_numbers_and_are_sorted_by_each(client: Client) -> None:
    lines = client.get(PAGE).context["questions"].object_list
    # Of three pairs of answers none, one and all are equal; of a single answer there is no pair. Each took 4.2 s.
    assert [(line.asked.question.instance.key, line.agreement, line.seconds, line.skips) for line in lines] == [
        ("vase-0", 0.0, 4.2, 0),
        ("vase-1", pytest.approx(1 / 3), 4.2, 1),
        ("vase-2", 1.0, 4.2, 0),
        ("vase-3", None, 4.2, 2),
    ]
    assert listed(client, "disagreement") == ["vase-0", "vase-1", "vase-2"]
    assert listed(client, "skips") == ["vase-3", "vase-1"]
    assert listed(client, "nonsense") == listed(client)
    # By GLAD, of three answers: all different, a tie of two to one, all alike. vase-3 has one answer, and none.
    assert listed(client, "difficulty") == ["vase-0", "vase-1", "vase-2"]
    hard, _, easy = client.get(PAGE, {"sort": "difficulty"}).context["questions"].object_list
    assert hard.difficulty > easy.difficulty > 0
    assert f"difficulty {hard.difficulty:.2f}" in words_of(client.get(PAGE, {"sort": "difficulty"}))
    assert hard.difficulty == soft_labels(hard.asked.question.study)[hard.asked.question.pk].difficulty
    slow = Question.objects.get(instance__key="vase-2")
    slow.responses.update(send_ms=9000)
    assert listed(client, "time")[0] == "vase-2"
    # Options have the name that they have among the disagreements; the stored key is a tooltip.
    text = client.get(PAGE).content.decode()
    assert '<strong title="candidate-0">Image 1</strong>' in text
    assert "candidate-0 of" not in text
    exclude(slow.study.project, "ben")
    # Without ben two answers about vase-0 and vase-1 differ.
    assert listed(client, "disagreement") == ["vase-0", "vase-1", "vase-2"]
    assert client.get(PAGE).context["questions"].object_list[1].agreement == 0


@pytest.mark.usefixtures("study")
def test_a_question_is_taken_out_from_the_list_and_leads_back_to_it(client: Client) -> None:
    asked = Question.objects.get(instance__key="vase-1")
    address = f"{PAGE}{asked.pk}/?from=questions&sort=skips&page=1"
    assert address in unescape(client.get(PAGE, {"sort": "skips"}).content.decode())
    back = f"{PAGE}?sort=skips&page=1#question-{asked.pk}"
    assert back in unescape(client.get(address).content.decode())
    assert client.post(address, {"reason": "It shows a cup."})["Location"] == back
    assert listed(client, "disagreement") == ["vase-0", "vase-2"]
    assert "taken out" in words_of(client.get(PAGE))


@pytest.mark.usefixtures("study")
def test_orders_of_many_answers_are_computed_in_the_background(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 1)
    asked: list[object] = []
    monkeypatch.setattr("results.views.cached_statistics.send", asked.append)
    assert listed(client, "skips") == []
    assert "computed in the background" in words_of(client.get(PAGE, {"sort": "skips"}))
    assert len(listed(client)) == 4
    # For these, and for the frame of the page.
    assert len(asked) == 2


@pytest.mark.usefixtures("study")
def test_difficulties_that_were_computed_before_are_shown(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = client.get(PAGE, {"sort": "difficulty"}).context["questions"].object_list
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 1)
    monkeypatch.setattr("results.views.cached_statistics.send", lambda job: None)
    assert listed(client, "difficulty") == []
    cached_statistics.make(kept=KeptNumbers.objects.get(page=KeptNumbers.Page.STUDY_QUESTIONS), now=NOON)
    stored = client.get(PAGE, {"sort": "difficulty"}).context["questions"].object_list
    assert [line.difficulty for line in stored] == [line.difficulty for line in at_once]


@pytest.mark.parametrize("sort", ["", "disagreement", "difficulty", "time", "skips"])
def test_more_questions_take_no_more_queries(client: Client, researcher: User, sort: str) -> None:
    study = open_study(project_of(researcher), STEP_3 | {"answers": 3})
    session = sit_through(study, "ann", by_key(vase_0="none"))
    sit_through(study, "ben", by_key(vase_0="candidate-0"))
    sit_through(study, "cleo", by_key(vase_0="candidate-0"))
    skip(session, "vase-0")
    listed(client, sort)
    with CaptureQueriesContext(connection) as few:
        assert listed(client, sort)
    go_on(session, "none")
    skip(session, "vase-2")
    with CaptureQueriesContext(connection) as many:
        assert listed(client, sort)
    assert len(many) == len(few)


@pytest.mark.usefixtures("study")
def test_the_first_questions_have_pages_and_others_are_found_by_their_instances(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("results.queries.studies.questions", "results.views.questions"):
        monkeypatch.setattr(f"{module}.MOST_LISTED", 2)
    assert listed(client) == ["vase-0", "vase-1"]
    text = words_of(client.get(PAGE))
    assert "The first 2 questions" in text
    assert "This page lists no more questions." in text
    assert len(listed(client, "disagreement")) == 2


def test_checks_are_listed_with_the_one_that_most_people_fail_first(client: Client, researcher: User) -> None:
    """Ann follows the checks that Ben fails. Two gold questions stand in their survey, and two in none."""
    project = project_of(researcher, instances=34)
    study = launch_study(project, study="checked", answers=2, checks=CHECKS)
    answer_all(arrive_at_work(study, "ann"))
    ben = arrive_at_work(study, "ben")
    answer_all(ben, key="candidate-0", follow=False)
    gold, instruction = Check.GOLD.label, Check.INSTRUCTION.label
    # Wilson's interval of 1 of 2 is 0.095 to 0.905.
    assert checks_on(client) == [
        (gold, "1 of 2", "9.5–90.5", "Image 1 (1)"),
        (gold, "1 of 2", "9.5–90.5", "Image 1 (1)"),
        (instruction, "1 of 2", "9.5–90.5", "Image 1 (1)"),
        (instruction, "1 of 2", "9.5–90.5", "Image 1 (1)"),
        (gold, "0 of 0", "", ""),
        (gold, "0 of 0", "", ""),
    ]
    exclude(project, "ben")
    # That of 1 of 1 is 0.207 to 1.
    assert checks_on(client)[0] == (gold, "1 of 1", "20.7–100.0", "")


def test_answers_have_the_numbers_in_the_chart_of_times_that_the_evidence_of_flags_says(researcher: User) -> None:
    study = launch_study(project_of(researcher, instances=34), study="checked", answers=2, checks=CHECKS)
    session = arrive_at_work(study, "ann")
    answer_all(session)
    sent, _ = sent_records(study)
    numbers = [each.answer.number for each in sent if not each.answer.check]
    assert (len(sent), len(numbers)) == (36, 30)
    assert [each.number for each in times_by_session([session.pk])[session.pk].answers] == numbers


def checks_on(client: Client) -> list[tuple[str, ...]]:
    """Return type, number passed, interval and wrong answer of each check, as its page shows them."""
    page = BeautifulSoup(client.get("/studies/vases/checked/checks/").content, "html.parser")
    names = ("Check", "Passed", "95 % CI (%)", "Most frequent wrong answer")
    return [
        tuple(row.select_one(f'td[data-title="{name}"]').get_text() for name in names)  # type: ignore[union-attr]
        for row in page.select("tbody tr")
    ]


@pytest.mark.usefixtures("study")
def test_a_study_without_checks_says_so(client: Client) -> None:
    assert "The design of this study asks for no checks." in words_of(client.get("/studies/vases/step-3/checks/"))
    assert ">Checks</a>" not in client.get(PAGE).content.decode()
