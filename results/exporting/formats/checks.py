"""`checks`: the answers to gold questions, instruction checks and repeated questions, which no other export holds.

Only answers that stand: the last version, in time, of people who are neither excluded nor withdrawn. Cells are escaped
as in `results.exporting.spreadsheets`.
"""

from collections.abc import Iterable
from dataclasses import astuple
from typing import Any, Literal

from results.exporting.base import Column, CsvWriter
from results.exporting.rows import AnsweredCheck


class Checks(CsvWriter):
    title = "Answers to checks (gold, instruction, repeat), CSV"
    rows: Literal["checks"] = "checks"
    filename = "checks.csv"
    columns = (
        Column("task", "sc:Text", "The question: the instance, and the question about it if there are several."),
        Column("worker", "sc:Text", "The annotator, by pseudonym."),
        Column("check_type", "sc:Text", "The type of check: gold, instruction or repeat."),
        Column("label", "sc:Text", "The label of the answer, such as the chosen option, by identity."),
        Column("answer", "sc:Text", "The whole answer as JSON; empty if the label says it all."),
        Column("right", "sc:Text", "The right option, or another right answer as JSON; empty for a repeat."),
        Column(
            "passed",
            "sc:Boolean",
            "Whether the answer is right or, for a repeat, the same as the first one; empty if unknown.",
        ),
        Column("seconds", "sc:Float", "Seconds from shown to sent, without the time out of view; empty if unmeasured."),
        Column("session", "sc:Text", "The annotator's pseudonym, and the number of their session in this study."),
        Column("study", "sc:Text", "The study that asked."),
        Column("kind", "sc:Text", "The kind of question."),
        Column("key", "sc:Text", "The key of the instance, as in the files of instances."),
        Column("received_at", "sc:DateTime", "When the server received it, UTC."),
    )

    def values(self, row: AnsweredCheck) -> Iterable[Any]:
        return astuple(row)
