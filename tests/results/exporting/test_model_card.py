"""Model cards: the Hub's metadata as its own library and a YAML parser read them, and what people read."""

from dataclasses import replace

import pytest
import yaml
from huggingface_hub import ModelCard as CardOfHub
from huggingface_hub import ModelCardData

from results.exporting.model_card import ModelCard, ModelScore, TrainingData, hub_model, model_card_text, model_scores
from results.reports.base import Card, Column, Range, Report, Table
from training.leaks import Item, Protected, find_leaks
from training.plan import CurvePoint

# Fields of a model's metadata that the Hub documents (hub-docs, modelcard.md).
FIELDS = {
    "language", "license", "license_name", "license_link", "library_name", "tags", "datasets", "metrics", "base_model",
    "base_model_relation", "new_version", "pipeline_tag", "thumbnail", "model-index", "extra_gated_prompt",
}  # fmt: skip
HELD = [Item("birds/1", ["A red bird sits on the old fence."])]
LEAKS = find_leaks([Item("leak", HELD[0].captions), Item("clean", ["A map."])], Protected(HELD))
SCORES = [
    ModelScore("birds-baseline", "I2T", 500, 0.7583, Range(0.72, 0.79), 0.904, Range(0.88, 0.92), 20),
    ModelScore("imported captions", "accuracy", 7512, 0.8466),
]
CARD = ModelCard(
    name="trohn-text",
    recipe="CLIP-TROHN-Text",
    recipe_version="1",
    recipe_source="Miranda et al. 2024",
    options={"batch": 400, "learning_rate": 1e-6},
    defaults={"batch": 400, "learning_rate": 5e-6},
    departures=["Images are cropped as for predictions."],
    base="hf:openai/clip-vit-base-patch32",
    spec="hf:trained:vases-trohn-text",
    weights="d26faefd4fad",
    base_weights="e" * 64,
    data=TrainingData(
        name="vases v1.0",
        examples={"training": 9000, "validation": 1000},
        sha256={"training": "a" * 64, "validation": "b" * 64},
        release_sha256="c" * 64,
        licence="CC BY 4.0",
    ),
    leaks={"training": LEAKS},
    seed=7,
    libraries={"torch": "2.9.1"},
    hardware="NVIDIA H200",
    seconds=5400.0,
    steps=1200,
    best_step=900,
    curve=[CurvePoint(1199, {"loss": 1.5}), CurvePoint(1200, {"loss": 0.25}), CurvePoint(1200, score=0.8)],
    validation=0.8466,
    measures="captions chosen correctly",
    scores=SCORES,
    notes=["Stopped after step 1,200."],
    licence="MIT",
)


def read_by_hub(text: str) -> ModelCardData:
    data = CardOfHub(text).data
    assert isinstance(data, ModelCardData)
    return data


def test_the_metadata_are_what_the_hub_documents_and_its_library_reads() -> None:
    text = model_card_text(CARD)
    _, front, _ = text.split("---\n", 2)
    metadata = yaml.safe_load(front)
    assert set(metadata) <= FIELDS
    assert (metadata["license"], metadata["base_model"]) == ("mit", "openai/clip-vit-base-patch32")
    (model,) = metadata["model-index"]
    assert model["name"] == "trohn-text"
    first, second = read_by_hub(text).eval_results or []
    assert (first.metric_name, first.metric_value, first.dataset_name) == ("I2T", 0.7583, "birds-baseline")
    assert first.metric_args == {
        "n": 500,
        "interval_95": [0.72, 0.79],
        "people": 0.904,
        "people_interval_95": [0.88, 0.92],
    }
    assert (second.metric_type, second.metric_args) == ("accuracy", {"n": 7512})


def test_unknown_facts_are_left_out_of_the_metadata() -> None:
    card = replace(CARD, licence="Our own: free", scores=[], base="open_clip:ViT-B-32/openai", spec="open_clip:x/y")
    metadata = yaml.safe_load(model_card_text(card).split("---\n", 2)[1])
    assert (metadata["license"], metadata["license_name"]) == ("other", "Our own: free")
    assert metadata["library_name"] == "open_clip"
    assert not {"base_model", "datasets", "model-index"} & set(metadata)
    bare = model_card_text(replace(card, licence="", validation=None))
    assert "license" not in yaml.safe_load(bare.split("---\n", 2)[1])
    assert "Nobody has chosen a licence" in bare
    assert "It was not evaluated yet." in bare
    assert "Validation" not in bare


@pytest.mark.parametrize(
    "line",
    [
        "| birds-baseline | I2T | 500 | 75.83 | 72.00–79.00 | 90.40 | 88.00–92.00 | 20 |",
        "| imported captions | accuracy | 7,512 | 84.66 |  |  |  |  |",
        "Where people have no score, nobody was asked these questions.",
        "| Data | vases v1.0 |",
        "| Base model | `hf:openai/clip-vit-base-patch32` |",
        f"| Weights of the base model | `{'e' * 64}` |",
        "| Weights | `d26faefd4fad` |",
        f"| SHA-256 of the release | `{'c' * 64}` |",
        f"| Examples for training | 9,000, SHA-256 of the file `{'a' * 64}` |",
        "leak counts in each of them.",
        "Of 2 examples for training, 1 leaked and was taken out (1 protected item).",
        "| same caption | 1 |",
        "| near image | 0 |",
        "| batch | 400 | the same |",
        "| learning\\_rate | 1e-06 | 5e-06 |",
        "| Loss at step 1,200 | loss 0.2500 |",
        "| Validation | 84.66 %, captions chosen correctly |",
        "| Time on the device | 1.50 hours (5400 s) |",
        "- Stopped after step 1,200.",
        "The model is under this licence: MIT. The licences of the base model and of the data apply too.",
    ],
)
def test_the_card_tells(line: str) -> None:
    assert line in model_card_text(CARD).splitlines()


def test_what_people_wrote_is_escaped() -> None:
    data = replace(CARD.data, name="<script>|vases", licence="a\nb")
    text = model_card_text(replace(CARD, name="*it*\n---\nlicense: mit", licence="our\n---", data=data))
    assert "# \\*it\\* --- license: mit" in text.splitlines()
    assert "| Data | \\<script\\>\\|vases |" in text.splitlines()
    metadata = read_by_hub(text)
    assert (metadata.license, metadata.license_name, metadata.model_name) == (
        "other",
        "our ---",
        "*it* --- license: mit",
    )


def test_scores_of_a_report_stand_beside_those_of_people() -> None:
    intervals = Table(
        "intervals",
        "",
        [Column(name) for name in ("Study", "Who", "Score", "Value", "95 % interval", "People", "Instances")],
        [
            ("a", "Humans", "I2T", 0.904, Range(0.88, 0.92), 20, 500),
            ("a", "CLIP", "I2T", 0.75, Range(0.7, 0.8), None, 400),
            ("a", "other", "I2T", 0.5, None, None, 500),
            ("b", "CLIP", "right", 0.25, None, None, 30),
        ],
    )
    captions = Table(
        "captions",
        "",
        [Column(name) for name in ("Model", "Type", "Subtype", "Instances", "Accuracy", "95 % interval")],
        [("CLIP", "all", "all", 60, 0.5, Range(0.4, 0.6)), ("CLIP", "add", "all", 30, 0.6, Range(0.4, 0.7))],
    )
    report = Report("", [Card("", "people", "", "", [intervals, captions])])
    assert model_scores(report, "CLIP") == [
        ModelScore("a", "I2T", 400, 0.75, Range(0.7, 0.8), 0.904, Range(0.88, 0.92), 20),
        ModelScore("b", "right", 30, 0.25),
        ModelScore("imported captions", "accuracy", 60, 0.5, Range(0.4, 0.6)),
    ]


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("hf:openai/clip-vit-base-patch32", "openai/clip-vit-base-patch32"),
        ("open_clip:ViT-B-32/openai", ""),
        ("hf:/models/clip", ""),
        ("hf:trained:birds/x", ""),
        ("hf:gpt2", ""),
    ],
)
def test_a_base_model_is_linked_if_the_hub_has_it(spec: str, name: str) -> None:
    assert hub_model(spec) == name
