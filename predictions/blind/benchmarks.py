"""Blind baselines on whole benchmarks: fitted in folds to a benchmark's own questions, each scored by the others. Pure.

Folds are as in studies (`predictions.blind.fitting`): a block of a benchmark is an instance, and blocks that share an
image or a text stand in one fold. What is scored is put into the blocks' matrices, so that the benchmark's own rules
count it: of a baseline that sees only texts, a text has the same score beside all images of its block, which then tie.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from analytics.blind_baselines import BlindAccuracy, blind_accuracy
from analytics.scores import Floats
from evaluation.protocols import Benchmark, BenchmarkError, Block, Choice, Evaluation, evaluate
from predictions.blind import Fitted, Sees
from predictions.blind.cases import Case, groups_of
from predictions.blind.features import Features
from predictions.blind.fitting import FOLDS, CannotFit, folds_of, scores_of_fold

SEEN = {"text": "texts", "image": "images"}


def evaluate_blind(benchmark: Benchmark[Any, Any], data: Any, baseline: Fitted, features: Features) -> Evaluation:
    """Fit a blind baseline to a benchmark's questions and return the benchmark's tables, with a note of how many it
    tells. Raises BenchmarkError, also where the benchmark asks nothing that the baseline sees."""
    scorer = _Scorer(benchmark, data, baseline.sees, features)
    found = evaluate(benchmark, data, scorer)
    return replace(found, notes=[*found.notes, _note(baseline.sees, scorer.accuracy())])


class _Scorer:
    """A `evaluation.protocols.Scorer` for the blocks of one benchmark, all at once."""

    def __init__(self, benchmark: Benchmark[Any, Any], data: Any, sees: Sees, features: Features) -> None:
        self._sees, self._features = sees, features
        asked = ([each for each in choices if each.among == sees] for choices in benchmark.choices(data))
        blocks = benchmark.blocks(data)
        # Each choice with the block that it stands in.
        self._asked = [(block, choices) for block, choices in zip(blocks, asked, strict=True)]
        self._cases = [_case(block, choice) for block, choices in self._asked for choice in choices]
        if not self._cases:
            raise BenchmarkError(
                [f"{benchmark.title} asks for no choice between {SEEN[sees]}, which is all that is seen."]
            )
        self._scores = self._fitted()

    def __call__(self, blocks: Iterable[Block]) -> Iterator[Floats]:
        scored = iter(self._cases)
        for block, (_, choices) in zip(blocks, self._asked, strict=True):
            matrix = np.zeros((len(block.images), len(block.texts)))
            for choice in choices:
                scores = self._scores[next(scored).name]
                row = [scores[str(place)] for place in range(len(scores))]
                if self._sees == "text":
                    matrix[choice.of] = row
                else:
                    matrix[:, choice.of] = row
            yield matrix

    def accuracy(self) -> BlindAccuracy:
        scores = [self._scores[case.name] for case in self._cases]
        return blind_accuracy(
            [[each[key] for key in case.options] for each, case in zip(scores, self._cases, strict=True)],
            [list(case.options).index(case.right) for case in self._cases],
            groups_of(self._cases),
        )

    def _fitted(self) -> dict[str, dict[str, float]]:
        """Return the scores of the options of each case, by its name; what shows the same is one case."""
        by_name: dict[str, Case] = {}
        for case in self._cases:
            there = by_name.setdefault(case.name, case)
            by_name[case.name] = replace(there, shares=there.shares | case.shares)
        cases = list(by_name.values())
        missing = self._features.missing(option for case in cases for option in case.options.values())
        if missing:
            raise BenchmarkError([str(why) for why in missing.values()])
        try:
            folds = folds_of(cases)
        except CannotFit as error:
            raise BenchmarkError([str(error)]) from error
        of_each = chain.from_iterable(
            scores_of_fold(cases, folds, fold, self._features).items() for fold in range(FOLDS)
        )
        return {cases[place].name: scores for place, scores in of_each}


def _case(block: Block, choice: Choice) -> Case:
    """Return a choice as what a baseline learns from, its options by their places."""
    options, shown = (block.texts, block.images) if choice.among == "text" else (block.images, block.texts)
    told = [choice.among, shown[choice.of], list(options), choice.right]
    name = hashlib.sha256(json.dumps(told).encode()).hexdigest()
    shares = {*(f"image {image}" for image in block.images), *(f"text {text}" for text in block.texts)}
    return Case(
        name,
        frozenset(shares),
        {str(place): option for place, option in enumerate(options)},
        str(choice.right),
    )


def _note(sees: Sees, found: BlindAccuracy) -> str:
    """Return how many choices a baseline tells, in a sentence."""
    interval = (
        "" if found.low is None or found.high is None else f"; 95 % interval {_percents([found.low, found.high])}"
    )
    share, chance = _percents([found.share]), _percents([found.chance])
    what = SEEN[sees]
    return (
        f"It sees only {what}, and was fitted to this benchmark in {FOLDS} folds. Of {found.n:,} choices between "
        f"{what} it tells {share} % (guessing gives {chance} %{interval}), a tie counted as a guess. In the table a "
        "tie counts as the benchmark has it, and whatever differs in nothing that it sees ties."
    )


def _percents(shares: Sequence[float | None]) -> str:
    return " to ".join(f"{100 * share:.1f}" for share in shares if share is not None)
