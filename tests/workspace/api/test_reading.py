"""Lists a page at a time, what is unchanged, and what each answer says."""

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from annotation.models import Removal, Session
from background.models import Job
from results.actions import cached_statistics
from results.models import Pseudonym
from studies.actions.studies import change_state
from studies.models import Instance, Membership, Project, Study, StudyState, Tag
from tests.factories import (
    NOON,
    answer,
    arrive_at_work,
    create_draft,
    launch_study,
    make_instance,
    make_person,
    make_project,
    questions,
    sit_down,
)
from tests.jobs import run_now
from tests.workspace.api.asking import API, BIRDS, STUDY, Script, script_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def script(study: Study, researcher: User) -> Script:
    return script_of(researcher)


def test_a_list_goes_on_where_its_cursor_says_whatever_came_in_between(script: Script) -> None:
    vases = make_project("vases", members=list(User.objects.all()))
    made = [make_instance(vases, str(number), candidates=0) for number in range(4)]
    first = script.get(f"{API}projects/vases/instances/?limit=3").json()
    assert [row["key"] for row in first["results"]] == ["0", "1", "2"]
    make_instance(vases, "4", candidates=0)
    made[0].delete()
    second = script.get(first["next"]).json()
    assert ([row["key"] for row in second["results"]], second["next"]) == (["3", "4"], None)


def test_the_newest_come_first_where_that_is_what_one_looks_for(script: Script, study: Study) -> None:
    for state in (StudyState.PAUSED, StudyState.OPEN, StudyState.CLOSED):
        change_state(study=study, to=state, by="tests", now=NOON)
    first = script.get(f"{BIRDS}events/?limit=2").json()
    second = script.get(first["next"]).json()
    told = [(event["who"], event["what"]) for event in first["results"] + second["results"]]
    assert told == [
        ("The tests", "closed birds-step-3"),
        ("The tests", "resumed birds-step-3"),
        ("The tests", "paused birds-step-3"),
    ]


@pytest.mark.parametrize("query", ["cursor=x", "cursor=YWZ0ZXI6eA==", "cursor=YWZ0ZXI6LTE=", "limit=0", "limit=1001"])
def test_a_cursor_or_a_limit_that_is_none_is_refused_with_a_sentence(script: Script, query: str) -> None:
    refused = script.get(f"{BIRDS}instances/?{query}")
    assert (refused.status_code, refused["Content-Type"]) == (400, "application/problem+json")
    assert refused.json()["detail"].endswith(".")


def test_instances_are_found_by_what_they_are(script: Script) -> None:
    make_instance(Project.objects.get(), "vase", type="swap", split="train")

    def keys(query: str) -> list[str]:
        return [row["key"] for row in script.get(f"{BIRDS}instances/?{query}").json()["results"]]

    assert keys("type=swap") == ["vase"]
    assert keys("type=replace&subtype=rel&limit=2") == ["row-1", "row-2"]
    assert keys("split=train") == keys("key=vase") == ["vase"]
    assert keys("type=nothing") == []


def test_an_instance_says_its_tags_and_is_found_by_them(script: Script) -> None:
    project = Project.objects.get()
    rows = {key: Instance.objects.get(key=key) for key in ("row-1", "row-2")}
    for name, key in (("odd", "row-1"), ("look again", "row-1"), ("look again", "row-2")):
        Tag.objects.get_or_create(project=project, name=name)[0].instances.add(rows[key])
    found = script.get(f"{BIRDS}instances/?tag=look+again").json()["results"]
    assert [(row["key"], row["tags"]) for row in found] == [("row-1", ["look again", "odd"]), ("row-2", ["look again"])]
    assert script.get(f"{BIRDS}instances/?tag=none-such").json()["results"] == []


def test_an_instance_says_what_it_shows_and_not_what_is_right(script: Script) -> None:
    instance = Instance.objects.get(key="row-2")
    Instance.objects.update(reference={"right": "candidate-1"})
    told = script.get(f"{BIRDS}instances/{instance.pk}/").json()
    assert told["captions"] == {"caption": "A bird on 2 roofs.", "negative_caption": "A bird under 2 roofs."}
    assert [(use["role"], use["position"]) for use in told["images"]] == [
        *(("candidate", place) for place in range(4)),
        ("image", 0),
    ]
    assert "reference" not in told


@pytest.mark.parametrize("path", ["", "instances/", "studies/", "studies/birds-step-3/responses/"])
def test_what_is_unchanged_is_not_sent_again(script: Script, path: str) -> None:
    first = script.get(f"{BIRDS}{path}")
    assert first["Cache-Control"] == "private, no-cache"
    assert "Authorization" in first["Vary"]
    again = script.get(f"{BIRDS}{path}", If_None_Match=first["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    Project.objects.update(name="Robins")
    Study.objects.update(title="Which bird?")
    make_instance(Project.objects.get(), "row-5")
    other = script.get(f"{BIRDS}{path}", If_None_Match=first["ETag"]).status_code
    assert other == (304 if "responses" in path else 200)


def test_answers_are_those_that_count_under_the_columns_of_the_export(script: Script, study: Study) -> None:
    first, second, third, _ = questions(study)
    ann = sit_down(study, "65f000000000000000000abc")
    answer(ann, first, "candidate-1")
    answer(ann, first, "candidate-2", send_ms=3000)
    answer(ann, second, "none")
    excluded = answer(ann, third, "none")
    type(excluded).objects.filter(pk=excluded.pk).update(left_out="excluded")
    told = script.get(f"{STUDY}responses/").json()
    rows = [(row["key"], row["label"], row["version"], row["counted"], row["send_ms"]) for row in told["results"]]
    assert rows == [("row-1", "candidate-2", 2, True, 3000), ("row-2", "none", 1, True, None)]
    assert {row["worker"] for row in told["results"]} == {Pseudonym.objects.get().name}
    assert ann.annotator.provider_id not in script.get(f"{STUDY}responses/").content.decode()


def test_pages_of_answers_hold_each_once(script: Script, study: Study) -> None:
    ann = sit_down(study, "ann")
    for question in questions(study):
        answer(ann, question, "none")
    keys, address = [], f"{STUDY}responses/?limit=3"
    while address:
        page = script.get(address).json()
        keys += [row["key"] for row in page["results"]]
        address = page["next"]
    assert keys == ["row-1", "row-2", "row-3", "row-4"]


def test_sittings_name_people_by_pseudonyms_and_what_who_withdrew_wrote_is_not_told(
    script: Script, study: Study
) -> None:
    session = sit_down(study, "65f000000000000000000abc")
    Session.objects.update(comment="I liked it.")
    (told,) = script.get(f"{STUDY}sessions/").json()["results"]
    assert (told["worker"], told["state"], told["comment"]) == (Pseudonym.objects.get().name, "working", "I liked it.")
    Removal.objects.create(project=study.project, annotator=session.annotator, why=Removal.Why.WITHDRAWN, at=NOON)
    page = script.get(f"{STUDY}sessions/").content.decode()
    assert "I liked it." not in page
    assert "65f000000000000000000abc" not in page
    assert session.token not in page


def test_decisions_say_what_became_of_each_question(script: Script, study: Study) -> None:
    first, *_ = questions(study)
    answer(sit_down(study, "ann"), first, "candidate-1")
    told = script.get(f"{STUDY}decisions/").json()["results"]
    assert [(row["key"], row["winner"], row["answers"]) for row in told] == [
        ("row-1", "candidate-1", 1),
        *((f"row-{number}", "", 0) for number in (2, 3, 4)),
    ]


def test_progress_is_that_of_the_page(script: Script, study: Study) -> None:
    first, *_ = questions(study)
    answer(sit_down(study, "ann"), first, "candidate-1")
    told = script.get(f"{STUDY}progress/").json()
    assert (told["answers"], told["seats"]) == ({"given": 1, "wanted": 4}, {"free": 0, "taken": 1, "filled": 0})
    assert (told["questions"]["asked"], told["as_of"]) == (4, None)


def test_policies_are_told_with_their_standing_and_those_of_a_draft_are_none(script: Script, study: Study) -> None:
    assert script.get(f"{STUDY}policies/").json() == {"policies": []}
    policy = {"policy": "flagged", "flagged_above": 0.2, "sessions": 1}
    launch_study(study.project, study="watched", policies=[policy])
    assert script.get(f"{BIRDS}studies/watched/policies/").json()["policies"] == [
        {
            **{"policy": "flagged", "value": "", "counted": "0 sessions", "bound": "above 20 %, from 1 session on"},
            **{"since": None, "crossed": False, "waiting": False, "acted_at": None},
        }
    ]
    create_draft(study.project, study="draft", policies=[policy])
    assert script.get(f"{BIRDS}studies/draft/policies/").json() == {"policies": []}


def test_ratings_are_told_by_image_role_and_those_of_a_large_study_with_their_moment(
    script: Script, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = launch_study(study.project, study="rates", kind="rating", selection={"keys": ["row-1", "row-2"]})
    session = arrive_at_work(rates, "cem")
    for question, step in zip(questions(rates), ("2", "5"), strict=True):
        answer(session, question, step)
    address = f"{BIRDS}studies/rates/ratings/"
    told = script.get(address).json()
    whole = next(row for row in told["ratings"] if row["type"] == "all")
    assert (whole["answers"], whole["instances"], whole["mean"], told["as_of"]) == (2, 2, 3.5, None)
    jobs: list[Job] = []
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 0)
    monkeypatch.setattr("results.views.cached_statistics.send", jobs.append)
    assert script.get(address).json() == {"ratings": None, "as_of": None}
    run_now(jobs.pop(), now=NOON)
    assert script.get(address).json() == {"ratings": told["ratings"], "as_of": "2026-11-20T12:00:00Z"}


def test_links_and_the_file_are_for_who_may_hand_them_out_and_change_them(script: Script, study: Study) -> None:
    told = script.get(STUDY).json()
    assert told["take_url"].endswith(f"/take/{study.public_token}/")
    assert told["invite_url"].endswith(f"?invite={study.invite_token}")
    assert told["source"] == study.source
    viewer = make_person("viewer")
    Membership.objects.create(project=study.project, user=viewer, role="viewer")
    seen = script_of(viewer).get(STUDY)
    assert {seen.json()[name] for name in ("take_url", "invite_url", "source")} == {None}
    assert study.public_token not in seen.content.decode()
    # Codes are worth their pay, and orders rest on a secret: they are told to nobody.
    for code in study.completion_codes.all():
        assert code.code not in script.get(STUDY).content.decode()


def test_members_are_told_by_name_and_not_by_address(script: Script) -> None:
    User.objects.update(email="ada@example.org")
    answer = script.get(f"{BIRDS}members/")
    assert answer.json()["results"] == [{"username": "researcher", "name": "", "role": "editor"}]
    assert "ada@example.org" not in answer.content.decode()


def test_projects_count_what_they_hold(script: Script) -> None:
    make_project("vases")
    (told,) = script.get(f"{API}projects/").json()["results"]
    counted = ("birds", 4, 1, 0)
    assert (told["slug"], told["instances"], told["studies"], told["answers"]) == counted


@pytest.mark.parametrize("path", ["instances/", "studies/birds-step-3/decisions/"])
def test_a_list_asks_no_more_for_more_rows(
    script: Script, path: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    script.get(f"{BIRDS}{path}")
    with django_assert_max_num_queries(30) as one:
        script.get(f"{BIRDS}{path}?limit=1")
    with django_assert_max_num_queries(len(one)):
        script.get(f"{BIRDS}{path}?limit=4")


def test_an_address_that_is_none_is_answered_with_a_problem(script: Script) -> None:
    for path in ("", "v1/nothing/", "v1/projects/birds/nothing/", "v2/me/"):
        answer = script.get(f"/api/{path}")
        assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    refused = script.ask("PUT", BIRDS, {})
    assert (refused.status_code, refused.json()["type"]) == (405, "urn:lineup:problem:no-such-method")
