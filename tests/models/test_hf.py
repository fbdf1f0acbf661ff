"""`hf:` on tiny models of each type: it says what transformers says of the same model."""

import json
from math import exp
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers, processors
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
    PreTrainedTokenizerFast,
    SiglipConfig,
    SiglipImageProcessor,
    SiglipModel,
)

from predictions.scorers import CannotLoad, NoPicture, scorer_of

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


def save_tokenizer(folder: Path) -> None:
    """Save a tokenizer of words that marks the end of a text, as those of both types do."""
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<start> $A <end>", special_tokens=[("<start>", 1), ("<end>", 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<start>", eos_token="<end>", unk_token="<unk>"
    ).save_pretrained(folder)


@pytest.fixture(scope="module", params=["clip", "siglip"])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a tiny model of each type, as its makers do."""
    folder = tmp_path_factory.mktemp(request.param) / f"tiny-{request.param}"
    torch.manual_seed(1)
    if request.param == "clip":
        CLIPModel(CLIPConfig(text_config=TEXT, vision_config=VISION, projection_dim=16)).save_pretrained(folder)
        CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}).save_pretrained(folder)
    else:
        SiglipModel(SiglipConfig(text_config=TEXT, vision_config=VISION)).save_pretrained(folder)
        SiglipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    save_tokenizer(folder)
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


@pytest.fixture(scope="module")
def blip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blip") / "tiny-blip"
    torch.manual_seed(1)
    text = TEXT | {"encoder_hidden_size": 32, "max_position_embeddings": 40}
    config = BlipConfig(text_config=text, vision_config=VISION, projection_dim=16, image_text_hidden_size=16)
    BlipForImageTextRetrieval(config).save_pretrained(folder)
    BlipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    save_tokenizer(folder)
    return folder


def probabilities(folder: Path, pictures: dict[str, Image.Image]) -> dict[tuple[str, str], float]:
    """Return how probable the library's own `forward` calls it that they match, one text and picture at a time."""
    model, read = BlipForImageTextRetrieval.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    process = AutoImageProcessor.from_pretrained(folder)
    found = {}
    for text in SHORT:
        said = read(text, return_tensors="pt")
        for name, image in pictures.items():
            with torch.no_grad():
                told = model(
                    input_ids=said["input_ids"],
                    attention_mask=said["attention_mask"],
                    pixel_values=process(images=image, return_tensors="pt")["pixel_values"],
                )
            found[text, name] = float(told.itm_score.softmax(dim=1)[0, 1])
    return found


def test_scores_of_blip_are_its_probabilities_as_log_odds(blip: Path, pictures: dict[str, Image.Image]) -> None:
    expected = probabilities(blip, pictures)
    assert max(expected.values()) - min(expected.values()) > 1e-4
    scores = scorer_of(f"hf:{blip}").score(list(expected), pictures.__getitem__)
    for probability, score in zip(expected.values(), scores, strict=True):
        assert not isinstance(score, NoPicture)
        assert 1 / (1 + exp(-score)) == pytest.approx(probability, abs=1e-5)


def test_a_score_of_blip_is_the_same_in_any_company(blip: Path, pictures: dict[str, Image.Image]) -> None:
    pairs = [(text, name) for text in SHORT for name in pictures]
    together = dict(zip(pairs, scorer_of(f"hf:{blip}").score(pairs, pictures.__getitem__), strict=True))
    scorer = scorer_of(f"hf:{blip}")
    assert {pair: scorer.score([pair], pictures.__getitem__)[0] for pair in reversed(pairs)} == together
    assert scorer.pictures_per_second() > 0


def test_a_picture_that_blip_cannot_have_costs_only_its_own_scores(
    blip: Path, pictures: dict[str, Image.Image]
) -> None:
    def open_picture(name: str) -> Image.Image:
        if name == "picture-1":
            raise NoPicture("It is gone.")
        return pictures[name]

    pairs = [(text, name) for text in SHORT for name in pictures]
    for (_, name), score in zip(pairs, scorer_of(f"hf:{blip}").score(pairs, open_picture), strict=True):
        assert isinstance(score, NoPicture) == (name == "picture-1")


def test_a_blip_without_its_matching_head_is_refused(blip: Path, tmp_path: Path) -> None:
    BlipModel(BlipConfig.from_pretrained(blip)).save_pretrained(tmp_path)
    save_tokenizer(tmp_path)
    BlipImageProcessor().save_pretrained(tmp_path)
    with pytest.raises(CannotLoad, match="lacks weights that are needed"):
        scorer_of(f"hf:{tmp_path}")


def test_scores_are_the_librarys_cosines(saved: Path, pictures: dict[str, Image.Image]) -> None:
    expected = cosines(saved, pictures)
    assert max(expected.values()) - min(expected.values()) > 1e-3
    scores = scorer_of(f"hf:{saved}").score(list(expected), pictures.__getitem__)
    assert scores == pytest.approx(list(expected.values()), abs=1e-5)


def test_a_score_is_the_same_in_any_company_and_any_order(saved: Path, pictures: dict[str, Image.Image]) -> None:
    pairs = [(text, name) for text in TEXTS for name in pictures]
    together = dict(zip(pairs, scorer_of(f"hf:{saved}").score(pairs, pictures.__getitem__), strict=True))
    alone = {pair: scorer_of(f"hf:{saved}").score([pair], pictures.__getitem__)[0] for pair in reversed(pairs[::4])}
    assert alone == {pair: together[pair] for pair in alone}


def test_it_says_which_model_it_is_and_how_its_scores_came_about(saved: Path) -> None:
    scorer = scorer_of(f"hf:{saved}")
    assert (scorer.identity.name, scorer.identity.version) == (saved.name, "")
    assert len(scorer.identity.weights) == 64
    conditions = scorer.conditions()
    assert json.loads(json.dumps(conditions)) == conditions
    assert conditions["dtype"] == "float32"
    assert len(conditions["preprocessing"]["image_mean"]) == 3
    assert conditions == scorer_of(f"hf:{saved}").conditions()


def test_what_cannot_be_loaded_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CannotLoad, match=r"no-such-model cannot be loaded .*a folder on the worker's machine\.$"):
        scorer_of("hf:nobody/no-such-model")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(CannotLoad, match=r"is a model of the type 'bert'; those of clip, siglip, blip can be used"):
        scorer_of(f"hf:{tmp_path}")


def off_by_less_than_is_supposed(folder: Path, pictures: dict[str, Image.Image]) -> None:
    scorer = scorer_of(f"hf:{folder}")
    half = scorer.in_half("bfloat16")
    assert half is not None
    assert (half.conditions()["dtype"], half.conditions()["tolerance"]) == ("bfloat16", half.tolerance)
    pairs = [(text, picture) for text in SHORT for picture in pictures]
    both = zip(*(each.score(pairs, pictures.__getitem__) for each in (scorer, half)), strict=True)
    differences = [abs(float(one) - float(other)) for one, other in both]
    assert 0 < max(differences) <= half.tolerance / 2
    assert scorer.tolerance == 0


def test_in_numbers_of_16_bits_cosines_are_off_by_less_than_is_supposed(
    saved: Path, pictures: dict[str, Image.Image]
) -> None:
    off_by_less_than_is_supposed(saved, pictures)


def test_in_numbers_of_16_bits_log_odds_are_off_by_less_than_is_supposed(
    blip: Path, pictures: dict[str, Image.Image]
) -> None:
    off_by_less_than_is_supposed(blip, pictures)
