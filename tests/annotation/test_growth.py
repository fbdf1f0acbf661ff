"""What an annotator's request reads does not grow with the study: PostgreSQL counts the rows its plans touch."""

import pytest
from django.db import connection

from annotation.actions.answering import answer_sql, responses
from annotation.actions.arriving import draw_questions
from annotation.models import Slot
from studies.models import Question
from tests.annotation.test_pipeline import answer_all
from tests.annotation.test_responses import next_slot
from tests.factories import NOON, arrive_at_work, launch_study
from tests.plans import rows_read

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _plans_of_large_tables() -> None:
    """Have the planner take indexes, as it does by itself once reading a whole table is dear."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite does not say how many rows it reads.")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")


def test_of_a_survey_of_thirty_questions_sending_reads_only_the_next_one() -> None:
    session = arrive_at_work(launch_study(instances=30))
    slot = Slot.objects.select_related("question").get(pk=next_slot(session).pk)

    def follow() -> None:
        found = answer_sql.next_slots(
            seat=slot.seat_id, annotator=session.annotator_id, besides=[slot.pk], part=0, limit=1
        )
        assert len(found) == 1

    assert rows_read(follow)["studies_question"] == 1


def test_of_a_survey_of_thirty_questions_the_page_reads_only_those_that_it_holds() -> None:
    session = arrive_at_work(launch_study(instances=30))
    assert rows_read(lambda: responses.open_slots(session=session, limit=4))["studies_question"] == 4


def test_human_stages_again_reads_none_of_the_questions_that_nobody_has_answered() -> None:
    study = launch_study(instances=20, answers=2, max_answers=3, surveys={"size": 1})
    answer_all(arrive_at_work(study, "ann"), "candidate-0")
    answer_all(arrive_at_work(study, "ben"), "candidate-1")
    # Both took the first survey, whose one question they disagree on.
    assert rows_read(lambda: draw_questions.draw(study=study, annotator=None, now=NOON))["annotation_decision"] < 20


def test_the_few_undone_questions_of_a_study_are_found_without_reading_the_others() -> None:
    """Whoever arrives is kept from them, twice."""
    study = launch_study(instances=60)
    undone = Question.with_checks.filter(study=study, undone_at__isnull=False)
    assert "undone_questions_of_a_study" in undone.values("pk").order_by().explain()
