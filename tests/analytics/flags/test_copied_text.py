from typing import Any

import pytest

from analytics.near_texts import is_near
from tests.analytics.flags.made import find, sentence

TEXTS = [
    "A small dog runs behind the red ball near the river.",
    "Two nurses open a wooden box in the old kitchen.",
    "The singer leans on a blue guitar and looks up.",
    "An old man paints the garden door with a wide brush.",
]
OTHER = "Somebody stands at the market and waits for the late bus."


def _written(texts: list[str], **more: Any) -> list[dict[str, Any]]:
    return [{"label": None, "text": text, **more} for text in texts]


def test_finds_captions_that_the_page_showed() -> None:
    shown = [{"label": None, "text": text, "shown_texts": [text.upper(), OTHER]} for text in TEXTS]
    found = find("copied_text", shown)
    # Four of four by chance, with 5 % each.
    assert found == {"source": "shown", "copied": 4, "texts": 4, "p": pytest.approx(0.05**4)}
    assert sentence("copied_text", found) == "4 of 4 texts are nearly equal to a text that the page showed (p < 0.001)."


def test_finds_what_others_wrote_before_what_models_wrote_and_the_same_again() -> None:
    by_question = {n: [text.replace("the", "a")] for n, text in enumerate(TEXTS, start=1)}
    for source in ("other_texts", "model_texts"):
        found = find("copied_text", _written(TEXTS), **{source: by_question})
        assert found is not None
        assert found["source"] == {"other_texts": "others", "model_texts": "model"}[source]
    again = find("copied_text", _written([OTHER] * 5))
    assert again is not None
    # The first is no copy: four of the four that follow another.
    assert (again["source"], again["copied"], again["texts"]) == ("own", 4, 5)


def test_spares_tasks_in_which_everybody_stays_near_the_shown_text() -> None:
    shown = [{"label": None, "text": text, "shown_texts": [text]} for text in TEXTS]
    others = {n: [text.replace("the", "a")] * 3 for n, text in enumerate(TEXTS, start=1)}
    assert find("copied_text", shown, other_texts=others) is None


def test_spares_own_words_and_short_texts() -> None:
    others = {n: [OTHER, "The dog is small and chases something red."] for n in range(1, 5)}
    assert find("copied_text", _written(TEXTS), other_texts=others, model_texts=others) is None
    assert find("copied_text", _written(["a red ball"] * 6)) is None
    assert find("copied_text", _written([OTHER] * 2)) is None


def test_spares_terse_people_who_write_the_same_of_the_same_image() -> None:
    terse = ["A man in a red hat.", "A dog near the river.", "Two girls on a swing.", "A nurse opens a wooden box."]
    others = {n: [text] for n, text in enumerate(terse, start=1)}
    assert find("copied_text", _written(terse), other_texts=others) is None


def test_spares_people_who_write_all_texts_in_one_frame() -> None:
    frame = (
        "Of the ten images that somebody has shown to me here, the one that I have to describe so that others find it "
        "is the one in which you can clearly see a {} and also a {}."
    )
    pairs = [("dog", "ball"), ("nurse", "box"), ("singer", "kite"), ("man", "door"), ("girl", "cup"), ("cat", "bed")]
    texts = [frame.format(*each) for each in pairs]
    assert all(is_near(text, texts[:place]) for place, text in enumerate(texts) if place)
    assert find("copied_text", _written(texts)) is None
    # All six again: six of the eleven that follow another.
    found = find("copied_text", _written(texts * 2))
    assert found is not None
    assert (found["source"], found["copied"], found["texts"]) == ("own", 6, 12)
