"""What an annotator's request reads does not grow with the study: PostgreSQL counts the rows its plans touch."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.actions.answering import answer_sql, responses
from annotation.actions.arriving import draw_questions
from annotation.models import Slot
from tests.annotation.test_pipeline import answer_all
from tests.annotation.test_responses import next_slot
from tests.factories import NOON, arrive_at_work, launch_study

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _plans_of_large_tables() -> None:
    """Have the planner take indexes, as it does by itself once reading a whole table is dear."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite does not say how many rows it reads.")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")


def rows_read(work: Callable[[], object]) -> Counter[str]:
    """Return how many rows of each table the SELECTs of `work` read, after they were run."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    with CaptureQueriesContext(connection) as captured:
        work()
    found: Counter[str] = Counter()
    for query in captured.captured_queries:
        if query["sql"].lstrip().startswith("SELECT"):
            for node in _nodes(_plan(query["sql"])):
                if "Relation Name" in node:
                    passed_over = node.get("Rows Removed by Filter", 0)
                    found[node["Relation Name"]] += (node["Actual Rows"] + passed_over) * node["Actual Loops"]
    return found


def _plan(statement: str) -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.replace('%', '%%')}", [])
        ([explained],) = cursor.fetchone()
    explained = json.loads(explained) if isinstance(explained, str) else [explained]
    return dict(explained[0]["Plan"])


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    below: Iterable[dict[str, Any]] = plan.get("Plans", ())
    for each in below:
        yield from _nodes(each)


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
