from typing import Any

import pytest


@pytest.fixture
def at_noon(time_machine: Any) -> Any:
    """The clock, which stands still at noon."""
    from tests.factories import NOON

    time_machine.move_to(NOON, tick=False)
    return time_machine


@pytest.fixture
def session(db: None) -> Any:
    """The session of ann, who is at the first of four questions."""
    from tests.factories import arrive_at_work, launch_study

    return arrive_at_work(launch_study())


@pytest.fixture
def slot(session: Any) -> Any:
    """The place of the first answer of `session`."""
    from tests.annotation.test_responses import next_slot

    return next_slot(session)
