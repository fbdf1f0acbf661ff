"""The words for what has become of a question say the same in the database as in `analytics.outcomes`."""

from itertools import product

import pytest

from analytics.outcomes import Outcome, Progress, outcome_of_question, progress_of
from annotation.models import Decision
from annotation.models.outcomes import accepted_decisions, instances_with, is_at, question_is
from studies.models import Question, Study
from tests.factories import NOON, launch_study

pytestmark = pytest.mark.django_db

STATES = [("undecided", ""), ("accepted", "candidate-0"), ("rejected", "")]
CASES = list(product(STATES, range(4), (False, True)))


@pytest.mark.parametrize("purpose", ["filter", "baseline"])
def test_the_database_and_python_agree_on_every_question_there_can_be(purpose: str) -> None:
    study = launch_study(instances=len(CASES), answers=2)
    Study.objects.filter(pk=study.pk).update(purpose=purpose)
    study.refresh_from_db()
    decisions = list(Decision.objects.order_by("pk"))
    for decision, ((state, winner), answers, undone) in zip(decisions, CASES, strict=True):
        Decision.objects.filter(pk=decision.pk).update(state=state, winner=winner, answers=answers)
        Question.objects.filter(pk=decision.question_id).update(undone_at=NOON if undone else None)
    for decision, ((state, _), answers, undone) in zip(decisions, CASES, strict=True):
        said = outcome_of_question(state, answers=answers, wanted=2, accepts=study.accepts, undone=undone)
        here = Decision.objects.filter(pk=decision.pk)
        assert [o for o in Outcome if here.filter(question_is(o, accepts=study.accepts)).exists()] == [said]
        assert [p for p in Progress if here.filter(is_at[p]).exists()] == [progress_of(answers, 2)]
        assert here.get().outcome == said
        instance = decision.question.instance_id
        assert [o for o in Outcome if instances_with(o, study).filter(pk=instance).exists()] == [said]
        assert accepted_decisions(study).filter(pk=decision.pk).exists() == (said is Outcome.ACCEPTED)
