"""NegCLIP: its batches, and a tiny model that gets better."""

import random
from pathlib import Path

import numpy as np
import pytest

from predictions.scorers import scorer_of
from tests.models.training.conftest import drawn
from training.loop import Plan, Progress, train
from training.recipes.negclip import NearestImages, NegCLIP, nearest_rows

QUICK = {"batch": 7, "epochs": 12, "learning_rate": 2e-3, "warmup_steps": 5, "precision": "float32"}


def test_nearest_rows() -> None:
    angles = np.radians([0, 10, 90, 95, 180])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert nearest_rows(vectors, 2) == [[1, 2], [0, 2], [3, 1], [2, 1], [3, 2]]
    assert nearest_rows(vectors[:2], 3) == [[1], [0]]
    assert nearest_rows(vectors[:1], 3) == [[]]


def test_a_batch_has_the_nearest_images_and_negative_captions_of_both(base: str) -> None:
    examples, pictures = drawn(1)
    trainable = NegCLIP(nearest=1).load(base, 0, "cpu")
    assert isinstance(trainable, NearestImages)
    trainable.prepare(examples, pictures.__getitem__)
    batch = trainable.batch(examples[:2], random.Random(0))
    assert len(batch.images) == 4
    assert batch.images[:2] == [example.images[0] for example in examples[:2]]
    of_image = {example.images[0]: example for example in examples}
    every = [of_image[name] for name in batch.images]
    assert batch.texts[:4] == [example.captions[0] for example in every]
    assert batch.texts[4:] == [example.captions[1] for example in every]


def test_a_tiny_model_gets_better_and_predictions_load_it(base: str, folder: Path) -> None:
    examples, pictures = drawn(2)
    plan = Plan("negclip", base, "better", QUICK, device="cpu")
    reports: list[Progress] = []
    result = train(plan, examples, examples, pictures.__getitem__, folder, reports.append)
    losses = [point.losses["loss"] for point in result.curve if point.losses]
    assert len(losses) == result.steps == 24
    assert np.mean(losses[-3:]) < 0.8 * losses[0]
    scorer = scorer_of(result.spec)
    assert scorer.identity.weights == result.weights != scorer_of(base).identity.weights
    # The score is what predictions say of the same model: how often the caption beats the negative one.
    pairs = [(text, one.images[0]) for one in examples for text in one.captions]
    scores = np.array(scorer.score(pairs, pictures.__getitem__), dtype=float).reshape(-1, 2)
    assert result.score == pytest.approx((scores[:, 0] > scores[:, 1]).mean(), abs=1e-9)
    before = np.array(scorer_of(base).score(pairs, pictures.__getitem__), dtype=float).reshape(-1, 2)
    assert result.score is not None
    assert result.score >= (before[:, 0] > before[:, 1]).mean() + 0.2
    assert (reports[-1].step, reports[-1].best, reports[-1].seconds_left) == (24, result.score, 0.0)
    # A second call does not train again.
    assert train(plan, examples, examples, pictures.__getitem__, folder, reports.append) == result
