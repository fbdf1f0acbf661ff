import csv
from itertools import islice

import pytest

from studies.importing.captions import CAPTION_RULES
from tests.studies.real_data import REAL_DATA, needs_real_data


def test_as_is_changes_nothing() -> None:
    assert CAPTION_RULES["as-is-v1"](" a  cat\n") == " a  cat\n"


@pytest.mark.parametrize(
    ("given", "released"),
    [
        (" A cat naps", "A cat naps."),
        ("a DJ in NYC.", "A dj in nyc."),
        ("two  spaces stay", "Two  spaces stay."),
        ("Why? ", "Why?."),
    ],
)
def test_bivlc_release_strips_ends_with_a_full_stop_and_capitalises(given: str, released: str) -> None:
    assert CAPTION_RULES["bivlc-release-v1"](given) == released


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (" a DJ in  NYC ", "A DJ in NYC."),
        ("one line\nand another.", "One line and another."),
        ("Why would a cow graze here?", "Why would a cow graze here?"),
        ('Beside the word "stop."', 'Beside the word "stop."'),
        ('Beside the word "stop"', 'Beside the word "stop".'),
        ("A ship in the bay,", "A ship in the bay."),
        ('"hot" soup', '"Hot" soup.'),
        ("2 women", "2 women."),
        ("A MAN IS SITTING", "A MAN IS SITTING."),
        ("два робота", "Два робота."),
        ("猫がいる。", "猫がいる。"),
    ],
)
def test_keep_case_makes_one_tidy_sentence_and_keeps_capitals(given: str, kept: str) -> None:
    assert CAPTION_RULES["keep-case-v1"](given) == kept


@pytest.mark.parametrize("rule", ["bivlc-release-v1", "keep-case-v1"])
@needs_real_data
def test_a_formatted_caption_stays_as_it_is_when_formatted_again(rule: str) -> None:
    with (REAL_DATA / "bivlc/BiVLC_negative_imgs.csv").open(encoding="utf-8", newline="") as file:
        captions = [row["negative_caption"] for row in csv.DictReader(file)]
    assert len(captions) == 7512
    formatted = [CAPTION_RULES[rule](caption) for caption in captions]
    assert [CAPTION_RULES[rule](caption) for caption in formatted] == formatted


@needs_real_data
def test_with_the_release_rule_every_accepted_row_becomes_the_released_row() -> None:
    rule = CAPTION_RULES["bivlc-release-v1"]
    with (REAL_DATA / "bivlc/accepted.csv").open(encoding="utf-8", newline="") as file:
        accepted = [row for row in csv.DictReader(file) if row["accepted"] == "true"]
    with (REAL_DATA / "bivlc/results/BiVLC_ViT-B-32.csv").open(encoding="utf-8", newline="") as file:
        released = list(islice(csv.DictReader(file), 3000))
    assert len(accepted) == len(released) == 2933
    for row in accepted:
        release = released[int(row["release_row"])]
        assert (rule(row["caption"]), rule(row["negative_caption"])) == (
            release["caption"],
            release["negative_caption"],
        )


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("A man, on a hill . ", "a man, on a hill"),
        ("A man , on a hill!", "a man , on a hill"),
        ('"Hot" (very) soup: *good*;#1~', "hot very soup good 1"),
        ("Two  spaces\nand a line", "two spaces and a line"),
        (" ".join(map(str, range(40))), " ".join(map(str, range(30)))),
    ],
)
def test_retrieval_models_read_small_letters_without_marks_and_30_words(given: str, read: str) -> None:
    assert CAPTION_RULES["retrieval-v1"](given) == read
