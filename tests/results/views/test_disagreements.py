from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotation.models import Decision, Session, Skip
from background.models import Job
from results.actions import cached_statistics
from results.models import Pseudonym
from results.queries.instances.disagreements import filtered_decisions
from studies.models import Instance, Membership, Question, Study
from tests.factories import NOON, make_project
from tests.jobs import run_now
from tests.pages import words_of
from tests.people import digest_of
from tests.plans import rows_read
from tests.results.describing import find, launched, make_set, two_studies, write
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
    return [line.key for line in client.get(LIST, {"show": shown}).context["lines"]]


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
    asked = client.get(LIST).context["asked"]
    ann, ben = (Pseudonym.objects.get(annotator__id_digest=digest_of(person)).name for person in ("ann", "ben"))
    assert [(option.key, list(option.chosen_by)) for option in asked.options] == [
        ("candidate-0", []),
        ("candidate-1", [ann]),
        ("candidate-2", [ben]),
        ("candidate-3", []),
        ("none", []),
    ]


@pytest.mark.usefixtures("study")
def test_options_are_named_after_the_keys_that_choose_them(client: Client) -> None:
    page = words_of(client.get(LIST))
    for digit, name in enumerate(["candidate-0", "candidate-1", "candidate-2", "candidate-3"], start=1):
        assert f'value="{name}" required data-digit="{digit}"> <strong title="{name}">Image {digit}</strong>' in page
    assert page.count("data-chooses> <img") == 4
    assert '<strong title="none">None of these</strong> <kbd aria-hidden="true">0</kbd>' in page


@pytest.mark.usefixtures("describing")
def test_the_tenth_of_ten_images_is_named_once_after_its_place(client: Client, researcher: User) -> None:
    """Its key is 0. The studies ask about set "static-a": one text about it is described and then looked for."""
    tell, search = two_studies("static-a")
    Membership.objects.create(project=tell.project, user=researcher, role="owner")
    write(tell, "ann", {"static-a one": "It is red."})
    find(search, "ben", {"It is red.": 10})
    asked = Question.objects.get(study=search)
    page = words_of(client.get("/studies/sets/find/disagreements/", {"question": asked.pk}))
    for number in range(1, 10):
        assert f'>Image {number}</strong> <kbd aria-hidden="true">{number}</kbd>' in page
    assert '>Image 10</strong> <kbd aria-hidden="true">0</kbd>' in page
    assert "Image 0" not in page
    assert "(image_" not in page


@pytest.mark.usefixtures("describing")
def test_texts_say_where_they_are_decided_instead(client: Client, researcher: User) -> None:
    project = make_project("sets")
    Membership.objects.create(project=project, user=researcher, role="owner")
    make_set(project, "static-a")
    tell = launched(project, study="tell", kind="tell", purpose="filter", rule="described-v1", answers=1)
    launched(project, study="find", kind="retrieve", purpose="filter", instances="{from: tell}", answers=1)
    write(tell, "ann", {"static-a one": "It is red."})
    page = words_of(client.get("/studies/sets/tell/disagreements/"))
    assert 'decided in <a href="/studies/sets/find/disagreements/">find</a>, which asks other people about it.' in page
    assert "You cannot settle this question here." in page
    assert "data-settle" not in page


def test_a_researcher_settles_a_question(client: Client, study: Study, researcher: User) -> None:
    response = settle(client, "vase-1")
    assert response["Location"] == f"{LIST}?show=conflicting&question={question('vase-2').pk}"
    decision = Decision.objects.get(question=question("vase-1"))
    assert (decision.state, decision.winner) == ("accepted", "candidate-1")
    assert (decision.settled_by, decision.settled_note) == (researcher, "Clear.")
    assert listed(client) == ["vase-2"]
    assert listed(client, "settled") == ["vase-1"]
    assert listed(client, "disagree") == ["vase-1", "vase-2"]
    page = words_of(client.get(LIST, {"show": "settled"}))
    assert "Settled as <strong>Image 2</strong> by researcher" in page
    assert "<q>Clear.</q>" in page


def test_nobody_has_to_settle_in_a_study_that_accepts_nothing(client: Client, study: Study) -> None:
    nobody_has_to = "Settling is optional here"
    assert nobody_has_to not in words_of(client.get(LIST))
    file = CAPTIONS | {"answers": 2, "instances": {"keys": ["vase-0"]}, "purpose": "baseline"}
    captions = open_study(study.project, file)
    sit_through(captions, "eve", "caption")
    sit_through(captions, "fay", "negative_caption")
    assert nobody_has_to in words_of(client.get("/studies/vases/captions/disagreements/"))


def test_whoever_settles_is_not_told_which_answer_is_right(client: Client, study: Study) -> None:
    captions = open_study(study.project, CAPTIONS | {"answers": 2, "instances": {"keys": ["vase-0"]}})
    sit_through(captions, "eve", "caption")
    sit_through(captions, "fay", "negative_caption")
    page = "/studies/vases/captions/disagreements/"
    right = '<span class="badge">right</span>'
    assert right not in client.get(page).content.decode()
    asked = client.get(page).context["asked"]
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
        ("vase-1", "", "My reason", "Choose an option to settle the question."),
        ("vase-1", "candidate-9", "My reason", "candidate-9 is not an option of this question."),
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
    assert note in page
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
    # Who asks takes three, study and names to give one each; then two counts, who is simulated, two types and that
    # there are no more, the list and its page, and the question with responses and names.
    with django_assert_num_queries(24):
        client.get(LIST)
    go_on(study.sessions.get(annotator__id_digest=digest_of("ben")), "candidate-0")
    client.get(LIST)
    assert listed(client) == ["vase-1", "vase-2", "vase-3"]
    with django_assert_num_queries(24):
        client.get(LIST)


def shown(client: Client, **query: object) -> str | None:
    """Return the key of the instance whose question is shown."""
    asked = client.get(LIST, {name: str(value) for name, value in query.items()}).context["asked"]
    return asked.question.instance.key if asked else None


@pytest.mark.usefixtures("study")
def test_one_question_is_shown_at_a_time_with_its_neighbours(client: Client) -> None:
    assert [shown(client), shown(client, question=question("vase-2").pk)] == ["vase-1", "vase-2"]
    first, last = (client.get(LIST, {"question": str(question(key).pk)}).context for key in ("vase-1", "vase-2"))
    assert (first["previous"], first["next"]) == (None, f"{LIST}?show=conflicting&question={question('vase-2').pk}")
    assert (last["previous"], last["next"]) == (f"{LIST}?show=conflicting&question={question('vase-1').pk}", None)


@pytest.mark.usefixtures("study")
def test_a_list_of_many_pages_opens_the_one_with_the_question(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("results.views.disagreements.PER_PAGE", 1)
    assert listed(client) == ["vase-1"]
    page = client.get(LIST, {"question": str(question("vase-2").pk)}).context
    assert ([line.key for line in page["lines"]], page["page"].number) == (["vase-2"], 2)
    assert [shown(client, page=number) for number in (1, 2, 99, "x")] == ["vase-1", "vase-2", "vase-2", "vase-1"]


@pytest.mark.usefixtures("study")
def test_the_list_is_filtered_by_type_and_words(client: Client) -> None:
    """The first two of four vases are replace/obj, the others swap/att; their captions are "A map, vase-2."."""
    assert (shown(client, type="swap"), shown(client, words="SE-2")) == ("vase-2", "vase-2")
    assert (shown(client, words="a MAP, vase-2"), shown(client, words="a hat")) == ("vase-2", None)
    assert shown(client, type="swap", words="vase-1") is None
    assert client.get(LIST).context["types"] == ["replace", "swap"]
    assert "No question matches." in client.get(LIST, {"words": "hat"}).content.decode()
    # An address from when only keys were searched.
    assert shown(client, key="SE-2") == "vase-2"
    # What was settled leads to the next one of the same list.
    answered = settle(client, "vase-1", type="replace", order="divided")
    assert answered["Location"] == f"{LIST}?show=conflicting&type=replace&order=divided"


def test_the_most_divided_come_first(client: Client, study: Study) -> None:
    """Of three answers, vase-2 gets three different ones, and vase-1 two alike."""
    Decision.objects.filter(question=question("vase-1")).update(votes={"candidate-1": 2, "candidate-2": 1}, answers=3)
    Decision.objects.filter(question=question("vase-2")).update(
        votes={"candidate-1": 1, "candidate-3": 1, "none": 1}, answers=3
    )
    page = client.get(LIST, {"order": "divided"}).context
    assert [(line.key, line.votes) for line in page["lines"]] == [("vase-2", "1 : 1 : 1"), ("vase-1", "2 : 1")]
    assert listed(client) == ["vase-1", "vase-2"]
    assert study.questions.count() == 4


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize("order", ["time", "skips"])
def test_the_slowest_or_most_skipped_come_first(client: Client, order: str) -> None:
    slow = question("vase-2")
    slow.responses.update(send_ms=9000)
    session = Session.objects.all()[0]
    about = {"study": slow.study, "session": session, "annotator": session.annotator, "at": NOON}
    Skip.objects.create(question=slow, images=[], file_missing=False, **about)
    assert [line.key for line in client.get(LIST, {"order": order}).context["lines"]] == ["vase-2", "vase-1"]


@pytest.mark.usefixtures("study")
def test_what_was_settled_can_be_undone_from_the_next_question(client: Client) -> None:
    answered = settle(client, "vase-1")
    page = unescape(client.get(answered["Location"]).content.decode())
    way_back = f"{LIST}?show=settled&question={question('vase-1').pk}"
    assert f'settled as Image 2. <a href="{way_back}">Undo</a>' in page
    assert f"{question('vase-1').pk}/unsettle/" in client.get(way_back).content.decode()


@pytest.mark.usefixtures("study")
def test_what_somebody_else_has_settled_meanwhile_stays_and_the_note_is_shown(client: Client) -> None:
    settle(client, "vase-1")
    response = settle(client, "vase-1", choice="candidate-2", note="I see it otherwise.")
    page = response.content.decode()
    assert response.status_code == 409
    assert "researcher has already settled this question as Image 2." in page
    assert "Your note was not saved: <q>I see it otherwise.</q>" in page
    decision = Decision.objects.get(question=question("vase-1"))
    assert (decision.settled_choice, decision.settled_note) == ("candidate-1", "Clear.")


@pytest.mark.usefixtures("study")
def test_settled_questions_are_passed_over_and_the_last_one_is_said(client: Client) -> None:
    settle(client, "vase-2")
    answered = client.post(
        f"{LIST}{question('vase-1').pk}/settle/", {"choice": "none", "show": "disagree"}, follow=True
    )
    assert "It was the last unsettled question of the list." in answered.content.decode()


@pytest.mark.usefixtures("study")
def test_a_question_that_left_the_list_is_shown_with_a_notice(client: Client) -> None:
    settle(client, "vase-1")
    page = client.get(LIST, {"question": str(question("vase-1").pk)})
    assert page.context["asked"].question.instance.key == "vase-1"
    assert "This question is not in the list" in page.content.decode()
    assert page.context["next"] == f"{LIST}?show=conflicting&question={question('vase-2').pk}"
    # What is no question of the study is as if it had not been asked for.
    assert [shown(client, question=number) for number in (9999, 10**30, "٣x", -1)] == ["vase-2"] * 4
    assert "This study has no such question." in client.get(LIST, {"question": "9" * 5000}).content.decode()


def test_a_large_study_compares_its_answers_in_the_background(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[Job] = []
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 0)
    monkeypatch.setattr("results.views.cached_statistics.send", jobs.append)
    page = client.get(LIST, {"show": "disagree"})
    assert "The answers are still being compared." in page.content.decode()
    assert listed(client) == ["vase-1", "vase-2"], "conflicting questions need no comparison"
    run_now(jobs[0])
    assert listed(client, "disagree") == ["vase-1", "vase-2"]
    assert [count for _, _, count, _ in client.get(LIST).context["filters"]] == [2, 2, 0]
    assert study.questions.count() == 4


@pytest.mark.parametrize("order", ["", "divided", "time"])
def test_of_many_questions_the_first_are_listed(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    for module in ("queries.instances.disagreements", "views.disagreements"):
        monkeypatch.setattr(f"results.{module}.MOST_LISTED", 1)
    question("vase-1").responses.update(send_ms=9000)
    for show in ("conflicting", "disagree"):
        response = client.get(LIST, {"show": show, "order": order})
        assert [line.key for line in response.context["lines"]] == ["vase-1"]
        page = words_of(response)
        assert "These are the first 1. Filter them to find others." in page
        assert "1 of more than 1" in page
        assert page.count('title="more than 1">1+</span>') == 2
        assert [count for _, _, count, _ in response.context["filters"]] == [1, 1, 0]
    assert [line.key for line in client.get(LIST, {"words": "vase-2", "order": order}).context["lines"]] == ["vase-2"]
    assert "These are the first" not in words_of(client.get(LIST, {"type": "swap"}))
    later = words_of(client.get(LIST, {"question": str(question("vase-2").pk)}))
    assert "is not in the list: it comes after the first 1, or its outcome or the filters have changed." in later
    # Counted to its end in the background.
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 0)
    monkeypatch.setattr("results.views.cached_statistics.send", run_now)
    client.get(LIST)
    assert [count for _, _, count, _ in client.get(LIST).context["filters"]] == [1, 2, 0]
    assert study.questions.count() == 4


@pytest.mark.usefixtures("study")
def test_types_are_offered_however_many_there_are(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, type in enumerate(["swap", "", "Add", "replace"]):
        Instance.objects.filter(key=f"vase-{number}").update(type=type)
    assert client.get(LIST).context["types"] == ["Add", "replace", "swap"]
    monkeypatch.setattr("results.queries.instances.instance_list.MOST_LOOKED_UP", 2)
    assert client.get(LIST).context["types"] == ["Add", "replace", "swap"]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite does not say how many rows it reads.")
def test_counting_settled_questions_reads_no_others(study: Study, client: Client) -> None:
    settle(client, "vase-1")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    settled = filtered_decisions(study, "settled").order_by()
    assert "settled_questions_of_a_study" in settled.explain()
    assert rows_read(settled.count)["annotation_decision"] == 1


@pytest.mark.usefixtures("study")
def test_closing_says_first_how_many_questions_conflict_and_they_can_be_settled_later(client: Client) -> None:
    page = words_of(client.get("/studies/vases/step-3/close/"))
    link = f'<a href="{LIST}">2 conflicting questions</a>'
    assert f"{link} are still unsettled. You can settle them now, or after the study is closed." in page
    client.post("/studies/vases/step-3/close/")
    settle(client, "vase-1", choice="candidate-1")
    assert question("vase-1").decision.settled_choice == "candidate-1"


def test_closing_without_conflicts_says_nothing_of_them(client: Client, study: Study) -> None:
    settle(client, "vase-1", choice="candidate-1")
    settle(client, "vase-2", choice="candidate-3")
    assert "conflicting" not in words_of(client.get("/studies/vases/step-3/close/"))
