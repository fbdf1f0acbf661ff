"""What the card's first lines say is what a program reads out of them."""

from dataclasses import replace

import pytest
import yaml

from results.exporting.card_text import card_text
from results.exporting.text_templates import sentence
from tests.results.exporting.test_papers import DOSSIER
from tests.results.reports.small import BASELINE, PROJECT


# YAML has false, nothing and numbers for these.
@pytest.mark.parametrize("split", ["test", "no", "null", "2017", "1_000"])
def test_a_split_stays_the_text_that_it_is(split: str) -> None:
    front = card_text(DOSSIER, {split: f"data/{split}-*"}, {}, []).split("---\n")[1]
    assert yaml.safe_load(front)["configs"][0]["data_files"] == [{"split": split, "path": f"data/{split}-*"}]


@pytest.mark.parametrize("title", ["a: b # c", "--- x", '"&<\\%', "two\nlines"])
def test_a_title_stays_the_text_that_it_is(title: str) -> None:
    front = card_text(replace(DOSSIER, title=title), {}, {}, []).removeprefix("---\n").partition("\n---\n")[0]
    assert yaml.safe_load(front)["pretty_name"] == title


@pytest.mark.parametrize(("has_agreement", "times"), [(True, 1), (False, 0)])
def test_agreement_is_announced_only_where_there_is_some(*, has_agreement: bool, times: int) -> None:
    limits = sentence("limits", PROJECT, "", 0, 0, 0, has_agreement)
    assert limits.count("Agreement is reported before and after filtering") == times


@pytest.mark.parametrize(
    ("sessions", "said"),
    [(1, "; 1 session was finished, paid USD 6.00 for"), (2, "; 2 sessions were finished, each paid USD 6.00 for")],
)
def test_one_finished_session_is_no_plural(sessions: int, said: str) -> None:
    assert said in sentence("protocol", replace(BASELINE, sessions={"finished": sessions}))
