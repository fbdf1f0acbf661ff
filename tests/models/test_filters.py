"""Filters that stand on models, on tiny ones: they say what the libraries say of the same models."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import pytest
import torch
from PIL import Image
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    T5Config,
    T5EncoderModel,
    pipeline,
)

from making.errors import CannotMake
from making.filters import CandidateImage, CandidateText, ModelFilter, Verdict
from making.filters.grammar import Grammar
from making.filters.plausible import Plausible
from making.filters.says_the_same import SaysTheSame
from making.filters.shows import Shows
from making.filters.toxicity import Toxicity
from making.text_models import load_pair_model, load_text_model
from predictions.scorers import CannotLoad, NoPicture, scorer_of
from tests.models.test_open_clip import save_open_clip
from tests.models.tiny_words import tokenizer

WORDS = ["<pad>", "<start>", "<end>", "<unk>", "a", "on", "dog", "cat", "two", "red", "birds", "table"]
SMALL = {
    **{"vocab_size": len(WORDS), "hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 2},
    **{"num_attention_heads": 4, "max_position_embeddings": 32, "initializer_range": 0.5, "pad_token_id": 0},
}
TEXTS = ["a dog on a cat", "a cat on a dog", "two red birds", "a", ""]
PARENT = "a dog on a table"


def nobody(name: str) -> NoReturn:
    raise AssertionError(f"It looked at {name}.")


def save(folder: Path, model: PreTrainedModel) -> str:
    model.save_pretrained(folder)
    tokenizer(WORDS, form="<start> $A <end>").save_pretrained(folder)
    return str(folder)


def save_classifier(folder: Path, labels: Sequence[str], **more: str) -> str:
    """Save a classifier of random numbers."""
    torch.manual_seed(3)
    names = dict(enumerate(labels))
    places = {label: place for place, label in names.items()}
    return save(folder, BertForSequenceClassification(BertConfig(**SMALL, id2label=names, label2id=places, **more)))


def library_scores(folder: str, text: str) -> Mapping[str, float]:
    """Return the probability of each label as transformers' own pipeline has it."""
    found = pipeline("text-classification", model=folder, top_k=None)([text])[0]
    return {each["label"]: each["score"] for each in found}


def judged(judge: ModelFilter, *texts: str) -> Sequence[Verdict]:
    return judge.load().judge([CandidateText(text, PARENT) for text in texts], nobody)


@pytest.mark.parametrize("labels", [["bad", "good"], ["one", "two", "good"]])
@pytest.mark.parametrize("problem_type", ["single_label_classification", "multi_label_classification"])
def test_a_classifier_gives_the_probability_that_its_library_gives(
    labels: list[str], problem_type: str, tmp_path: Path
) -> None:
    folder = save_classifier(tmp_path / "tiny", labels, problem_type=problem_type)
    scores = load_text_model(f"classifier:{folder}", "Good").scores(TEXTS)
    assert scores == pytest.approx([library_scores(folder, text)["good"] for text in TEXTS], abs=1e-5)
    assert len({round(score, 4) for score in scores}) == len(TEXTS)


def test_of_two_labels_the_second_is_meant_and_of_more_one_must_be_named(tmp_path: Path) -> None:
    folder = save_classifier(tmp_path / "tiny", ["LABEL_0", "LABEL_1"])
    assert load_text_model(f"classifier:{folder}").scores(["a dog"]) == pytest.approx(
        [library_scores(folder, "a dog")["LABEL_1"]], abs=1e-5
    )
    several = save_classifier(tmp_path / "several", ["one", "two", "three"])
    with pytest.raises(CannotMake, match=r"has several labels\. Set the filter's `label` to one of: one, two, three"):
        load_text_model(f"classifier:{several}")
    with pytest.raises(CannotMake, match=r"has no label toxic\. Set the filter's `label` to one of: one, two, three"):
        load_text_model(f"classifier:{several}", "toxic")


def test_a_language_model_gives_the_geometric_mean_of_the_probabilities_of_words(tmp_path: Path) -> None:
    torch.manual_seed(1)
    sizes = {"vocab_size": len(WORDS), "n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 2}
    model = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=1, eos_token_id=2)).eval()
    folder = save(tmp_path / "tiny", model)
    ids = torch.tensor([[1, *(WORDS.index(word) for word in TEXTS[0].split())]])
    with torch.no_grad():
        expected = math.exp(-float(model(input_ids=ids, labels=ids).loss))
    (score,) = load_text_model(f"likelihood:{folder}").scores(TEXTS[:1])
    assert score == pytest.approx(expected, abs=1e-5)


def test_vera_is_a_head_in_the_last_rows_of_the_embeddings_of_t5(tmp_path: Path) -> None:
    torch.manual_seed(2)
    small = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 1, "num_heads": 2}
    model = T5EncoderModel(T5Config(vocab_size=32_128, **small)).eval()
    rows = model.shared.weight
    with torch.no_grad():
        rows[32_097, 0], rows[32_098, 0] = 2.0, 0.5
    folder = save(tmp_path / "tiny", model)
    ids = torch.tensor([[1, *(WORDS.index(word) for word in TEXTS[0].split()), 2]])
    with torch.no_grad():
        last = model(input_ids=ids).last_hidden_state[0, -1]
        # Liu et al. 2023: the head's logit, divided by a temperature.
        expected = torch.sigmoid(((last * rows[32_099]).sum() + 0.5) / 2.0)
    (score,) = load_text_model(f"vera:{folder}").scores(TEXTS[:1])
    assert score == pytest.approx(float(expected), abs=1e-5)
    plain = T5EncoderModel(T5Config(vocab_size=len(WORDS), **small))
    with pytest.raises(CannotMake, match="has no head of Vera in its embeddings"):
        load_text_model(f"vera:{save(tmp_path / 'plain', plain)}")


@pytest.mark.parametrize(("filter_of", "what"), [(Plausible, "plausibility"), (Grammar, "grammar score")])
def test_texts_are_rejected_below_a_bound_or_far_below_their_parent(
    filter_of: type[Plausible | Grammar], what: str, tmp_path: Path
) -> None:
    folder = save_classifier(tmp_path / "tiny", ["bad", "good"])
    parent, *scores = [library_scores(folder, text)["good"] for text in (PARENT, *TEXTS)]
    model, middle = f"classifier:{folder}", sorted(scores)[2]
    measured = judged(filter_of(model=model), *TEXTS)
    assert [verdict.reason for verdict in measured] == [""] * 5
    assert [verdict.score for verdict in measured] == pytest.approx(scores, abs=1e-5)
    assert [verdict.gap for verdict in measured] == pytest.approx([parent - score for score in scores], abs=1e-5)
    bound = middle - 1e-4
    found = [verdict.reason for verdict in judged(filter_of(model=model, at_least=bound), *TEXTS)]
    assert found == [f"Its {what} is below {bound:g}." if score < bound else "" for score in scores]
    assert found.count("") == 3
    worse = [verdict.reason for verdict in judged(filter_of(model=model, margin=0.01), *TEXTS)]
    sentence = f"Its {what} is below that of the text that it was made from by more than 0.01."
    assert worse == [sentence if score < parent - 0.01 else "" for score in scores]
    assert {"", sentence} == set(worse)


def test_texts_above_a_probability_of_a_label_are_toxic(tmp_path: Path) -> None:
    folder = save_classifier(tmp_path / "tiny", ["toxic", "neutral"])
    scores = [library_scores(folder, text)["toxic"] for text in TEXTS]
    bound = sorted(scores)[2] - 1e-4
    found = judged(Toxicity(model=f"classifier:{folder}", at_most=bound), *TEXTS)
    sentence = f"It is toxic with a probability above {bound:g}."
    assert [verdict.reason for verdict in found] == [sentence if score > bound else "" for score in scores]
    assert [verdict.score for verdict in found] == pytest.approx(scores, abs=1e-5)


def test_two_texts_say_the_same_if_each_entails_the_other(tmp_path: Path) -> None:
    folder = save_classifier(tmp_path / "tiny", ["contradiction", "neutral", "entailment"])
    classify = pipeline("text-classification", model=folder, top_k=None)

    def entails(one: str, other: str) -> float:
        said = classify([{"text": one, "text_pair": other}])[0]
        return next(float(each["score"]) for each in said if each["label"] == "entailment")

    expected = [min(entails(PARENT, text), entails(text, PARENT)) for text in TEXTS]
    bound = sorted(expected)[2] - 1e-4
    found = judged(SaysTheSame(model=f"nli:{folder}", at_least=bound), *TEXTS)
    assert [verdict.score for verdict in found] == pytest.approx(expected, abs=1e-5)
    same = "It means the same as the text that it was made from."
    assert [verdict.reason for verdict in found] == [same if score >= bound else "" for score in expected]
    with pytest.raises(CannotMake, match="has no label entailment"):
        load_pair_model(f"nli:{save_classifier(tmp_path / 'other', ['bad', 'good'])}")


def test_the_similarity_of_sentences_is_the_cosine_of_their_mean_vectors(tmp_path: Path) -> None:
    torch.manual_seed(5)
    model = BertModel(BertConfig(**SMALL)).eval()
    folder = save(tmp_path / "tiny", model)

    def vector(text: str) -> torch.Tensor:
        ids = torch.tensor([[1, *(WORDS.index(word) for word in text.split()), 2]])
        with torch.no_grad():
            return model(input_ids=ids).last_hidden_state[0].mean(dim=0)

    one, other = vector(PARENT), vector(TEXTS[0])
    expected = float(one @ other / one.norm() / other.norm())
    found = judged(SaysTheSame(model=f"similarity:{folder}", at_least=0.999), TEXTS[0], PARENT)
    assert [verdict.score for verdict in found] == pytest.approx([expected, 1], abs=1e-5)
    assert [bool(verdict.reason) for verdict in found] == [False, True]


def test_a_filter_is_known_by_the_weights_of_its_model(tmp_path: Path) -> None:
    first = Grammar(model=f"classifier:{save_classifier(tmp_path / 'one', ['bad', 'good'])}").load().identity
    again = Plausible(model=f"classifier:{save_classifier(tmp_path / 'two', ['bad', 'good'])}").load().identity
    assert len(first.weights) == 64
    assert first.weights == again.weights
    assert first.version.startswith("1; transformers 5.")
    torch.manual_seed(9)
    other = BertForSequenceClassification(BertConfig(**SMALL))
    assert Grammar(model=f"classifier:{save(tmp_path / 'other', other)}").load().identity.weights != first.weights


def test_a_model_that_is_not_there_or_of_another_sort_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(CannotMake, match="nowhere cannot be loaded"):
        Toxicity(model=f"classifier:{tmp_path}/nowhere").load()
    encoder = save(tmp_path / "encoder", BertModel(BertConfig(**SMALL)))
    # Its head would be of random numbers.
    with pytest.raises(CannotMake, match=r"is not what this filter needs: it lacks classifier\.bias"):
        Grammar(model=f"classifier:{encoder}").load()
    with pytest.raises(CannotLoad):
        Shows(scorer="open_clip:nowhere/none", at_least=0).load()


def test_a_long_text_is_cut_and_not_refused(tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    wide = SMALL | {"max_position_embeddings": 512}
    torch.manual_seed(3)
    model = save(folder, BertForSequenceClassification(BertConfig(**wide)))
    (score,) = load_text_model(f"classifier:{model}").scores(["a dog " * 1_000])
    assert 0 <= score <= 1


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"open_clip:tiny-test/{save_open_clip(tmp_path_factory.mktemp('filters') / 'tiny')}"


def test_images_must_show_their_caption_better_than_a_bound_and_than_the_rival(
    clip: str, pictures: dict[str, Image.Image]
) -> None:
    text, rival = "a dog on a cat", "two red birds"
    names = list(pictures)
    scorer = scorer_of(clip)
    scores, rivals = (scorer.score([(each, name) for name in names], pictures.__getitem__) for each in (text, rival))
    numbers = [float(score) for score in scores if not isinstance(score, NoPicture)]
    others = [float(score) for score in rivals if not isinstance(score, NoPicture)]
    bound = sorted(numbers)[2] - 1e-5
    shown = Shows(scorer=clip, at_least=bound).load()
    found = shown.judge([CandidateImage(name, text) for name in names], pictures.__getitem__)
    low = f"Its score for its caption is below {bound:g}."
    assert [verdict.reason for verdict in found] == [low if score < bound else "" for score in numbers]
    assert [verdict.score for verdict in found] == pytest.approx(numbers, abs=1e-6)
    assert shown.identity.weights == scorer.identity.weights
    beside = Shows(scorer=clip, rival="caption").load()
    found = beside.judge([CandidateImage(name, text, rival) for name in names], pictures.__getitem__)
    lower = "Its score for its caption is not above that for the caption."
    expected = [lower if score <= other else "" for score, other in zip(numbers, others, strict=True)]
    assert [verdict.reason for verdict in found] == expected
    swapped = beside.judge([CandidateImage(name, rival, text) for name in names], pictures.__getitem__)
    assert [bool(verdict.reason) for verdict in swapped] == [not reason for reason in expected]
    # Equal is not above.
    (equal,) = beside.judge([CandidateImage(names[0], text, text)], pictures.__getitem__)
    assert (equal.reason, equal.gap) == (lower, 0)
    assert beside.judge([CandidateImage(names[0], text)], pictures.__getitem__)[0].reason == ""


def test_an_image_that_cannot_be_read_is_no_reason_to_reject_it(clip: str) -> None:
    def gone(name: str) -> NoReturn:
        raise NoPicture("The image is missing. Import it again.")

    with pytest.raises(CannotMake, match="The image is missing"):
        Shows(scorer=clip, at_least=0).load().judge([CandidateImage("0" * 64, "a dog")], gone)
