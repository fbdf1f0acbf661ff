"""Which blind baselines there are, and what each of them sees of a question."""

from typing import Any

import pytest

from evaluation.blind.cases import visible_options
from predictions.blind_baselines import FITTED_BASELINES, fitted_baseline, part_seen, problem_with
from studies.kinds import get_kind

PICTURES = {"right": "a" * 64, "wrong": "b" * 64}


def content(*, options: str, with_none: bool = False) -> tuple[str, dict[str, Any]]:
    if options == "texts":
        image = {"image": "c" * 64, "width": 8, "height": 6}
        return "image_to_text", {
            "image": image,
            "options": [{"key": "caption", "text": "A cat."}, {"key": "negative_caption", "text": "A dog."}],
        }
    pictures = [{"key": key, "image": sha, "width": 8, "height": 6} for key, sha in PICTURES.items()]
    return ("best_of_n" if with_none else "text_to_image"), {"caption": "A cat.", "options": pictures}


def test_texts_alone_are_seen_where_options_are_texts() -> None:
    kind, asked = content(options="texts")
    assert visible_options(get_kind(kind), asked, "text") == {"caption": "A cat.", "negative_caption": "A dog."}
    assert visible_options(get_kind(kind), asked, "image") == {}


def test_pictures_alone_are_seen_where_options_are_pictures_and_none_is_no_picture() -> None:
    kind, asked = content(options="pictures", with_none=True)
    assert visible_options(get_kind(kind), asked, "image") == PICTURES
    assert visible_options(get_kind(kind), asked, "text") == {}


@pytest.mark.parametrize(
    ("spec", "seen", "is_fitted"),
    [
        ("text-only:ngrams", "text", True),
        (" image-only:colour-and-gradient ", "image", True),
        ("text-only:hf:gpt2", "text", False),
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
