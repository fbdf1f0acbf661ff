"""`decisions`: every question with its outcome and rule."""

from collections.abc import Iterable
from typing import Any, Literal

from results.exporting.base import CsvWriter
from results.exporting.columns import DECISION
from results.exporting.rows import DecidedQuestion, decision_record


class Decisions(CsvWriter):
    title = "All decisions, CSV with rule and version"
    rows: Literal["decisions"] = "decisions"
    filename = "decisions.csv"
    columns = DECISION

    def values(self, row: DecidedQuestion) -> Iterable[Any]:
        return decision_record(row).values()
