from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.cast import client, draft, researcher, study
from tests.hub import Hub, running_hub

__all__ = ["client", "draft", "researcher", "study"]


@pytest.fixture
def hub(settings: Settings) -> Iterator[Hub]:
    """Return a stand-in of the Hub, to which releases are pushed."""
    with running_hub() as hub:
        settings.HUB_URL = hub.url
        yield hub
