"""What events say about people: by pseudonym, and of nobody who is forgotten."""

import pytest

from results.actions.erasure import forget
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.queries.studies.events import events_about_people
from tests.annotation.test_pipeline import answer_all
from tests.factories import arrive_at_work, launch_study
from tests.removing import REMOVED, exclude, include, person, reopen, withdraw

pytestmark = pytest.mark.django_db


def test_each_change_about_a_person_is_told_in_numbers_and_by_pseudonym_until_they_are_forgotten() -> None:
    study = launch_study(instances=2)
    answer_all(arrive_at_work(study, "ann"), "candidate-1")
    name_annotators(project=study.project)
    name = Pseudonym.objects.get().name
    exclude(study.project, "ann", reason="A bot.")
    reopen(study.project, "ann")
    include(study.project, "ann")
    withdraw(study.project, "ann")
    assert [line.what for line in reversed(events_about_people(study.project))] == [
        f"excluded {name} (A bot.): 2 answers, 2 decisions changed",
        f"gave 2 places of {name} to other people",
        f"included {name} again: 2 answers, 2 decisions changed",
        f"noted the withdrawal of {name}: 2 answers, 2 decisions changed",
    ]
    other = launch_study(project=study.project, study="other")
    assert events_about_people(study.project, study=other) == []
    assert len(events_about_people(study.project, study=study)) == 4
    forget(annotator=person("ann"), project=study.project, by="tests", now=REMOVED)
    deleted, *others = [line.what for line in events_about_people(study.project)]
    assert deleted == "deleted all data of an annotator, 2 answers"
    assert others[0].startswith("noted the withdrawal of an erased annotator: 2 answers")
    assert name not in " ".join(others)
