"""Which answers agreement rests on: those that were asked for of every question, and not those that were added where
the others differed."""

import pytest

from annotation.actions.launching import extend_study
from results.queries.reports.report_rows import study_facts
from results.reports.sections.agreement import BEFORE, Reliability, reliabilities
from studies.models import Study
from tests.annotation.test_pipeline import answer_all
from tests.factories import NOON, TESTS, arrive_at_work, launch_study

pytestmark = pytest.mark.django_db

A, B = "candidate-0", "none"
EVERY = "asked of every question"


def say(study: Study, person: str, first: str, second: str) -> None:
    """Let somebody answer the questions of `study`, about its first and its second instance."""
    by_instance = {"vase-0": first, "vase-1": second}
    answer_all(arrive_at_work(study, person), lambda asked: by_instance[asked.instance.key])


def percent(study: Study) -> list[Reliability]:
    return [
        each
        for each in reliabilities(study_facts(study))
        if each.measure == "Percent agreement" and each.when == BEFORE and each.labels == "any image / None"
    ]


def test_answers_that_were_added_to_every_question_are_in_the_coefficients() -> None:
    study = launch_study(instances=2, answers=2, rule="majority-v1")
    say(study, "ann", A, A)
    say(study, "ben", A, B)
    # Two pairs of answers, of which one agrees.
    (found,) = percent(study)
    assert (found.used, found.questions, found.answers, found.value) == ("all", 2, 4, 0.5)
    extend_study.add_answers(study=study, more=1, by=TESTS, now=NOON)
    study.refresh_from_db()
    say(study, "cleo", A, B)
    # Three pairs agree about the first instance, one of three about the second.
    (found,) = percent(study)
    assert (found.used, found.questions, found.answers) == ("all", 2, 6)
    assert found.value == pytest.approx(4 / 6)


def test_answers_that_were_added_where_others_differed_stand_apart_also_after_that() -> None:
    study = launch_study(instances=2, answers=2, rule="majority-v1")
    say(study, "ann", A, A)
    say(study, "ben", A, B)
    extend_study.raise_limit(study=study, to=3, by=TESTS, now=NOON)
    study.refresh_from_db()
    say(study, "cleo", A, B)
    # She was asked about the second alone: that one of the first two said the same is 1 of 2.
    first, added = percent(study)
    assert (first.used, first.questions, first.answers, first.value) == (EVERY, 2, 4, 0.5)
    assert (added.used, added.answers, added.value) == (f"added, each against those {EVERY}", 1, 0.5)
    extend_study.add_answers(study=study, more=1, by=TESTS, now=NOON)
    study.refresh_from_db()
    say(study, "dora", B, B)
    # Of the first instance one of three pairs agrees now, and of the second one of three: cleo is still apart, though
    # her answer is one of the first three to it.
    first, added = percent(study)
    assert (first.used, first.questions, first.answers) == (EVERY, 2, 6)
    # Two of the three others say what she said.
    assert (added.used, added.answers) == (f"added, each against those {EVERY}", 1)
    assert added.value == pytest.approx(2 / 3)
    assert first.value == pytest.approx(2 / 6)
