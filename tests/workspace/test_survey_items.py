"""The surveys of a study on its page, whose items are made in Python."""

import pytest
from bs4 import BeautifulSoup

from results.queries.studies.progress import Answers, Seats, SurveyProgress
from tests.factories import create_draft
from workspace.templatetags.progress import survey_items

pytestmark = pytest.mark.django_db


def test_each_survey_says_how_many_answers_it_has_and_where_its_seats_are_and_leads_to_its_instances() -> None:
    surveys = [
        SurveyProgress(7, Seats(free=1, taken=2, filled=3), Answers(4, 6)),
        SurveyProgress(8, Seats(free=0, taken=0, filled=3), Answers(6, 6)),
        SurveyProgress(1234, Seats(free=0, taken=0, filled=0), Answers(0, 0)),
    ]
    items = BeautifulSoup(survey_items(create_draft(), surveys), "html.parser").select("li")
    assert [" ".join(item.stripped_strings) for item in items] == [
        "7 4/6 3 finished 2 in progress 1 open",
        "8 6/6 3 finished",
        "1234 0/0",
    ]
    assert [item["class"] for item in items] == [["survey"], ["survey", "full"], ["survey", "full"]]
    links = [item.select_one("a") for item in items]
    assert [link["href"] for link in links if link] == [
        f"/projects/vases/instances/?study=best-vase&survey={number}" for number in (7, 8, 1234)
    ]
    bars = [item.select_one("progress") for item in items]
    assert [(bar["value"], bar["max"], bar["aria-label"]) for bar in bars if bar] == [
        ("4", "6", "Answers of survey 7"),
        ("6", "6", "Answers of survey 8"),
        ("0", "1", "Answers of survey 1234"),
    ]
