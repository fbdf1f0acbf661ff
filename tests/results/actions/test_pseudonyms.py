import re

import pytest

from annotation.models import SessionState
from background.sealed_secrets import unseal
from results.actions import pseudonyms
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from studies.models import Project, Study
from tests.factories import draw_instance, make_launched, make_project, make_study, sit_down

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    project = make_project("birds")
    for number in range(3):
        draw_instance(project, number)
    return make_launched(make_study(project), size=1)


def names(project: Project) -> dict[str, str]:
    rows = Pseudonym.objects.filter(project=project).values_list("annotator__sealed_id", "name")
    return {unseal(person): name for person, name in rows}


def test_everybody_gets_a_name_of_their_own(study: Study) -> None:
    for person in ("pid-1", "pid-2", "pid-3"):
        sit_down(study, person)
    name_annotators(project=study.project)
    given = names(study.project)
    assert set(given) == {"pid-1", "pid-2", "pid-3"}
    assert len(set(given.values())) == 3
    assert all(re.fullmatch(r"A-[A-Z0-9]{5}", name) for name in given.values())


def test_names_stay_when_more_people_come(study: Study) -> None:
    sit_down(study, "pid-1", state=SessionState.GIVEN_UP)
    name_annotators(project=study.project)
    before = names(study.project)
    sit_down(study, "pid-2")
    name_annotators(project=study.project)
    after = names(study.project)
    assert len(after) == 2
    assert after["pid-1"] == before["pid-1"]


def test_a_person_has_another_name_in_another_project(study: Study) -> None:
    other = make_project("boats")
    draw_instance(other, 9)
    other_study = make_launched(make_study(other, "boats-step-3"))
    sit_down(study, "pid-1")
    sit_down(other_study, "pid-1")
    name_annotators(project=study.project)
    name_annotators(project=other)
    assert len(names(study.project)) == len(names(other)) == 1
    assert names(study.project)["pid-1"] != names(other)["pid-1"]


def test_a_name_that_is_taken_is_drawn_again(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = iter(["A-AAAAA", "A-AAAAA", "A-CCCCC"])
    monkeypatch.setattr(pseudonyms, "_random_name", lambda: next(draws))
    sit_down(study, "pid-1")
    sit_down(study, "pid-2")
    name_annotators(project=study.project)
    assert names(study.project) == {"pid-1": "A-AAAAA", "pid-2": "A-CCCCC"}
