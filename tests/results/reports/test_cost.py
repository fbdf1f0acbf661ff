from dataclasses import replace
from decimal import Decimal

from analytics.work.pay import PaidSession
from results.reports.base import Reference, Undefined
from results.reports.sections.cost import cost_chart, cost_table
from tests.results.reports.small import PROJECT, values


def test_whoever_waited_in_vain_is_in_the_cost() -> None:
    study = replace(
        PROJECT.studies[0],
        per_session=Decimal("8.00"),
        owed_for_sessions=Decimal("26.00"),
        sessions={"finished": 3, "waited": 4, "given_up": 2},
    )
    table = cost_table(replace(PROJECT, studies=[study]))
    place = [column.title for column in table.columns].index("Cost without fees")
    assert table.rows[0][place] == Decimal("26.00")
    assert table.notes[-1] == "Sessions that waited, got no question and are paid, included in the cost: 4."


def test_what_answers_are_paid_stands_beside_what_sessions_are() -> None:
    """By hand: 3 finished at 2.00 are 6.00, 50 answers at 0.15 are 7.50, together 13.50. A session of 20 answers is
    paid 5.00, in 20 minutes."""
    study = replace(
        PROJECT.studies[0],
        per_session=Decimal("2.00"),
        per_answer=Decimal("0.15"),
        owed_for_sessions=Decimal("6.00"),
        answers_paid=50,
        sessions={"finished": 3},
        paid_each={Decimal("2.00"): 3},
        paid=[PaidSession(1200.0, 20)],
    )
    table = cost_table(replace(PROJECT, studies=[study]))
    row = dict(zip([column.title for column in table.columns], table.rows[0], strict=True))
    assert (row["Pay per session"], row["Pay per answer"], row["Answers paid"]) == (Decimal(2), Decimal("0.15"), 50)
    assert (row["Cost of sessions"], row["Cost of answers"]) == (Decimal("6.00"), Decimal("7.50"))
    assert (row["Cost without fees"], row["Hourly wage, median"]) == (Decimal("13.50"), Decimal("15.00"))
    assert "answers of unfinished sessions" in table.notes[1]


def test_sessions_that_are_paid_a_share_make_the_row_add_up() -> None:
    """By hand: 4 sessions at 1.00 and one of half the answers at 0.50 are 4.50; one waits for a decision."""
    study = replace(
        PROJECT.studies[0],
        per_session=Decimal("1.00"),
        owed_for_sessions=Decimal("4.50"),
        paid_each={Decimal("0.50"): 1, Decimal("1.00"): 4},
        sessions={"finished": 6},
    )
    table = cost_table(replace(PROJECT, studies=[study]))
    row = dict(zip([column.title for column in table.columns], table.rows[0], strict=True))
    assert row["Finished sessions by pay"] == "4 at 1.00, 1 at 0.50, 1 undecided"
    assert row["Cost of sessions"] == Decimal("4.50")
    assert "because no more questions were left, is paid its share" in table.notes[1]
    assert table.notes[2].startswith("Undecided: sessions with unlikely times")


def test_undecided_sessions_are_explained_whatever_the_others_are_paid() -> None:
    of_sessions = replace(
        PROJECT.studies[0], per_session=Decimal(1), paid_each={Decimal(1): 9}, sessions={"finished": 10}
    )
    table = cost_table(replace(PROJECT, studies=[of_sessions]))
    assert "9 at 1.00, 1 undecided" in table.rows[0]
    assert [note.partition(":")[0] for note in table.notes[1:]] == ["Undecided"]
    of_answers = replace(of_sessions, per_session=Decimal(0), per_answer=Decimal("0.10"))
    rows = cost_table(replace(PROJECT, studies=[of_answers])).rows
    assert not any("undecided" in str(cell) or "at 1.00" in str(cell) for cell in rows[0])


def test_a_study_that_pays_nothing_has_no_wage() -> None:
    study = replace(PROJECT.studies[0], per_session=Decimal(0), paid=[PaidSession(1200.0)])
    table = cost_table(replace(PROJECT, studies=[study]))
    row = dict(zip([column.title for column in table.columns], table.rows[0], strict=True))
    assert row["Hourly wage, median"] == Undefined("The study pays nothing.")


def test_a_chart_shows_wages_against_the_minimum() -> None:
    """2.00 in 30 minutes, 20 minutes and 15 minutes are 4, 6 and 8 an hour."""
    paid = [PaidSession(seconds) for seconds in (1200.0, 1800.0, 900.0)]
    study = replace(
        PROJECT.studies[0], per_session=Decimal("2.00"), paid=paid, minimum_hourly_pay=Decimal("6.50"), currency="EUR"
    )
    chart = cost_chart(study)
    assert {label: n for label, n in values(chart).items() if n} == {"4 to 5 EUR": 1, "6 to 7 EUR": 1, "8 to 9 EUR": 1}
    assert chart.references == [Reference("minimum 6.50", 6.5)]
    assert "2 under the minimum" in chart.description
    assert not cost_chart(replace(study, per_session=Decimal(0))).has_points
