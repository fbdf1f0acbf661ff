"""What the card's first lines say is what a program reads out of them."""

from dataclasses import replace

import pytest
import yaml

from results.exporting.card_text import card_text
from tests.results.exporting.test_papers import DOSSIER


# YAML has false, nothing and numbers for these.
@pytest.mark.parametrize("split", ["test", "no", "null", "2017", "1_000"])
def test_a_split_stays_the_text_that_it_is(split: str) -> None:
    front = card_text(DOSSIER, {split: f"data/{split}-*"}, {}, []).split("---\n")[1]
    assert yaml.safe_load(front)["configs"][0]["data_files"] == [{"split": split, "path": f"data/{split}-*"}]


@pytest.mark.parametrize("title", ["a: b # c", "--- x", '"&<\\%', "two\nlines"])
def test_a_title_stays_the_text_that_it_is(title: str) -> None:
    front = card_text(replace(DOSSIER, title=title), {}, {}, []).removeprefix("---\n").partition("\n---\n")[0]
    assert yaml.safe_load(front)["pretty_name"] == title
