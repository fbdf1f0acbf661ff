"""A session at the first question of a study with four."""

import pytest

from annotation.models import Session, Slot
from tests.annotation.test_responses import next_slot
from tests.factories import arrive_at_work, launch_study


@pytest.fixture
def session(db: None) -> Session:
    """The session of ann, who has read everything."""
    return arrive_at_work(launch_study())


@pytest.fixture
def slot(session: Session) -> Slot:
    """The place of the first answer of `session`."""
    return next_slot(session)
