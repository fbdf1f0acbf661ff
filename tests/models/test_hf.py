"""`hf:` on tiny models of each type: it says what transformers says of the same model."""

import json
from collections.abc import Callable
from math import exp
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from transformers import (
    AutoImageProcessor,
    AutoModel,
    AutoTokenizer,
    BlipConfig,
    BlipForImageTextRetrieval,
    BlipImageProcessor,
    BlipModel,
    CLIPConfig,
    CLIPImageProcessor,
    CLIPModel,
    SiglipConfig,
    SiglipImageProcessor,
    SiglipModel,
)

from predictions.scorers import CannotLoad, NoPicture, scorer_of
from predictions.scorers.transformers_models import Preprocessing
from tests.models.tiny_words import tokenizer

WORDS = ["<pad>", "<start>", "<end>", "<unk>", *["a", "an", "on", "dog", "cat", "two", "red", "birds", "under", "the"]]
SHORT = ["a dog on a cat", "a cat on a dog", "two red birds"]
TEXTS = ["a dog on a cat", "a cat on a dog", "two red birds " * 20]
LONGEST = 12
VISION = {
    **{"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2},
    **{"image_size": 32, "patch_size": 8},
}
TEXT = {
    **{"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2},
    **{"vocab_size": len(WORDS), "max_position_embeddings": LONGEST},
    **{"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
}


WRITTEN = tokenizer(WORDS, form="<start> $A <end>")


def save_clip(folder: Path) -> Path:
    torch.manual_seed(1)
    CLIPModel(CLIPConfig(text_config=TEXT, vision_config=VISION, projection_dim=16)).save_pretrained(folder)
    CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}).save_pretrained(folder)
    WRITTEN.save_pretrained(folder)
    return folder


def save_siglip(folder: Path) -> Path:
    torch.manual_seed(1)
    SiglipModel(SiglipConfig(text_config=TEXT, vision_config=VISION)).save_pretrained(folder)
    SiglipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    WRITTEN.save_pretrained(folder)
    return folder


def save_blip(folder: Path) -> Path:
    torch.manual_seed(1)
    text = TEXT | {"encoder_hidden_size": 32, "max_position_embeddings": 40}
    config = BlipConfig(text_config=text, vision_config=VISION, projection_dim=16, image_text_hidden_size=16)
    BlipForImageTextRetrieval(config).save_pretrained(folder)
    BlipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    WRITTEN.save_pretrained(folder)
    return folder


def cosines(folder: Path, pictures: dict[str, Image.Image]) -> dict[tuple[str, str], float]:
    """Return the cosines that the library's own `forward` computes with, one text and picture at a time.

    It gives logits, which are the cosines times a scale, plus a bias in SigLIP.
    """
    model, read = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    process = AutoImageProcessor.from_pretrained(folder)
    bias = float(getattr(model, "logit_bias", torch.zeros(1)).item())
    found = {}
    for text in TEXTS:
        whole = {"padding": "max_length", "truncation": True, "max_length": LONGEST, "return_tensors": "pt"}
        said: dict[str, Any] = read(text, **whole)
        if model.config.model_type == "siglip":
            # As in the library's examples: its tokenizer gives no mask.
            said = {"input_ids": said["input_ids"]}
        else:
            said = {"input_ids": said["input_ids"], "attention_mask": said["attention_mask"]}
        for name, image in pictures.items():
            with torch.no_grad():
                logit = model(**said, pixel_values=process(images=image, return_tensors="pt")["pixel_values"])
            found[text, name] = (float(logit.logits_per_image.item()) - bias) / float(model.logit_scale.exp().item())
    return found


def probabilities(folder: Path, pictures: dict[str, Image.Image]) -> dict[tuple[str, str], float]:
    """Return how probable the library's own `forward` calls it that they match, one text and picture at a time."""
    model, read = BlipForImageTextRetrieval.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    process = AutoImageProcessor.from_pretrained(folder)
    found = {}
    for text in SHORT:
        said = read(text, return_tensors="pt")
        asked = {name: said[name] for name in ("input_ids", "attention_mask")}
        for name, image in pictures.items():
            with torch.no_grad():
                told = model(**asked, pixel_values=process(images=image, return_tensors="pt")["pixel_values"])
            found[text, name] = float(told.itm_score.softmax(dim=1)[0, 1])
    return found


def test_scores_of_blip_are_its_probabilities_as_log_odds(tmp_path: Path, pictures: dict[str, Image.Image]) -> None:
    blip = save_blip(tmp_path / "tiny")
    expected = probabilities(blip, pictures)
    assert max(expected.values()) - min(expected.values()) > 1e-4
    scores = scorer_of(f"hf:{blip}").score(list(expected), pictures.__getitem__)
    for probability, score in zip(expected.values(), scores, strict=True):
        assert not isinstance(score, NoPicture)
        assert 1 / (1 + exp(-score)) == pytest.approx(probability, abs=1e-5)
    # Without its matching head it is refused.
    BlipModel(BlipConfig.from_pretrained(blip)).save_pretrained(blip)
    with pytest.raises(CannotLoad, match="lacks required weights"):
        scorer_of(f"hf:{blip}")


@pytest.mark.parametrize("save", [save_clip, save_siglip])
def test_scores_are_the_librarys_cosines(
    save: Callable[[Path], Path], tmp_path: Path, pictures: dict[str, Image.Image]
) -> None:
    saved = save(tmp_path / "tiny")
    expected = cosines(saved, pictures)
    assert max(expected.values()) - min(expected.values()) > 1e-3
    scorer = scorer_of(f"hf:{saved}")
    assert scorer.score(list(expected), pictures.__getitem__) == pytest.approx(list(expected.values()), abs=1e-5)
    assert (scorer.identity.name, scorer.identity.version) == ("tiny", "")
    assert len(scorer.conditions()["preprocessing"]["image_mean"]) == 3


@pytest.mark.parametrize("other", [{"do_rescale": False}, {"do_normalize": False}, {"rescale_factor": 1 / 127.5}])
def test_other_steps_of_a_processor_give_what_it_gives(other: dict[str, Any], pictures: dict[str, Image.Image]) -> None:
    """In two steps or, where it cannot do them, in one."""
    processor = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}, **other)
    preprocessing = Preprocessing(processor)
    for image in pictures.values():
        pixels = torch.from_numpy(preprocessing.pixels(image))[None]
        found = preprocessing.normalize(pixels) if pixels.dtype == torch.uint8 else pixels
        assert torch.equal(found, processor(images=image, return_tensors="pt")["pixel_values"])


def test_a_processor_that_cannot_do_two_steps_is_used_as_it_is(pictures: dict[str, Image.Image]) -> None:
    whole = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})

    def process(images: Image.Image, return_tensors: str, **steps: bool) -> Any:
        return whole(images=images, return_tensors=return_tensors)

    preprocessing = Preprocessing(process)
    assert not preprocessing.in_two_steps
    assert Preprocessing(whole).in_two_steps
    image = pictures["picture-0"]
    expected = whole(images=image, return_tensors="pt")["pixel_values"][0]
    assert torch.equal(torch.from_numpy(preprocessing.pixels(image)), expected)


def test_what_cannot_be_loaded_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CannotLoad, match=r"no-such-model cannot be loaded .*a folder on the worker's machine\.$"):
        scorer_of("hf:nobody/no-such-model")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(CannotLoad, match=r"is a model of the type 'bert'; those of clip, siglip, blip can be used"):
        scorer_of(f"hf:{tmp_path}")
