"""Which blind baselines there are, and what each of them sees of a question."""

import pytest

from evaluation.blind.cases import visible_options
from predictions.blind_baselines import FITTED_BASELINES, fitted_baseline, part_seen, problem_with
from studies.kinds import get_kind

PICTURES = {"right": "a" * 64, "wrong": "b" * 64}


def test_only_options_of_the_part_are_seen_and_none_is_neither_text_nor_picture() -> None:
    shape = {"width": 8, "height": 6}
    captions = {"caption": "A cat.", "negative_caption": "A dog."}
    texts = {"image": {"image": "c" * 64, **shape}, "options": [{"key": k, "text": t} for k, t in captions.items()]}
    pictures = {"caption": "A cat.", "options": [{"key": k, "image": sha, **shape} for k, sha in PICTURES.items()]}
    for kind, content, seen in (
        ("image_to_text", texts, {"text": captions, "image": {}}),
        ("best_of_n", pictures, {"text": {}, "image": PICTURES}),
    ):
        assert {part: visible_options(get_kind(kind), content, part) for part in ("text", "image")} == seen


@pytest.mark.parametrize(
    ("spec", "seen", "is_fitted"),
    [
        ("text-only:ngrams", "text", True),
        (" image-only:colour-and-gradient ", "image", True),
        ("text-only:hf:gpt2", "text", False),
        ("text-only:detector:/models/text.pt", "text", False),
        ("image-only:detector:/models/image.pt", "image", False),
        ("image-only:open_clip:ViT-B-32/openai", "image", True),
        (" image-only: onnx:demo ", "image", True),
        ("open_clip:ViT-B-32/openai", None, False),
    ],
)
def test_a_spec_says_what_is_seen_and_where_it_is_computed(spec: str, seen: str | None, is_fitted: bool) -> None:
    assert part_seen(spec) == seen
    assert (fitted_baseline(spec) is not None) == is_fitted
    assert problem_with(spec) == ""


@pytest.mark.parametrize(
    "spec", ["text-only:trigrams", "text-only:hf:", "image-only:hf:", "image-only:text-only:ngrams", "image-only:"]
)
def test_an_unknown_baseline_is_refused_with_those_there_are(spec: str) -> None:
    known = (
        "text-only:ngrams or text-only:hf:NAME"
        if spec.startswith("text")
        else "image-only:colour-and-gradient or image-only:open_clip:ARCHITECTURE/TAG"
    )
    assert problem_with(spec) == f"There is no blind baseline {spec!r}. Use {known}."


def test_every_baseline_says_that_it_is_blind() -> None:
    assert all(each.name.startswith("Blind baseline: ") for each in FITTED_BASELINES.values())
