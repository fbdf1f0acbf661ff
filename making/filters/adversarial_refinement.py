"""Adversarial refinement: keep as many texts on each side of the score gaps of two models that see only texts.

Source: Hsieh et al. 2023, "SugarCrepe: fixing hackable benchmarks for vision-language compositionality", section 4, and
its published function `adversarial_refine`. TROHN (Sánchez et al. 2024) refines the same way.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from making.errors import CannotMake
from making.filters.base import CandidateText, FilterInput, StageContext, StageFilter, StageVerdicts, Verdict, gap_name

# Cells of one side of an axis, for gaps from 0 to 1; fewer where one of the two gaps is 0.
CELLS, CELLS_OF_ONE = 50, 10
REASON = "Adversarial refinement leaves it out: too many texts have a gap like its own."


class AdversarialRefinement(StageFilter):
    """Keep equally many texts on both sides of the score gaps of two models, so that these cannot recognise them.

    `gaps`: two filters before it that score texts and the texts that they were made from, from 0 to 1.
    """

    version: ClassVar[str] = "1"

    gaps: list[str] = Field(default=["grammar", "plausible"], min_length=2, max_length=2)
    seed: int = Field(default=0, ge=0, le=2**32 - 1)

    @property
    def measured_by(self) -> Sequence[str]:
        return self.gaps

    def judge_stage(self, candidates: Sequence[FilterInput], context: StageContext) -> StageVerdicts:
        first, second = ([_gap(each, name) for each in candidates] for name in self.gaps)
        kept = {*refine(first, second, seed=self.seed)}
        verdicts = [Verdict("" if place in kept else REASON) for place in range(len(candidates))]
        return StageVerdicts(verdicts, f"It kept {len(kept):,} of {len(candidates):,}.")


def _gap(candidate: FilterInput, name: str) -> float:
    gap = candidate.scores.get(gap_name(name)) if isinstance(candidate, CandidateText) else None
    if gap is None:
        raise CannotMake(f"The filter {name} measured no gap of a text. Use one that scores texts, such as grammar.")
    return gap


def refine(first: Sequence[float], second: Sequence[float], *, seed: int) -> list[int]:
    """Return the places of the pairs that adversarial refinement keeps, each once, in the order of the source.

    first, second: for each pair of a positive and a negative text, the score of the positive one minus that of the
    negative one, by two models; -1 to 1. Raises ValueError for other numbers and for different lengths.

    The plane of both gaps is cut into cells of 1/50. The cell opposite has both signs changed. Of two opposite cells,
    random pairs of the fuller one go until both are equally full. Where one gap is 0, the other's axis is cut into
    cells of 1/10; pairs whose gaps are both 0 stay. A gap of exactly 1 or -1, for which the source has no cell, counts
    to the last one. The random choices are those of the source after `numpy.random.seed(seed)`.

    Example: first [0.5, 0.5, -0.5], second [0.1, 0.1, -0.1]: one of the first two, and the third.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} gaps of one model and {len(second)} of the other do not belong together.")
    if not all(-1 <= gap <= 1 for gap in (*first, *second)):
        raise ValueError("A gap is outside -1 to 1. Use models whose scores are from 0 to 1.")
    # The source draws from this generator, so that equal seeds give equal choices.
    rng = np.random.RandomState(seed)
    kept: list[int] = []
    both: dict[tuple[int, int], list[int]] = defaultdict(list)
    only_second: dict[int, list[int]] = defaultdict(list)
    only_first: dict[int, list[int]] = defaultdict(list)
    for place, (one, other) in enumerate(zip(first, second, strict=True)):
        if one and other:
            both[_cell(one, CELLS), _cell(other, CELLS)].append(place)
        elif other:
            only_second[_cell(other, CELLS_OF_ONE)].append(place)
        elif one:
            only_first[_cell(one, CELLS_OF_ONE)].append(place)
        else:
            kept.append(place)
    for row in range(1, CELLS + 1):
        for column in range(1, CELLS + 1):
            for here, opposite in (((row, column), (-row, -column)), ((row, -column), (-row, column))):
                if here in both and opposite in both:
                    kept += _equally_many(both[here], both[opposite], rng)
    for cells in (only_second, only_first):
        if cells:
            for cell in range(1, CELLS_OF_ONE + 1):
                kept += _equally_many(cells[cell], cells[-cell], rng)
    return kept


def _cell(gap: float, cells: int) -> int:
    """Return the number of a gap's cell: 1 to `cells`, with the sign of the gap."""
    number = min(int(abs(gap) * cells) + 1, cells)
    return number if gap > 0 else -number


def _equally_many(positive: list[int], negative: list[int], rng: np.random.RandomState) -> list[int]:
    """Return all of the shorter list and as many of the longer one; the source draws even where all stay."""
    fewer, more = (negative, positive) if len(positive) > len(negative) else (positive, negative)
    chosen: list[int] = rng.choice(np.array(more, dtype=int), len(fewer), replace=False).tolist()
    return [*fewer, *chosen]
