"""`open_clip:` on a tiny model: it says what OpenCLIP says of the same model."""

import json
from itertools import combinations
from pathlib import Path

import open_clip
import pytest
import torch
from PIL import Image

from predictions.image_sets.embeddings import embedding_of
from predictions.messages import Item
from predictions.scorers import CannotLoad, scorer_of
from predictions.scorers.open_clip import OpenClip
from predictions.scoring import score_items

TEXTS = ["a dog on a cat", "a cat on a dog", "two red birds, and a very long sentence about them " * 9]
TINY = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8},
    "text_cfg": {"context_length": 20, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2},
}


def save_open_clip(folder: Path) -> Path:
    """Make OpenCLIP know a tiny architecture, with and without QuickGELU, and save weights for it."""
    folder.mkdir()
    (folder / "tiny-test.json").write_text(json.dumps(TINY), encoding="utf-8")
    (folder / "tiny-test-quickgelu.json").write_text(json.dumps(TINY | {"quick_gelu": True}), encoding="utf-8")
    open_clip.add_model_config(folder)
    torch.manual_seed(1)
    model = open_clip.create_model("tiny-test")
    # As NegCLIP's file has it: among other things of the training.
    torch.save({"epoch": 3, "state_dict": model.state_dict()}, folder / "tiny.pt")
    return folder / "tiny.pt"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_open_clip(tmp_path_factory.mktemp("open_clip") / "tiny")


def cosines(architecture: str, checkpoint: Path, pictures: dict[str, Image.Image]) -> dict[tuple[str, str], float]:
    """Return what the library says of every text and picture, one at a time."""
    model, _, transform = open_clip.create_model_and_transforms(architecture, pretrained=str(checkpoint))
    model.eval()
    read = open_clip.get_tokenizer(architecture)
    with torch.no_grad():
        seen = {name: model.encode_image(transform(image)[None], normalize=True) for name, image in pictures.items()}
        said = {text: model.encode_text(read([text]), normalize=True) for text in TEXTS}
    return {(text, name): float((said[text] @ seen[name].T).item()) for text in TEXTS for name in pictures}


def load(checkpoint: Path, architecture: str = "tiny-test") -> OpenClip:
    scorer = scorer_of(f"open_clip:{architecture}/{checkpoint}")
    assert isinstance(scorer, OpenClip)
    return scorer


@pytest.mark.parametrize("architecture", ["tiny-test", "tiny-test-quickgelu"])
def test_scores_are_the_librarys_cosines(checkpoint: Path, pictures: dict[str, Image.Image], architecture: str) -> None:
    expected = cosines(architecture, checkpoint, pictures)
    scores = load(checkpoint, architecture).score(list(expected), pictures.__getitem__)
    assert scores == pytest.approx(list(expected.values()), abs=1e-5)


def test_the_two_kinds_of_gelu_do_not_say_the_same(checkpoint: Path, pictures: dict[str, Image.Image]) -> None:
    plain, quick = (cosines(name, checkpoint, pictures) for name in ("tiny-test", "tiny-test-quickgelu"))
    assert max(abs(plain[pair] - quick[pair]) for pair in plain) > 1e-3


def test_openai_weights_get_the_gelu_that_they_were_trained_with(
    checkpoint: Path, pictures: dict[str, Image.Image], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tag that says so, of an architecture that does not, as openai of ViT-B-32."""
    tag = {"file": str(checkpoint), "quick_gelu": True}
    monkeypatch.setitem(open_clip.pretrained._PRETRAINED, "tiny-test", {"openai": tag})
    expected = cosines("tiny-test-quickgelu", checkpoint, pictures)
    scorer = scorer_of("open_clip:tiny-test/openai")
    assert scorer.score(list(expected), pictures.__getitem__) == pytest.approx(list(expected.values()), abs=1e-5)
    assert (scorer.identity.name, scorer.identity.version) == ("OpenCLIP tiny-test", "openai")


def test_other_weights_are_another_model_and_the_same_in_another_file_are_not(checkpoint: Path, tmp_path: Path) -> None:
    state = torch.load(checkpoint, weights_only=True)["state_dict"]
    torch.save(dict(reversed(state.items())), tmp_path / "again.pt")
    state["logit_scale"] += 0.5
    torch.save(state, tmp_path / "other.pt")
    one, again, other = (
        load(file).identity.weights for file in (checkpoint, tmp_path / "again.pt", tmp_path / "other.pt")
    )
    assert one == again
    assert one != other
    assert len(one) == 64


def test_conditions_say_how_the_scores_came_about(checkpoint: Path) -> None:
    scorer = load(checkpoint)
    conditions = scorer.conditions()
    assert conditions["batch"] == 16
    assert conditions["libraries"].keys() == {"torch", "open_clip_torch", "torchvision", "Pillow"}
    assert any("Resize" in step for step in conditions["preprocessing"])
    # On a device that is no quicker in 16 bits there is nothing to gain.
    assert scorer.in_half() is None


@pytest.mark.parametrize(
    ("rest", "sentence"),
    [
        ("ViT-B-32", "does not name weights"),
        ("ViT-B-33/openai", "has no architecture 'ViT-B-33'"),
        ("ViT-B-32/no-such-tag", "neither a file on the worker's machine nor a tag of ViT-B-32. Its tags: openai,"),
        (f"ViT-B-32/{__file__}", r"ViT-B-32/.*\.py cannot be loaded"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_told_in_a_sentence(rest: str, sentence: str) -> None:
    with pytest.raises(CannotLoad, match=sentence):
        scorer_of(f"open_clip:{rest}")


def items_of(pictures: dict[str, Image.Image]) -> list[Item]:
    """Return every text with two pictures at a time, and every picture with two texts."""
    asked = [{one: (text, one), other: (text, other)} for text in TEXTS for one, other in combinations(pictures, 2)]
    asked += [{one: (one, name), other: (other, name)} for name in pictures for one, other in combinations(TEXTS, 2)]
    return [Item(content=str(place), matches=matches) for place, matches in enumerate(asked)]


@pytest.mark.parametrize("numbers", ["bfloat16", "float16"])
def test_in_numbers_of_16_bits_every_question_is_answered_as_in_float32(
    checkpoint: Path, pictures: dict[str, Image.Image], numbers: str
) -> None:
    scorer, items = load(checkpoint), items_of(pictures)
    half = scorer.in_half(numbers)
    assert half is not None
    assert half.conditions()["dtype"] == numbers
    assert half.conditions()["weights"] == "float32"
    exact = score_items(scorer, items, pictures.__getitem__)["results"]
    chunk = score_items(scorer, items, pictures.__getitem__, half=half)
    again = set(chunk["again"]["contents"]) if "again" in chunk else set()
    # Of these few only numbers of 8 bits leave any in doubt.
    assert bool(again) == (numbers == "bfloat16")
    off = 0.0
    for one, other in zip(exact, chunk["results"], strict=True):
        assert max(one["scores"], key=one["scores"].__getitem__) == max(
            other["scores"], key=other["scores"].__getitem__
        )
        differences = [abs(score - other["scores"][option]) for option, score in one["scores"].items()]
        if one["content"] in again:
            assert differences == [0.0, 0.0]
        off = max(off, *differences)
    # It is another way of computing, and not as far off as is supposed.
    assert 0 < off <= half.tolerance / 2
    assert score_items(scorer, items, pictures.__getitem__, half=scorer.in_half(numbers)) == chunk


def test_image_sets_are_made_with_the_librarys_vectors(checkpoint: Path, pictures: dict[str, Image.Image]) -> None:
    model, _, transform = open_clip.create_model_and_transforms("tiny-test", pretrained=str(checkpoint))
    model.eval()
    with torch.no_grad():
        expected = [model.encode_image(transform(image)[None], normalize=True)[0] for image in pictures.values()]
    embedding = embedding_of(f"open_clip:tiny-test/{checkpoint}")
    found = embedding.embed(list(pictures.values()))
    assert found == pytest.approx(torch.stack(expected).numpy(), abs=1e-5)
    assert embedding.name.startswith("OpenCLIP tiny-test tiny.pt ")
