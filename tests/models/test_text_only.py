"""`text-only:hf:` on a tiny language model: it says what transformers says of the same model, and looks at nothing."""

from pathlib import Path
from typing import NoReturn

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from predictions.scorers import CannotLoad, scorer_of
from tests.models.tiny_words import tokenizer

WORDS = ["<end>", "<unk>", *["a", "on", "dog", "cat", "two", "red", "birds"]]
TEXTS = ["a dog on a cat", "a cat on a dog", "two red birds", "birds"]


def save(folder: Path, *, with_start: bool) -> Path:
    torch.manual_seed(1)
    sizes = {"vocab_size": len(WORDS), "n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 2}
    GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0)).save_pretrained(folder)
    start = {"bos_token": "<end>"} if with_start else {}
    tokenizer(WORDS, eos_token="<end>", unk_token="<unk>", **start).save_pretrained(folder)
    return folder


def likelihood(folder: Path, text: str, *, with_start: bool) -> float:
    """Return the mean log-likelihood by the library's own loss, which is the mean over tokens after the first."""
    model, read = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    ids = torch.tensor([([0] if with_start else []) + read(text, add_special_tokens=False)["input_ids"]])
    with torch.no_grad():
        return -float(model(input_ids=ids, labels=ids).loss)


def nobody(name: str) -> NoReturn:
    raise AssertionError(f"It looked at {name}.")


@pytest.mark.parametrize("with_start", [True, False])
def test_a_score_is_the_mean_log_likelihood_of_the_text_whatever_the_picture(tmp_path: Path, with_start: bool) -> None:
    folder = save(tmp_path / "tiny-gpt", with_start=with_start)
    scorer = scorer_of(f"text-only:hf:{folder}")
    assert scorer.identity.name == "Blind baseline: text only, tiny-gpt"
    pairs = [(text, picture) for text in TEXTS for picture in ("one", "two")]
    scores = scorer.score(pairs, nobody)
    # Of a single token without a start nothing is predicted.
    expected = [
        0.0 if text == "birds" and not with_start else likelihood(folder, text, with_start=with_start)
        for text, _ in pairs
    ]
    assert scores == pytest.approx(expected, abs=1e-5)
    assert len(set(scores)) == len(TEXTS)


def test_a_text_has_the_same_score_in_any_company(tmp_path: Path) -> None:
    scorer = scorer_of(f"text-only:hf:{save(tmp_path / 'tiny-gpt', with_start=True)}")
    together = scorer.score([(text, "one") for text in TEXTS], nobody)
    assert [scorer.score([(text, "one")], nobody)[0] for text in TEXTS] == list(together)
    assert scorer.pictures_per_second() > 0
    assert scorer.conditions()["scorer"] == "text-only:hf"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("text-only:hf:/nowhere/gpt", "/nowhere/gpt cannot be loaded as a language model"),
        ("text-only:ngrams", "computed by the site: request it with `predict`"),
        ("image-only:colour-and-gradient", "so the site computes it. Request it with `predict`"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_words(spec: str, sentence: str) -> None:
    with pytest.raises(CannotLoad, match=sentence):
        scorer_of(spec)


def test_a_model_that_is_published_in_16_bits_is_computed_in_float32_and_again_in_16(tmp_path: Path) -> None:
    folder = save(tmp_path / "tiny-llama", with_start=True)
    torch.manual_seed(1)
    sizes = {"vocab_size": len(WORDS), "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "initializer_range": 0.5}
    config = LlamaConfig(**sizes, **heads, bos_token_id=0, eos_token_id=0, pad_token_id=None)
    model = LlamaForCausalLM(config).to(torch.bfloat16)
    model.save_pretrained(folder)
    model.float().save_pretrained(tmp_path / "whole")
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "whole")
    pairs = [(text, "one") for text in TEXTS]
    scorer = scorer_of(f"text-only:hf:{folder}")
    exact = scorer.score(pairs, nobody)
    assert exact == pytest.approx([likelihood(tmp_path / "whole", text, with_start=True) for text in TEXTS], abs=1e-5)
    half = scorer.in_half("bfloat16")
    assert half is not None
    assert scorer.score(pairs, nobody) == exact
    rounded = half.score(pairs, nobody)
    assert rounded == pytest.approx(exact, abs=half.tolerance / 2)
    assert rounded != exact
    told = [(each.conditions()["dtype"], each.conditions()["weights"]) for each in (scorer, half)]
    assert told == [("float32", "bfloat16"), ("bfloat16", "bfloat16")]
    assert half.conditions()["tolerance"] == half.tolerance > scorer.tolerance == 0
