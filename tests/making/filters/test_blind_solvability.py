"""The gate on texts that betray themselves, and on texts that do not."""

import random

from making.filters.base import CandidateText
from making.filters.blind_solvability import BlindSolvability
from tests.making.filters.contexts import no_context

NOUNS = [f"{first}{second}" for first in ("bo", "ka", "mi", "ru", "ti") for second in ("lo", "na", "se", "tu", "va")]


def pairs(count: int, sign: str) -> list[CandidateText]:
    """Return candidates whose made text ends in `sign`, from captions without a word in common but the form."""
    rng = random.Random(4)
    found = []
    for number in range(count):
        one, other = rng.sample(NOUNS, 2)
        texts = [f"a {one} {number} by a {other}", f"a {other} {number} by a {one}"]
        rng.shuffle(texts)
        found.append(CandidateText(f"{texts[1]}{sign}", texts[0], f"start {number}", texts[0]))
    return found


def test_texts_that_a_classifier_tells_stop_the_pipeline() -> None:
    found = BlindSolvability().judge_stage(pairs(60, " unfortunately"), no_context())
    assert found.note.startswith("A blind classifier tells the made text in 100.0 % of 60 pairs, 95 % CI ")
    assert found.note.endswith("–100.0; guessing gives 50 %.")
    assert found.stop.startswith(found.note)
    assert "The interval is above the bound of 60 %, so no instances were made." in found.stop
    assert [verdict.reason for verdict in found.verdicts] == [""] * 60


def test_texts_that_it_cannot_tell_pass_with_what_was_counted() -> None:
    found = BlindSolvability().judge_stage(pairs(200, ""), no_context())
    assert "of 200 pairs, 95 % CI" in found.note
    assert found.stop == ""


def test_a_bound_that_even_the_whole_interval_reaches_is_no_reason_to_stop() -> None:
    assert BlindSolvability(at_most=0.99).judge_stage(pairs(20, " unfortunately"), no_context()).stop == ""


def test_texts_of_one_caption_cannot_be_judged_and_do_not_pass() -> None:
    one = pairs(1, "")
    found = BlindSolvability().judge_stage(
        [*one, CandidateText("a bo", one[0].text, "start 0", one[0].text)], no_context()
    )
    assert found.stop.endswith("Begin with more captions, or remove the filter.")


def test_without_texts_there_is_nothing_to_tell() -> None:
    found = BlindSolvability().judge_stage([], no_context())
    assert (list(found.verdicts), found.note, found.stop) == ([], "There were no texts to tell apart.", "")
