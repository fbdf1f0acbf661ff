"""What holds for every family of models that is computed with torch, each tried on a tiny model."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from predictions.scorers import NoPicture, Scorer, scorer_of
from predictions.scorers.batches import BatchedScorer
from tests.models.test_hf import save_blip, save_clip, save_siglip
from tests.models.test_open_clip import save_open_clip
from tests.models.test_vqascore import save_clip_t5, save_llava

TEXTS = ["a dog on a cat", "two red birds under the cat on the dog " * 4, "a cat on a dog"]
FAMILIES: dict[str, Callable[[Path], Path]] = {
    "hf:clip": save_clip,
    "hf:siglip": save_siglip,
    "hf:blip": save_blip,
    "open_clip:tiny-test/": save_open_clip,
    "vqascore:llava": save_llava,
    "vqascore:clip_t5": save_clip_t5,
}


@pytest.fixture(scope="module", params=FAMILIES)
def spec(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    saved = FAMILIES[request.param](tmp_path_factory.mktemp("models") / "tiny")
    family, _, rest = request.param.partition(":")
    return f"{family}:{rest.partition('/')[0] + '/' if '/' in rest else ''}{saved}"


@pytest.fixture
def pairs(pictures: dict[str, Image.Image]) -> list[tuple[str, str]]:
    return [(text, name) for text in TEXTS for name in pictures]


@pytest.fixture
def scorer(spec: str) -> Scorer:
    return scorer_of(spec)


def test_a_score_is_the_same_in_any_company_and_any_order(
    spec: str, scorer: Scorer, pairs: list[tuple[str, str]], pictures: dict[str, Image.Image]
) -> None:
    together = dict(zip(pairs, scorer.score(pairs, pictures.__getitem__), strict=True))
    other = scorer_of(spec)
    assert {pair: other.score([pair], pictures.__getitem__)[0] for pair in reversed(pairs)} == together
    assert scorer.pictures_per_second() > 0


def test_a_picture_that_cannot_be_had_costs_only_its_own_scores(
    scorer: Scorer, pairs: list[tuple[str, str]], pictures: dict[str, Image.Image]
) -> None:
    def open_picture(name: str) -> Image.Image:
        if name == "picture-1":
            raise NoPicture("It is gone.")
        return pictures[name]

    for (_, name), score in zip(pairs, scorer.score(pairs, open_picture), strict=True):
        assert isinstance(score, NoPicture) == (name == "picture-1")


def test_images_stay_eight_bit_pixels_until_they_are_on_the_device(
    scorer: Scorer, pictures: dict[str, Image.Image]
) -> None:
    assert isinstance(scorer, BatchedScorer)
    if scorer.conditions()["scorer"] == "vqascore llava":
        pytest.skip("A generative model has a processor of its own.")
    assert {scorer.preprocess(image).dtype for image in pictures.values()} == {np.dtype(np.uint8)}


def test_scores_are_the_same_when_the_images_were_read_ahead(
    spec: str, scorer: Scorer, pairs: list[tuple[str, str]], pictures: dict[str, Image.Image]
) -> None:
    opened = Counter[str]()

    def open_picture(name: str) -> Image.Image:
        opened[name] += 1
        return pictures[name]

    with scorer.read_ahead(list(pictures), open_picture) as open_ahead:
        ahead = scorer.score(pairs, open_ahead)
    assert opened == dict.fromkeys(pictures, 1)
    assert ahead == scorer_of(spec).score(pairs, pictures.__getitem__)


def test_it_says_which_model_it_is_and_how_its_scores_came_about(spec: str, scorer: Scorer) -> None:
    assert len(scorer.identity.weights) == 64
    assert "tiny" in scorer.identity.name
    conditions = scorer.conditions()
    assert json.loads(json.dumps(conditions)) == conditions == scorer_of(spec).conditions()
    assert (conditions["dtype"], conditions["device"]) == ("float32", "cpu")
    assert {"torch", "torchvision", "Pillow"} < conditions["libraries"].keys()


def test_in_numbers_of_16_bits_scores_are_off_by_less_than_is_supposed(
    scorer: Scorer, pairs: list[tuple[str, str]], pictures: dict[str, Image.Image]
) -> None:
    half = scorer.in_half("bfloat16")
    assert half is not None
    told = half.conditions()
    assert (told["dtype"], told["weights"], told["tolerance"]) == ("bfloat16", "float32", half.tolerance)
    both = zip(*(each.score(pairs, pictures.__getitem__) for each in (scorer, half)), strict=True)
    differences = [abs(float(one) - float(other)) for one, other in both]
    assert 0 < max(differences) <= half.tolerance / 2
    assert (scorer.tolerance, scorer.conditions()["dtype"]) == (0, "float32")
