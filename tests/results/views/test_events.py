"""What has happened in a project, as its members read it."""

from datetime import timedelta
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from results.queries.studies.events import SENTENCES
from studies.actions.events import What, record
from studies.models import Study
from tests.factories import NOON, make_person, make_project, make_study
from tests.pages import signed_in

PAGE = "/projects/birds/events/"
# What followed from a change of whose answers count.
FOLLOWED: dict[str, Any] = dict.fromkeys(("answers", "decisions", "undone", "restored", "sessions", "without_place"), 1)


def told(client: Client, page: str = PAGE) -> list[str]:
    html = BeautifulSoup(client.get(page).content, "html.parser")
    return [" ".join(line.get_text(" ").split()) for line in html.select(".events li")]


def happened(study: Study, what: str, *, by: User | str = "command line", minutes: int = 0, **details: Any) -> None:
    now = NOON + timedelta(minutes=minutes)
    record(project=study.project, study=study, what=what, by=by, now=now, **details)


def test_it_is_told_in_plain_sentences_newest_first(client: Client, study: Study) -> None:
    anna = make_person("Anna")
    happened(study, What.STUDY_CREATED, by=anna)
    happened(study, What.STUDY_LAUNCHED, by=anna, minutes=122, questions=1)
    happened(study, What.SESSION_LAPSED, by="timetable", minutes=123, session=1, answers=2)
    happened(study, What.STUDY_CLOSED, minutes=124)
    happened(study, What.STUDY_LAUNCHED, by=anna, minutes=125, questions=0)
    assert told(client) == [
        "Anna launched birds-step-3, which gets its questions while it is open 20 Nov 2026, 14:05 UTC",
        "The command line closed birds-step-3 20 Nov 2026, 14:04 UTC",
        "The timetable released the place of a session of birds-step-3 whose time was up; 2 answers stayed "
        "20 Nov 2026, 14:03 UTC",
        "Anna launched birds-step-3 with 1 question 20 Nov 2026, 14:02 UTC",
        "Anna created birds-step-3 20 Nov 2026, 12:00 UTC",
    ]


def test_kinds_and_subjects_are_in_words(client: Client, study: Study) -> None:
    record(
        project=study.project,
        what=What.PREDICTIONS_REQUESTED,
        by="command line",
        now=NOON,
        model="onnx:some",
        kind="image_to_text",
    )
    happened(study, What.SEAT_FREED, session=1, answers=2)
    assert any(
        "requested a run of onnx:some on all instances: Pick the caption that describes an image" in line
        for line in told(client)
    )
    page = BeautifulSoup(client.get(PAGE).content, "html.parser")
    subjects = {option["value"]: option.get_text() for option in page.select("#filter-about option")}
    assert subjects == {"": "All", "predictions": "Predictions", "seat": "Released place"}


def test_it_is_narrowed_to_somebody_a_study_and_a_subject_and_told_by_days(client: Client, study: Study) -> None:
    anna, other = make_person("Anna"), make_study(study.project, "birds-step-4")
    happened(study, What.STUDY_CREATED, by=anna)
    happened(study, What.INSTANCES_IMPORTED, by=anna, minutes=1, files=[{"added": 2, "file": "a.csv"}])
    happened(other, What.STUDY_CREATED, by=anna, minutes=2)
    happened(study, What.STUDY_CLOSED, minutes=24 * 60)
    page = BeautifulSoup(client.get(PAGE).content, "html.parser")
    assert [day.get_text() for day in page.select("main h2")] == [
        "Saturday, 21 November 2026",
        "Friday, 20 November 2026",
    ]
    assert [option["value"] for option in page.select("[name=about] option")] == ["", "instances", "study"]
    narrowed = f"{PAGE}?by=Anna&study={study.slug}&about=study"
    assert told(client, narrowed) == [f"Anna created {study.slug} 20 Nov 2026, 12:00 UTC"]
    assert told(client, f"{PAGE}?by=Nobody") == []


def test_every_sort_of_event_has_a_sentence() -> None:
    assert SENTENCES.keys() == set(What)


@pytest.mark.parametrize("what", ["something new", What.STUDY_LAUNCHED])
def test_what_is_not_known_is_told_as_it_is(client: Client, study: Study, what: str) -> None:
    happened(study, what)
    assert told(client) == [f"The command line did this: {what}, birds-step-3 20 Nov 2026, 12:00 UTC"]


def test_what_people_have_typed_is_shown_as_text(client: Client, study: Study) -> None:
    happened(study, What.ANNOTATOR_EXCLUDED, annotator=0, reason="<b>{study} & %s", **FOLLOWED)
    assert "(<b>{study} & %s)" in told(client)[0]
    assert "&lt;b&gt;{study}" in client.get(PAGE).content.decode()


def test_there_are_fifty_on_a_page_and_more_ask_no_more_queries(
    client: Client, study: Study, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    assert "No activity yet." in client.get(PAGE).content.decode()
    happened(study, What.STUDY_PAUSED, minutes=1)
    happened(study, What.ANNOTATOR_LET_BACK, minutes=60, annotator=1, **FOLLOWED)
    # Session, user and project; how many, the events with their studies, and the names of annotators; in the rail the
    # size of the project and answers (2).
    with django_assert_num_queries(13):
        client.get(PAGE)
    for number in range(2, 51):
        happened(study, What.STUDY_RESUMED, minutes=number)
    with django_assert_num_queries(13):
        assert len(told(client)) == 50
    assert told(client, f"{PAGE}?page=2") == ["The command line paused birds-step-3 20 Nov 2026, 12:01 UTC"]
    assert len(told(client, f"{PAGE}?page=nonsense")) == 50


def test_other_projects_events_are_not_there_and_strangers_find_nothing(client: Client, study: Study) -> None:
    record(project=make_project("fish"), what=What.PROJECT_MADE, by="command line", now=NOON)
    assert told(client) == []
    stranger = signed_in(make_person("stranger"))
    assert stranger.get(PAGE).status_code == 404
    assert client.get("/projects/fish/events/").status_code == 404


def test_the_page_of_the_project_leads_to_it(client: Client, study: Study) -> None:
    assert f'href="{PAGE}"' in client.get("/projects/birds/").content.decode()


@pytest.mark.parametrize(
    ("what", "details", "expected"),
    [
        (What.DATASET_SET, {"studies": "step-4"}, "made the accepted items of step-4 the dataset"),
        (What.DATASET_SET, {"studies": ""}, "made all instances the dataset"),
        (What.MEMBER_ADDED, {"member": "ben", "role": "editor"}, "added ben to the project, as editor"),
        (What.MEMBER_CHANGED, {"member": "ben", "role": "viewer"}, "changed the role of ben to viewer"),
    ],
)
def test_who_works_on_what_is_told_in_plain_words(what: What, details: dict[str, str], expected: str) -> None:
    assert SENTENCES[what]("", details) == expected
