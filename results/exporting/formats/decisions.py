"""`decisions`: every question with what followed from its answers, and under which rule."""

import csv
from typing import IO, Literal

from results.exporting.base import Column, TextWriter
from results.exporting.rows import DECISION_COLUMNS, DecidedQuestion, decision_record
from results.exporting.spreadsheets import cell


class Decisions(TextWriter):
    title = "All decisions, CSV with rule and version"
    rows: Literal["decisions"] = "decisions"
    filename = "decisions.csv"
    content_type = "text/csv; charset=utf-8"
    columns = (
        Column("task", "sc:Text", "The question: the instance, and which question about it where there are several."),
        Column("study", "sc:Text", "The study that asked it."),
        Column("kind", "sc:Text", "The kind of question."),
        Column("outcome", "sc:Text", "none yet, agreed, conflicting, accepted, rejected or undone."),
        Column("progress", "sc:Text", "How far its answers are: unanswered, open or complete."),
        Column("rule", "sc:Text", "The rule that decided it, with its version."),
        Column("winner", "sc:Text", "The option that the rule, or the researcher who settled it, decided for."),
        Column("right", "sc:Text", "The right option, or another right answer as JSON; empty where none is known."),
        Column("answers", "sc:Integer", "How many answers it rests on: the counted ones."),
        Column("wanted", "sc:Integer", "How many are wanted by now."),
        Column("votes", "sc:Text", "How many answers each option got, as a JSON object."),
        Column("settled", "sc:Boolean", "Whether a researcher decided what the answers had left undecided."),
        Column("decided_at", "sc:DateTime", "When it was decided, UTC; empty for what is undecided."),
        Column("simulated", "sc:Boolean", "Whether a program gave one of its answers; empty where nobody noted that."),
        Column("key", "sc:Text", "The instance, as in the files of instances."),
    )

    def start(self, out: IO[str]) -> None:
        csv.writer(out).writerow(DECISION_COLUMNS)

    def write(self, row: DecidedQuestion, out: IO[str]) -> None:
        csv.writer(out).writerow([cell(value) for value in decision_record(row).values()])
