"""Tables of the checks of answers, counted by hand."""

from results.reports.base import Undefined
from results.reports.sections.checks import NO_RESULT, CheckRow, checks_table

NONE = {"gold": (0, 0), "instruction": (0, 0), "repeat": (0, 0)}


def test_all_annotators_together_agree_with_themselves_in_so_many_of_all_repeats() -> None:
    rows = [CheckRow("A-ANN", NONE | {"repeat": (1, 2)}), CheckRow("A-BEN", NONE | {"repeat": (2, 2), "gold": (0, 1)})]
    table = checks_table("Annotator", rows, together="All annotators")
    assert [column.title for column in table.columns] == [
        "Annotator",
        "Gold right",
        "Gold questions",
        "Repeats the same",
        "Repeats",
    ]
    # 1 of 2 and 2 of 2 are 3 of 4.
    assert [tuple(row) for row in table.rows] == [
        ("All annotators", 0, 1, 0.75, 4),
        ("A-ANN", Undefined(NO_RESULT), 0, 0.5, 2),
        ("A-BEN", 0, 1, 1, 2),
    ]


def test_one_row_has_no_sum_beside_it_and_no_checks_no_row() -> None:
    rows = [CheckRow("A-ANN", NONE | {"repeat": (1, 2)})]
    assert [row[0] for row in checks_table("Annotator", rows, together="All annotators").rows] == ["A-ANN"]
    assert checks_table("Annotator", [CheckRow("A-ANN", NONE)] * 2, together="All annotators").rows == []
    assert [row[0] for row in checks_table("Study", rows * 2).rows] == ["A-ANN"] * 2
