from datetime import timedelta

import pytest
import time_machine
from pytest_django import Settings

from background.sealed_secrets import CannotUnseal, keyed_digest, keyed_digests, seal, seal_again, unseal
from tests.factories import NOON

DAY = timedelta(days=1)
OLD, NEW = "an-old-key-of-the-site-0123456789ab", "a-new-key-of-the-site-0123456789abc"
# By the version before there were several keys.
WRITTEN_BEFORE = "gAAAAABrC30raDSTAXnjy2MYl0QoaRB8zvcTOmnmOR-9crRvZwxY4xT3sNjUAnG_jeKfZhqwZ0RkpUVgvUMdpumHgIdOByDObA=="


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


def test_a_secret_without_an_age_never_expires() -> None:
    with time_machine.travel(NOON, tick=False):
        sealed = seal("prolific_token")
    with time_machine.travel(NOON + 3650 * DAY, tick=False):
        assert unseal(sealed) == "prolific_token"


def test_a_key_is_replaced_without_losing_a_secret(settings: Settings) -> None:
    """Before, while both keys are there, and once the old one is gone."""
    settings.ENCRYPTION_KEYS = [OLD]
    sealed = seal("prolific_token")
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    assert unseal(sealed) == "prolific_token"
    again = seal_again(sealed)
    settings.ENCRYPTION_KEYS = [NEW]
    assert unseal(again) == "prolific_token"
    with pytest.raises(CannotUnseal):
        unseal(sealed)
    with pytest.raises(CannotUnseal):
        seal_again(sealed)


def test_a_secret_of_before_there_were_keys_is_still_read(settings: Settings) -> None:
    sealed = seal("hf_token")
    settings.ENCRYPTION_KEYS = [NEW]
    assert unseal(sealed) == "hf_token"
    again = seal_again(sealed)
    settings.SECRET_KEY = "another-secret-of-another-site"
    assert unseal(again) == "hf_token"


def test_a_secret_that_an_older_version_encrypted_is_read(settings: Settings) -> None:
    settings.SECRET_KEY = "a-secret-key-of-the-tests-of-0123456789"
    assert unseal(WRITTEN_BEFORE) == "hf_token"


def test_encrypting_again_keeps_the_age(settings: Settings) -> None:
    with time_machine.travel(NOON, tick=False):
        sealed = seal("hf_token")
    settings.ENCRYPTION_KEYS = [NEW]
    with time_machine.travel(NOON + DAY + timedelta(seconds=1), tick=False), pytest.raises(CannotUnseal):
        unseal(seal_again(sealed), within=DAY)


def test_a_digest_finds_what_an_older_key_digested_and_tells_purposes_apart(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = ["old" * 12]
    old = keyed_digest("5f0000000000000000000001", purpose="people")
    settings.ENCRYPTION_KEYS = ["new" * 12, "old" * 12]
    digests = keyed_digests("5f0000000000000000000001", purpose="people")
    assert digests[0] == keyed_digest("5f0000000000000000000001", purpose="people") != old
    assert old in digests[1:]
    assert old not in keyed_digests("5f0000000000000000000001", purpose="sessions")
    assert old not in keyed_digests("5f0000000000000000000002", purpose="people")
