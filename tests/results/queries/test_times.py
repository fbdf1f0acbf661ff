"""How long an answer took is said in four places, and is the same in all: what its first version took, in view."""

import pytest

from results.actions.pseudonyms import name_annotators
from results.queries.instances.instance_history import histories
from results.queries.instances.instance_stats import disagreements_in, figures_of
from results.queries.people.annotators import persons_answers
from results.queries.reports.answers import answer_times
from results.queries.reports.label_spaces import label_spaces
from results.queries.studies.progress import Seconds, study_progress
from results.reports.sections.answers import TimedAnswers
from studies.models import Question, Study
from tests.factories import answer, questions, sit_down

pytestmark = pytest.mark.both


def test_a_change_leaves_the_time_that_the_answer_took(study: Study) -> None:
    session = sit_down(study, "ann")
    changed, hidden, unmeasured, measured_late = questions(study)
    answer(session, changed, "none", send_ms=9000, hidden_ms=0)
    answer(session, changed, "candidate-1", send_ms=900, hidden_ms=0)
    answer(session, changed, "candidate-2", send_ms=700, hidden_ms=0)
    # The browser says that the page was out of sight for longer than it was there: it is not believed to the minus.
    answer(session, hidden, "none", send_ms=5000, hidden_ms=6000)
    answer(session, unmeasured, "none")
    answer(session, measured_late, "none")
    answer(session, measured_late, "candidate-1", send_ms=800)
    name_annotators(project=study.project)
    took = {changed.pk: 9.0, hidden.pk: 0.0, unmeasured.pk: None, measured_late.pk: None}
    assert study_progress(study).seconds == Seconds(2, 2.25, 4.5, 6.75)
    # Those that are alike are counted together.
    kind = changed.kind
    assert answer_times(study) == [TimedAnswers(kind, 9.0, 1), TimedAnswers(kind, 0.0, 1), TimedAnswers(kind, None, 2)]
    assert {one.question: one.seconds for one in persons_answers(study, label_spaces(study))} == took
    asked = {question.instance_id: took[question.pk] for question in questions(study)}
    figures = figures_of(study, sorted(asked), disagreements_in(study.project))
    assert {instance: found.seconds for instance, found in figures.items()} == asked
    # An instance's own page has every version with its own, by the same rule.
    told = histories(Question.objects.filter(pk__in=[changed.pk, hidden.pk]).order_by("pk"), project=study.project)
    versions = [{given.version: given.seconds for given in asked.answers} for asked in told]
    assert versions == [{1: 9.0, 2: 0.9, 3: 0.7}, {1: 0.0}]
