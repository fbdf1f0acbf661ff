import pytest
from pytest_django import Settings

from studies.picture_handles import handle_of, sha256_of

PICTURE, OTHER = "ab" * 32, "cd" * 32
OLD_KEY, NEW_KEY = "o" * 50, "n" * 50


def test_a_handle_leads_to_its_picture_and_is_the_same_each_time() -> None:
    handle = handle_of(PICTURE, study=7)
    assert sha256_of(handle) == PICTURE
    assert handle_of(PICTURE, study=7) == handle
    # It says nothing of the picture, and can stand in an address.
    assert PICTURE[:8] not in handle
    assert handle.replace("-", "").replace("_", "").isalnum()


def test_it_is_another_one_in_every_study_and_for_every_picture() -> None:
    handles = [handle_of(picture, study=study) for picture in (PICTURE, OTHER) for study in (1, 2, 4_000_000_000)]
    assert len(set(handles)) == 6
    # Nothing of one is found in another: who knows a picture in one study does not know it again in the next.
    pieces = [handle[at : at + 8] for handle in handles for at in range(len(handle) - 7)]
    assert len(set(pieces)) == len(pieces)


@pytest.mark.parametrize("text", ["", "x", "é", "../..", "A" * 70, PICTURE, "=" * 70, " " * 70])
def test_what_is_no_handle_means_no_picture(text: str) -> None:
    assert sha256_of(text) == ""


def test_a_handle_that_was_changed_means_no_picture() -> None:
    handle = handle_of(PICTURE, study=7)
    for at in range(0, len(handle), 9):
        changed = handle[:at] + ("A" if handle[at] != "A" else "B") + handle[at + 1 :]
        assert sha256_of(changed) == ""


def test_a_new_key_makes_new_handles_and_old_ones_lead_on_while_the_old_key_is_kept(settings: Settings) -> None:
    settings.SECRET_KEY = OLD_KEY
    handle = handle_of(PICTURE, study=7)
    settings.SECRET_KEY = NEW_KEY
    assert handle_of(PICTURE, study=7) != handle
    assert sha256_of(handle) == ""
    settings.SECRET_KEY_FALLBACKS = [OLD_KEY]
    assert sha256_of(handle) == PICTURE
