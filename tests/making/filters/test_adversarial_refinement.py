"""The refinement of SugarCrepe: cells counted by hand, and choices of its published function with equal seeds."""

import json
from collections import Counter

import pytest
from pydantic import ValidationError

from making.errors import CannotMake
from making.filters.adversarial_refinement import REASON, AdversarialRefinement, refine
from making.filters.base import CandidateText
from tests.making.filters.contexts import no_context
from tests.studies.real_data import REAL_DATA, needs_real_data

# Opposite cells, an empty opposite, a gap of one model alone, and of none.
FIRST = [0.5, 0.5, 0.5, -0.5, -0.5, 0.01, -0.01, 0.3, 0, 0, 0, 0, 0.25, 0.26, -0.24, 0, 0.97]
SECOND = [0.11, 0.11, 0.11, -0.11, -0.11, -0.99, 0.99, 0.3, 0.42, 0.45, -0.41, 0, 0, 0, 0, 0, -0.97]


@pytest.mark.parametrize(
    ("seed", "published"),
    [
        (0, [11, 15, 5, 6, 3, 4, 2, 1, 10, 8, 14, 13]),
        (1, [11, 15, 5, 6, 3, 4, 0, 2, 10, 9, 14, 13]),
        (7, [11, 15, 5, 6, 3, 4, 2, 1, 10, 9, 14, 12]),
    ],
)
def test_it_keeps_what_the_published_function_kept_after_numpy_was_given_this_seed(
    seed: int, published: list[int]
) -> None:
    assert refine(FIRST, SECOND, seed=seed) == published


def test_opposite_cells_keep_equally_many() -> None:
    # Cells of 1/50: 0.011 and 0.019 are in the first, 0.021 in the second.
    first, second = [0.011, 0.019, 0.021, -0.015], [0.5, 0.5, 0.5, -0.5]
    kept = refine(first, second, seed=0)
    assert 3 in kept
    assert len(kept) == 2
    assert kept[1] in (0, 1)


def test_signs_that_are_not_both_changed_are_not_opposite() -> None:
    assert refine([0.5, -0.5], [0.5, 0.5], seed=0) == []
    assert sorted(refine([0.5, -0.5], [0.5, -0.5], seed=0)) == [0, 1]
    assert sorted(refine([0.5, -0.5], [-0.5, 0.5], seed=0)) == [0, 1]


def test_gaps_of_one_model_alone_are_cut_into_tenths_and_pairs_without_a_gap_stay() -> None:
    assert refine([0, 0], [0, 0], seed=3) == [0, 1]
    assert sorted(refine([0, 0, 0], [0.11, -0.19, -0.21], seed=3)) == [0, 1]
    assert sorted(refine([0.11, -0.19, -0.21], [0, 0, 0], seed=3)) == [0, 1]


def test_a_gap_of_one_counts_to_the_last_cell() -> None:
    assert sorted(refine([1, -1, 0.99], [1, -0.99, 0.5], seed=0)) == [0, 1]
    assert sorted(refine([0, 0], [1, -1], seed=0)) == [0, 1]


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [([0.5], [], "do not belong together"), ([1.5], [0], "outside -1 to 1"), ([float("nan")], [0], "outside -1 to 1")],
)
def test_other_numbers_are_refused(first: list[float], second: list[float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        refine(first, second, seed=0)


@needs_real_data
@pytest.mark.parametrize("file", ["add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att"])
def test_of_the_unrefined_texts_of_sugarcrepe_opposite_cells_keep_equally_many(file: str) -> None:
    rows = json.loads((REAL_DATA / f"sugarcrepe/unrefined/{file}.json").read_text(encoding="utf-8")).values()
    # Stand-ins for two models: shares of letters, in whole hundredths, so that cells can be counted in whole numbers.
    gaps = [
        [_share(row["caption"], letters) - _share(row["negative_caption"], letters) for row in rows]
        for letters in ("aeiou", "rst")
    ]
    kept = refine([gap / 100 for gap in gaps[0]], [gap / 100 for gap in gaps[1]], seed=1)
    assert len({*kept}) == len(kept)
    sides = Counter((one > 0) - (one < 0) for place in kept for one in (gaps[0][place],))
    assert sides[1] == sides[-1] > 0
    # Whole hundredths: two to a cell of 1/50, from 0.
    cells = Counter(zip(*([_cell(gap, 2) for gap in of] for of in gaps), strict=True))
    ones = Counter(_cell(gap, 10) for gap, other in zip(*gaps, strict=True) if not other and gap)
    others = Counter(_cell(gap, 10) for other, gap in zip(*gaps, strict=True) if not other and gap)
    expected = cells[0, 0] + sum(min(n, cells[-one, -other]) for (one, other), n in cells.items() if one and other)
    expected += sum(min(n, counts[-cell]) for counts in (ones, others) for cell, n in counts.items())
    assert len(kept) == expected


def _share(text: str, letters: str) -> int:
    """Return how many of a hundred characters are `letters`, rounded."""
    return round(100 * sum(text.lower().count(letter) for letter in letters) / len(text))


def _cell(hundredths: int, width: int) -> int:
    number = abs(hundredths) // width + 1 if hundredths else 0
    return number if hundredths > 0 else -number


def candidate(grammar: float, plausible: float) -> CandidateText:
    return CandidateText("A dog.", "A cat.", scores={"grammar gap": grammar, "plausible gap": plausible})


def test_the_filter_reads_the_gaps_of_two_filters_before_it() -> None:
    candidates = [candidate(0.5, 0.5), candidate(-0.5, -0.5), candidate(0.1, 0.5)]
    found = AdversarialRefinement().judge_stage(candidates, no_context())
    assert [verdict.reason for verdict in found.verdicts] == ["", "", REASON]
    assert (found.note, found.stop) == ("It kept 2 of 3.", "")
    assert AdversarialRefinement().measured_by == ["grammar", "plausible"]


def test_a_filter_without_gaps_is_named() -> None:
    with pytest.raises(CannotMake, match="The filter length measured no gap"):
        AdversarialRefinement(gaps=["length", "grammar"]).judge_stage([candidate(0.5, 0.5)], no_context())
    with pytest.raises(ValidationError):
        AdversarialRefinement(gaps=["grammar"])
