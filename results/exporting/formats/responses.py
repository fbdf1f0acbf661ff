"""`responses`: every version of every answer as a long table that starts with `task, worker, label`.

Analysis libraries read these three. Includes replaced versions and late answers: filter by `counted` to get the answers
behind decisions and numbers. Answers of excluded people are marked; those of withdrawn people are absent. Cells are
escaped as in `results.exporting.spreadsheets`.
"""

from collections.abc import Iterable
from typing import Any, Literal

from results.exporting.base import CsvWriter
from results.exporting.columns import RESPONSE
from results.exporting.rows import GivenResponse, response_record


class Responses(CsvWriter):
    title = "All answers, one per row, for your own analysis, CSV (annotators in column worker)"
    rows: Literal["responses"] = "responses"
    filename = "responses.csv"
    columns = RESPONSE

    def values(self, row: GivenResponse) -> Iterable[Any]:
        return response_record(row).values()
