import pytest
from pytest_django import Settings

from tests.background import WORK


@pytest.fixture(autouse=True)
def _work_of_tests(settings: Settings) -> None:
    settings.JOBS = settings.JOBS | WORK
