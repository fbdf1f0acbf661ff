"""Two releases of one project side by side."""

import csv
import io
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Removal
from results.actions.releases import freeze_release, prepare_release
from results.exporting.dataset_card import About
from results.models import Release
from studies.actions.studies import change_state
from studies.models import Instance, Study, StudyState
from tests.factories import NOON, TESTS, make_person, make_project
from tests.pages import signed_in, words_of
from tests.results.pipelines import STEP_3, by_key, go_on, open_study, project_of, sit_through

COMPARE = "/projects/vases/releases/compare/"


@pytest.fixture
def study(researcher: User) -> Study:
    return open_study(project_of(researcher), STEP_3)


@pytest.fixture
def both(study: Study) -> tuple[Release, Release]:
    """v1 holds vase-0 and vase-1. In v2 vase-1 is in another split, vase-2 is new, and vase-0 is gone."""
    session = sit_through(study, "ann", by_key(vase_0="candidate-0", vase_1="candidate-1"))
    first = release(study, "v1")
    go_on(session, by_key(vase_2="candidate-2"))
    Instance.objects.filter(key="vase-1").update(split="test")
    study.decisions.filter(question__instance__key="vase-0").update(state="rejected", winner="")
    return first, release(study, "v2")


def release(study: Study, name: str) -> Release:
    made, _ = prepare_release(study=study, about=About(release=name), by=TESTS, now=NOON)
    freeze_release(release=made, now=NOON)
    return made


def compared(client: Client, before: object, after: object, **query: str) -> Any:
    pk = [each.pk if isinstance(each, Release) else each for each in (before, after)]
    return client.get(COMPARE, {"before": str(pk[0]), "after": str(pk[1]), **query})


def test_items_that_were_added_removed_and_changed_are_listed(client: Client, both: tuple[Release, Release]) -> None:
    found = compared(client, *both).context["comparison"]
    named = [[item.name for item in items] for items in (found.added, found.removed, found.changed)]
    assert named == [["vase-2"], ["vase-0"], ["vase-1"]]
    assert (found.changed[0].changed, found.same) == (["split"], 0)
    assert found.rules == (["chosen-v1"], ["chosen-v1"])
    # Split, type, subtype: v1 beside v2.
    assert [(row.split, row.type, row.subtype, row.before, row.after) for row in found.categories] == [
        ("", "replace", "obj", 2, 0),
        ("", "swap", "att", 0, 1),
        ("test", "replace", "obj", 0, 1),
    ]


def test_every_item_that_differs_is_in_the_csv(client: Client, both: tuple[Release, Release]) -> None:
    response = compared(client, *both, format="csv")
    assert response["Content-Disposition"] == 'attachment; filename="step-3-v1-to-step-3-v2.csv"'
    # Line by line, so that no row waits for the last.
    assert response.streaming
    assert list(csv.reader(io.StringIO(response.getvalue().decode()))) == [
        ["what", "item", "split", "type", "changed"],
        ["added", "vase-2", "", "swap", ""],
        ["removed", "vase-0", "", "replace", ""],
        ["changed", "vase-1", "test", "replace", "split"],
    ]


@pytest.mark.parametrize(
    ("change", "aspect"),
    [
        ({"captions": {"caption": "Other.", "negative_caption": "Words."}}, "captions"),
        # Never shown to annotators, and in the files of a release.
        ({"reference": {"right": "candidate-3"}}, "right answer"),
        ({"subtype": "rel"}, "type"),
    ],
)
def test_a_change_is_named(client: Client, study: Study, change: dict[str, Any], aspect: str) -> None:
    sit_through(study, "ann", by_key(vase_0="candidate-0"))
    first = release(study, "v1")
    Instance.objects.filter(key="vase-0").update(**change)
    found = compared(client, first, release(study, "v2")).context["comparison"]
    assert [item.changed for item in found.changed] == [[aspect]]


def test_more_answers_alone_are_a_change_of_answers(client: Client, study: Study) -> None:
    sit_through(study, "ann", by_key(vase_0="candidate-0"))
    first = release(study, "v1")
    study.decisions.filter(question__instance__key="vase-0").update(answers=2, votes={"candidate-0": 2})
    found = compared(client, first, release(study, "v2")).context["comparison"]
    assert [item.changed for item in found.changed] == [["answers"]]


def test_releases_that_are_alike_say_so(client: Client, study: Study) -> None:
    sit_through(study, "ann", by_key(vase_0="candidate-0"))
    page = compared(client, release(study, "v1"), release(study, "v2"))
    assert page.context["comparison"].same == 1
    assert "Both releases hold the same items." in page.content.decode()


def test_the_page_of_releases_offers_the_comparison(client: Client, both: tuple[Release, Release]) -> None:
    page = client.get("/projects/vases/releases/").content.decode()
    assert f'action="{COMPARE}"' in page
    assert {f'<option value="{each.pk}"' in page for each in both} == {True}


def test_one_release_cannot_be_compared(client: Client, study: Study) -> None:
    sit_through(study, "ann", by_key(vase_0="candidate-0"))
    only = release(study, "v1")
    assert "Two frozen releases are needed" in client.get(COMPARE).content.decode()
    assert "Compare two releases" not in client.get("/projects/vases/releases/").content.decode()
    assert "Choose two different releases." in words_of(compared(client, only, only))


@pytest.mark.parametrize("other", ["", "0", "x", "9" * 30])
def test_what_is_no_release_of_the_project_is_refused(
    client: Client, both: tuple[Release, Release], other: str
) -> None:
    response = compared(client, both[0], other)
    assert response.status_code == 409
    assert "Choose two releases of this project." in words_of(response)


def test_a_release_of_another_project_is_refused(client: Client, both: tuple[Release, Release]) -> None:
    Release.objects.filter(pk=both[1].pk).update(project=make_project("other"))
    assert compared(client, *both).status_code == 409


def test_a_release_that_is_no_longer_given_out_is_not_compared(
    client: Client, study: Study, both: tuple[Release, Release]
) -> None:
    session = study.sessions.get()
    Removal.objects.create(project=study.project, annotator=session.annotator, why=Removal.Why.WITHDRAWN, at=NOON)
    response = compared(client, *both)
    assert response.status_code == 409
    assert "has withdrawn since it was frozen" in words_of(response)


def test_a_closed_study_and_a_viewer_compare_and_a_stranger_finds_nothing(
    client: Client, study: Study, both: tuple[Release, Release]
) -> None:
    change_state(study=study, to=StudyState.CLOSED, by=TESTS, now=NOON)
    assert compared(client, *both).status_code == 200
    assert compared(signed_in(make_person("stranger")), *both).status_code == 404
