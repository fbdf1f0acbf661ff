"""What events say about people: by pseudonym, and of nobody who is forgotten."""

from typing import Any

import pytest

from annotation.actions.removing import retire_questions
from results.actions.erasure import forget
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.queries.studies.events import event_lines, events_about_people
from studies.models import Instance
from tests.annotation.test_pipeline import answer_all
from tests.factories import NOON, TESTS, arrive_at_work, launch_study
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


def test_an_instance_that_is_taken_out_or_put_back_is_one_line() -> None:
    """Two studies ask about the two instances; ann answered the two questions of the first study."""
    study = launch_study(instances=2)
    launch_study(study.project, study="other", instances=0)
    answer_all(arrive_at_work(study, "ann"), "candidate-1")
    first, second = Instance.objects.order_by("key")
    about: dict[str, Any] = {"project": study.project, "instances": [first.pk, second.pk], "by": TESTS, "now": NOON}
    retire_questions.take_out_instances(**about, reason="Wrong picture.")
    retire_questions.put_back_instances(**about)
    names = "best-vase, other"
    effects = "1 answer, 1 decision changed"
    lines = [line.what for line in event_lines(study.project, 1, about="question").object_list]
    assert sorted(lines) == [
        f"put 2 questions about {first.key} back into {names}: {effects}",
        f"put 2 questions about {second.key} back into {names}: {effects}",
        f"took 2 questions about {first.key} out of {names}, because: Wrong picture.: {effects}",
        f"took 2 questions about {second.key} out of {names}, because: Wrong picture.: {effects}",
    ]


def test_one_question_that_is_taken_out_is_told_alone() -> None:
    study = launch_study(instances=2)
    first, second = study.questions.order_by("pk")
    retire_questions.take_out(question=first, reason="Blurred.", by=TESTS, now=NOON)
    retire_questions.take_out(question=second, reason="Blurred.", by=TESTS, now=NOON)
    lines = [line.what for line in event_lines(study.project, 1, about="question").object_list]
    effects = "0 answers, 0 decisions changed"
    assert lines == [
        f"took a question about {each.instance.key} out of {study.slug}, because: Blurred.: {effects}"
        for each in (second, first)
    ]
