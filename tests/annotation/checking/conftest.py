from typing import Any

import pytest


@pytest.fixture
def project(db: None) -> Any:
    """A project of 34 instances."""
    from tests.factories import make_instance, make_project

    made = make_project()
    for number in range(34):
        make_instance(made, f"vase-{number}")
    return made


@pytest.fixture
def study(project: Any) -> Any:
    """A study of 30 ordinary questions in one survey of two seats, with six checks in each."""
    from tests.checking import CHECKS
    from tests.factories import launch_study

    return launch_study(project, instances=34, answers=2, checks=CHECKS)
