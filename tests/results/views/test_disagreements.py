from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotation.models import Decision
from results.models import Pseudonym
from studies.models import Instance, Question, Study
from tests.pages import words_of
from tests.results.pipelines import STEP_3, STEP_4, by_key, go_on, open_study, project_of, sit_through

CAPTIONS = {"study": "captions", "kind": "image_to_text", "ask": {"images": ["image"]}}
LIST = "/studies/vases/step-3/disagreements/"


@pytest.fixture
def study(researcher: User) -> Study:
    """Two answers a question: vase-0 is agreed on, vase-1 and vase-2 are split, vase-3 has a single answer."""
    study = open_study(project_of(researcher), STEP_3 | {"answers": 2})
    sit_through(study, "ann", by_key(vase_0="candidate-0", vase_1="candidate-1", vase_2="none", vase_3="none"))
    sit_through(study, "ben", by_key(vase_0="candidate-0", vase_1="candidate-2", vase_2="candidate-3"))
    return study


def question(key: str) -> Question:
    return Question.objects.get(instance__key=key, study__slug="step-3")


def listed(client: Client, shown: str = "") -> list[str]:
    found = client.get(LIST, {"show": shown}).context["questions"].object_list
    return [asked.question.instance.key for asked in found]


def settle(client: Client, key: str, **posted: str) -> Any:
    address = f"{LIST}{question(key).pk}/settle/"
    return client.post(address, {"choice": "candidate-1", "note": "Clear.", "show": "conflicting", **posted})


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize("shown", ["", "nonsense", "disagree"])
def test_what_has_all_its_answers_and_no_decision_comes_first(client: Client, shown: str) -> None:
    assert listed(client, shown) == ["vase-1", "vase-2"]
    assert listed(client, "settled") == []


@pytest.mark.usefixtures("study")
def test_a_question_about_an_instance_with_a_broken_key_has_a_link(client: Client) -> None:
    asked = question("vase-1")
    Instance.objects.filter(pk=asked.instance_id).update(key="vase\n1")
    assert f"/instances/by-id/{asked.instance_id}/#question-{asked.pk}" in client.get(LIST).content.decode()


@pytest.mark.usefixtures("study")
def test_answers_stand_side_by_side_with_who_gave_them(client: Client) -> None:
    asked = client.get(LIST).context["questions"].object_list[0]
    ann, ben = (Pseudonym.objects.get(annotator__provider_id=person).name for person in ("ann", "ben"))
    assert [(option.key, list(option.chosen_by)) for option in asked.options] == [
        ("candidate-0", []),
        ("candidate-1", [ann]),
        ("candidate-2", [ben]),
        ("candidate-3", []),
        ("none", []),
    ]


def test_a_researcher_settles_a_question(client: Client, study: Study, researcher: User) -> None:
    response = settle(client, "vase-1", page="1")
    assert response["Location"] == f"{LIST}?show=conflicting&page=1"
    decision = Decision.objects.get(question=question("vase-1"))
    assert (decision.state, decision.winner) == ("accepted", "candidate-1")
    assert (decision.settled_by, decision.settled_note) == (researcher, "Clear.")
    assert listed(client) == ["vase-2"]
    assert listed(client, "settled") == ["vase-1"]
    assert listed(client, "disagree") == ["vase-1", "vase-2"]
    page = words_of(client.get(LIST, {"show": "settled"}))
    assert "Settled with <strong>candidate-1</strong> by researcher" in page
    assert "<q>Clear.</q>" in page


def test_whoever_settles_is_not_told_which_answer_is_right(client: Client, study: Study) -> None:
    captions = open_study(study.project, CAPTIONS | {"answers": 2, "instances": {"keys": ["vase-0"]}})
    sit_through(captions, "eve", "caption")
    sit_through(captions, "fay", "negative_caption")
    page = "/studies/vases/captions/disagreements/"
    right = '<span class="badge">right</span>'
    assert right not in client.get(page).content.decode()
    asked = client.get(page).context["questions"].object_list[0]
    client.post(f"{page}{asked.question.pk}/settle/", {"choice": "caption", "note": "", "show": ""})
    assert right in client.get(page, {"show": "settled"}).content.decode()


def test_a_settlement_can_be_taken_back(client: Client, study: Study) -> None:
    settle(client, "vase-1")
    client.post(f"{LIST}{question('vase-1').pk}/unsettle/", {"show": "settled"})
    assert Decision.objects.get(question=question("vase-1")).state == "undecided"
    assert listed(client) == ["vase-1", "vase-2"]


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize(
    ("key", "choice", "note", "sentence"),
    [
        ("vase-1", "", "My reason", "Choose the option that the question is settled with."),
        ("vase-1", "candidate-9", "My reason", "candidate-9 is no option of this question."),
        ("vase-0", "candidate-1", "My reason", "The answers have already decided this question."),
        ("vase-1", "candidate-1", "x" * 2001, "The text has 2,001 characters; at most 2,000 fit."),
    ],
    ids=["no option", "another option", "decided", "long note"],
)
def test_what_cannot_be_settled_is_said_and_the_note_is_kept(
    client: Client, key: str, choice: str, note: str, sentence: str
) -> None:
    response = settle(client, key, choice=choice, note=note)
    page = response.content.decode()
    assert response.status_code == 409
    assert sentence in page
    assert (note in page) == (key == "vase-1")
    assert not Decision.objects.exclude(settled_choice="").exists()


def test_what_a_later_study_builds_on_stays(client: Client, study: Study) -> None:
    settle(client, "vase-1")
    sit_through(open_study(study.project, STEP_4), "dora", "original")
    response = client.post(f"{LIST}{question('vase-1').pk}/unsettle/")
    assert response.status_code == 409
    assert "The next study already asks about this instance" in response.content.decode()


def test_a_question_of_another_study_is_not_found(client: Client, study: Study) -> None:
    other = open_study(study.project, STEP_3 | {"study": "other"})
    for name in ("settle", "unsettle"):
        address = f"/studies/vases/other/disagreements/{question('vase-1').pk}/{name}/"
        assert client.post(address, {"choice": "none"}).status_code == 404
    assert other.decisions.count() == 4


def test_more_questions_take_no_more_queries(
    client: Client, study: Study, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.get(LIST)
    # Who asks takes three, study and names to give one each; then three counts, who is simulated, count, page, and the
    # questions with responses and names.
    with django_assert_num_queries(18):
        client.get(LIST)
    go_on(study.sessions.get(annotator__provider_id="ben"), "candidate-0")
    client.get(LIST)
    assert listed(client) == ["vase-1", "vase-2", "vase-3"]
    with django_assert_num_queries(18):
        client.get(LIST)
