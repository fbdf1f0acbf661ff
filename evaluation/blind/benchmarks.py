"""Blind baselines on whole benchmarks: each question is scored by a model fitted to the others. Pure.

Folds are as in studies (`evaluation.blind.logistic_regression`): a block of a benchmark is an instance, and blocks that
share an image or a text are in one fold. The scores fill the blocks' matrices, so that the benchmark's own rules apply.
A baseline that sees only texts gives a text the same score for all images of its block, so they tie.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from analytics.scores import Floats
from evaluation.blind.accuracy import BlindAccuracy, accuracy_of
from evaluation.blind.cases import Case, Part, merge_cases
from evaluation.blind.features import Features
from evaluation.blind.logistic_regression import FOLDS, CannotFit, folds_of, scores_of_fold
from evaluation.protocols import Benchmark, BenchmarkError, Block, Choice, Evaluation, evaluate

SEEN = {"text": "texts", "image": "images"}


def evaluate_blind(benchmark: Benchmark[Any, Any], data: Any, part: Part, features: Features) -> Evaluation:
    """Fit a blind baseline to a benchmark's questions and return the benchmark's tables, with a note of its accuracy.

    Raises BenchmarkError, also if the benchmark offers no choice between the parts that the baseline sees.
    """
    choices_of_blocks = ([each for each in choices if each.among == part] for choices in benchmark.choices(data))
    asked = [
        (block, [(choice, _case(block, choice)) for choice in choices])
        for block, choices in zip(benchmark.blocks(data), choices_of_blocks, strict=True)
    ]
    cases = [case for _, choices in asked for _, case in choices]
    if not cases:
        raise BenchmarkError(
            f"{benchmark.title} has no choice between {SEEN[part]}, the only part that the baseline sees."
        )
    scores = _score_cases(cases, features)

    def score(blocks: Iterable[Block]) -> Iterator[Floats]:
        for block, (_, choices) in zip(blocks, asked, strict=True):
            matrix = np.zeros((len(block.images), len(block.texts)))
            for choice, case in choices:
                by_place = [scores[case.name][str(place)] for place in range(len(case.options))]
                if part == "text":
                    matrix[choice.of] = by_place
                else:
                    matrix[:, choice.of] = by_place
            yield matrix

    found = evaluate(benchmark, data, score)
    accuracy = accuracy_of([(case, scores[case.name]) for case in cases])
    return replace(found, notes=[*found.notes, _note(part, accuracy)])


def _score_cases(asked: Sequence[Case], features: Features) -> dict[str, dict[str, float]]:
    """Return the scores of the options of each case, by its name."""
    cases = merge_cases(asked)
    missing = features.missing(option for case in cases for option in case.options.values())
    if missing:
        raise BenchmarkError(*(str(why) for why in missing.values()))
    try:
        folds = folds_of(cases)
    except CannotFit as error:
        raise BenchmarkError(str(error)) from error
    return {
        cases[place].name: scores
        for fold in range(FOLDS)
        for place, scores in scores_of_fold(cases, folds, fold, features).items()
    }


def _case(block: Block, choice: Choice) -> Case:
    """Return a choice as a case, its options by their positions."""
    options, shown = (block.texts, block.images) if choice.among == "text" else (block.images, block.texts)
    content = [choice.among, shown[choice.of], list(options), choice.right]
    name = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    shares = {*(f"image {image}" for image in block.images), *(f"text {text}" for text in block.texts)}
    by_place = {str(place): option for place, option in enumerate(options)}
    return Case(name, frozenset(shares), by_place, str(choice.right))


def _note(part: Part, found: BlindAccuracy) -> str:
    """Return the accuracy of a baseline in sentences."""
    interval = "" if found.low is None else f"; 95 % interval {_percents([found.low, found.high])}"
    share, chance = _percents([found.share]), _percents([found.chance])
    what = SEEN[part]
    return (
        f"It sees only {what}, and was fitted to this benchmark in {FOLDS} folds. Of {found.n:,} choices between "
        f"{what} it tells {share} % (guessing gives {chance} %{interval}), a tie counted as a guess. In the table a "
        "tie counts as the benchmark has it, and whatever differs in nothing that it sees ties."
    )


def _percents(shares: Sequence[float | None]) -> str:
    return " to ".join(f"{100 * share:.1f}" for share in shares if share is not None)
