"""How many rows PostgreSQL reads for what a piece of code asks."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext


def rows_read(work: Callable[[], object], *, analyse: bool = True) -> Counter[str]:
    """Return how many rows of each table the SELECTs of `work` read, after they were run.

    analyse: first have the planner count what tables hold, which takes long where they hold millions.
    """
    if analyse:
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
