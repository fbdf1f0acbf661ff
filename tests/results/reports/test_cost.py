from dataclasses import replace
from decimal import Decimal

from results.reports.cost import cost_table
from tests.results.reports.small import PROJECT


def test_whoever_waited_in_vain_is_in_the_cost() -> None:
    """By hand: 3 finished at 8.00, 4 waited at 0.50, 2 stopped: 24.00 + 2.00 = 26.00."""
    study = replace(
        PROJECT.studies[0],
        per_session=Decimal("8.00"),
        per_wait=Decimal("0.50"),
        sessions={"finished": 3, "waited": 4, "given_up": 2},
    )
    table = cost_table(replace(PROJECT, studies=[study]))
    place = [column.title for column in table.columns].index("Cost without fees")
    assert table.rows[0][place] == Decimal("26.00")
    assert table.notes[-1] == "The cost holds the pay of sessions that waited and were never asked anything: 4."
