"""Train BiVLC's detector of synthetic texts on SugarCrepe's captions, before and after adversarial refinement.

    python -m benchmarks.text_detector ../shared/data/sugarcrepe [--files swap_att replace_rel]

It runs in the environment of the site, and starts a second process in that of models. FOLDER has SugarCrepe's files,
and in `unrefined` those that its authors published from before refinement, which are cut to as many pairs, because more
teach more. The recipe `detector-text` trains a layer on a frozen text tower, here one with random weights. It is
trained in 5 folds: pairs with a photo or a caption in common are in one fold, so that every caption is judged by a
detector that has not seen its photo.

The unrefined pairs are also refined here: `adversarial-refinement` keeps as many on each side of the gaps of the
detector and of the n-grams. Printed are the same scores on what is kept, and those of models that are trained again.

Each line has the share of captions that are told apart (BiVLC's detection accuracy) and of pairs whose negative caption
the detector finds more synthetic, the second also for the n-grams (`text-only:ngrams`) in the same folds. Guessing
gives 50 %. Intervals are of 95 %, for other pairs.
"""

import argparse
import json
import logging
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from math import tanh
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from evaluation.benchmark_files import filename_of, records_of
from evaluation.blind.accuracy import BlindAccuracy, accuracy_of, blind_accuracy
from evaluation.blind.cases import Case, groups_of
from evaluation.blind.logistic_regression import FOLDS, folds_of, scores_of_fold
from evaluation.blind.ngrams import Ngrams
from making.filters.adversarial_refinement import refine
from tests.models.torchvision_on_cpu import declare_operators
from training.examples import Example

NATURAL, SYNTHETIC = "natural", "synthetic"
FILES = ("add_obj", "replace_obj", "replace_att", "replace_rel", "swap_att")
TOWERS = {
    "embed_dim": 256,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 16},
    "text_cfg": {"context_length": 32, "vocab_size": 49408, "width": 128, "heads": 2, "layers": 1, "mlp_ratio": 1},
}
OPTIONS = {"batch": 64, "epochs": 8, "learning_rate": 3e-3}
# Scores of the options of each case.
Scores = Sequence[Mapping[str, float]]


class Detectors:
    """A process with the libraries of models, which trains a detector for each fold and returns its scores."""

    def __init__(self, python: str) -> None:
        command = [python, "-m", "benchmarks.text_detector", "--train"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def score(self, cases: Sequence[Case], folds: Sequence[int]) -> Scores:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([[dict(case.options) for case in cases], list(folds)]), file=self._process.stdin, flush=True)
        found: list[dict[str, float]] = json.loads(self._process.stdout.readline())
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", nargs="+", default=FILES, choices=FILES)
    parser.add_argument("--models-python", default=".venv-models/bin/python", help="of the environment of models")
    given = parser.parse_args()
    print("| pairs | n | captions, detector (%) | pairs, detector (%) | pairs, n-grams (%) |")
    print("| --- | --- | --- | --- | --- |")
    detectors = Detectors(given.models_python)
    for name in given.files:
        refined, whole = (_read(given.folder / folder / f"{name}.json") for folder in ("", "unrefined"))
        unrefined = Random(1).sample(whole, len(refined))
        scores = _score(unrefined, detectors)
        _print(f"{name}, before refinement", unrefined, *scores)
        _print(f"{name}, refined by its authors", refined, *_score(refined, detectors))
        kept = refine(*([_gap(of_case) for of_case in each] for each in scores), seed=0)
        left = [unrefined[place] for place in kept]
        _print(f"{name}, refined here, same models", left, *([each[place] for place in kept] for each in scores))
        _print(f"{name}, refined here, trained again", left, *_score(left, detectors))


def _gap(scores: Mapping[str, float]) -> float:
    """Return how much more natural the right caption is, -1 to 1: the difference of the probabilities."""
    return (tanh(scores[NATURAL] / 2) - tanh(scores[SYNTHETIC] / 2)) / 2


def _score(cases: Sequence[Case], detectors: Detectors) -> tuple[Scores, Scores]:
    """Return the scores of the detector, which are log-odds, and of the n-grams, from the other folds."""
    folds = folds_of(cases)
    by_ngrams: dict[int, Mapping[str, float]] = {}
    for fold in range(FOLDS):
        by_ngrams |= scores_of_fold(cases, folds, fold, Ngrams())
    return detectors.score(cases, folds), [by_ngrams[place] for place in range(len(cases))]


def _print(title: str, cases: Sequence[Case], by_detector: Scores, by_ngrams: Scores) -> None:
    """Print a line. Each caption alone is a question with two options: its log-odds against 0."""
    alone = [[odds[key], 0.0] for odds in by_detector for key in (NATURAL, SYNTHETIC)]
    groups = [group for group in groups_of(cases) for _ in (NATURAL, SYNTHETIC)]
    shares = [
        blind_accuracy(alone, [0, 1] * len(cases), groups),
        *(accuracy_of(list(zip(cases, each, strict=True))) for each in (by_detector, by_ngrams)),
    ]
    print(f"| {title} | {len(cases):,} | {' | '.join(map(_with_interval, shares))} |", flush=True)


def _with_interval(found: BlindAccuracy) -> str:
    if found.share is None or found.low is None or found.high is None:
        return f"— ({found.reason})"
    return f"{100 * found.share:.1f} ({100 * found.low:.1f}–{100 * found.high:.1f})"


def _read(path: Path) -> list[Case]:
    """Return the pairs of a file of SugarCrepe."""
    found = []
    for record in records_of(path, "sugarcrepe"):
        texts = {NATURAL: record.captions["caption"], SYNTHETIC: record.captions["negative_caption"]}
        shares = {f"picture {filename_of(record, 'image')}", *(f"text {text}" for text in texts.values())}
        found.append(Case(f"{path.stem} {record.key}", frozenset(shares), texts, NATURAL))
    return found


def train_detectors() -> None:
    """Read cases and their folds from the standard input, a line for each set of them, and write their scores."""
    import torch

    declare_operators()
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        base = _save_towers(Path(scratch))
        for line in sys.stdin:
            options, folds = json.loads(line)
            found: dict[int, Mapping[str, float]] = {}
            for fold in range(FOLDS):
                score = _train([one for one, other in zip(options, folds, strict=True) if other != fold], base)
                of_fold = [place for place, other in enumerate(folds) if other == fold]
                found |= zip(of_fold, score([options[place] for place in of_fold]), strict=True)
            print(json.dumps([found[place] for place in range(len(folds))]), flush=True)


def _train(options: Sequence[Mapping[str, str]], base: str) -> Callable[[Sequence[Mapping[str, str]]], Scores]:
    """Return what a detector that is trained on these pairs says of others."""
    from predictions.scorers import scorer_of
    from training.loop import Plan, train

    examples = [Example(str(number), ("",), (one[NATURAL], one[SYNTHETIC])) for number, one in enumerate(options)]
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan("detector-text", base, "detector", OPTIONS, device="cpu", checkpoint_steps=10**9)
        scorer = scorer_of(train(plan, examples, [], _never, Path(folder), lambda progress: None).spec)

    def score(options: Sequence[Mapping[str, str]]) -> Scores:
        texts = list(dict.fromkeys(text for one in options for text in one.values()))
        numbers = np.array(scorer.score([(text, "") for text in texts], _never), dtype=float).tolist()
        of_texts = dict(zip(texts, numbers, strict=True))
        return [{key: of_texts[text] for key, text in one.items()} for one in options]

    return score


def _never(name: str) -> Any:
    raise AssertionError("A detector of texts opens no image.")


def _save_towers(folder: Path) -> str:
    """Save towers with random weights; return their spec."""
    import open_clip
    import torch

    (folder / "random.json").write_text(json.dumps(TOWERS), encoding="utf-8")
    open_clip.add_model_config(folder / "random.json")
    torch.manual_seed(1)
    torch.save(open_clip.create_model("random").state_dict(), folder / "random.pt")
    return f"open_clip:random/{folder / 'random.pt'}"


if __name__ == "__main__":
    train_detectors() if sys.argv[1:] == ["--train"] else main()
