"""The table of answers to checks, read back."""

import csv
import io

from results.exporting.rows import AnsweredCheck
from tests.results.exporting.test_formats import written

GOLD = AnsweredCheck(
    task="17",
    worker="A-7KQ3F",
    check="gold",
    label="=candidate-0",
    answer="",
    right="candidate-1",
    passed=False,
    seconds=2.5,
    session="A-7KQ3F-1",
    study="step-3",
    kind="best_of_n",
    key="17",
    received_at="2026-03-02T12:00:00.000Z",
)


def test_a_row_says_what_was_checked_and_whether_it_was_passed() -> None:
    (row,) = csv.DictReader(io.StringIO(written("checks", GOLD)))
    assert row == {
        "task": "17",
        "worker": "A-7KQ3F",
        "check_type": "gold",
        "label": "'=candidate-0",
        "answer": "",
        "right": "candidate-1",
        "passed": "false",
        "seconds": "2.5",
        "session": "A-7KQ3F-1",
        "study": "step-3",
        "kind": "best_of_n",
        "key": "17",
        "received_at": "2026-03-02T12:00:00.000Z",
    }
