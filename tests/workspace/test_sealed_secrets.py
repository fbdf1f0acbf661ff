from datetime import timedelta

import pytest
import time_machine
from pytest_django import Settings

from tests.factories import NOON
from workspace.sealed_secrets import CannotUnseal, seal, unseal

DAY = timedelta(days=1)


def test_what_is_sealed_is_unreadable_and_opens_for_so_long() -> None:
    with time_machine.travel(NOON, tick=False):
        sealed = seal("hf_token")
    assert "hf_token" not in sealed
    with time_machine.travel(NOON + DAY, tick=False):
        assert unseal(sealed, within=DAY) == "hf_token"
    with time_machine.travel(NOON + DAY + timedelta(seconds=1), tick=False), pytest.raises(CannotUnseal):
        unseal(sealed, within=DAY)


def test_another_secret_opens_nothing(settings: Settings) -> None:
    sealed = seal("hf_token")
    settings.SECRET_KEY = "another-secret-of-another-site"
    with pytest.raises(CannotUnseal):
        unseal(sealed, within=DAY)
