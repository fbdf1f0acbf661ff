"""Licences by the names under which catalogues of data know them."""

import pytest

from results.exporting.licences import address, hub_id


@pytest.mark.parametrize(
    ("licence", "known"),
    [
        ("CC-BY-4.0", "cc-by-4.0"),
        ("CC BY 4.0", "cc-by-4.0"),
        ("mit", "mit"),
        ("ODbL-1.0", "odbl"),
        ("ask the authors", ""),
        ("", ""),
    ],
)
def test_the_hub_is_told_the_id_that_it_knows(licence: str, known: str) -> None:
    assert hub_id(licence) == known


def test_a_known_licence_has_a_page_and_another_stays_as_it_was_given() -> None:
    assert address("cc0-1.0") == "https://spdx.org/licenses/CC0-1.0.html"
    assert address("ask the authors") == "ask the authors"
