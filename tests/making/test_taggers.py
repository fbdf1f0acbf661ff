"""Parts of speech: the tagger that is always there, and spaCy where it is installed."""

import pytest

from making.errors import CannotMake
from making.taggers import english_words, tagger_of


def test_the_default_tagger_knows_nouns_adjectives_adverbs_and_verbs() -> None:
    tagger = tagger_of("hanta")
    assert tagger.name.startswith("HanTa 1.")
    words = ["A", "man", "in", "a", "red", "shirt", "quickly", "throws", "a", "small", "ball"]
    found = dict(zip(words, tagger.parts(words), strict=True))
    assert {word for word, part in found.items() if part == "NOUN"} == {"man", "shirt", "ball"}
    assert {word for word, part in found.items() if part == "ADJ"} == {"red", "small"}
    assert (found["quickly"], found["throws"]) == ("ADV", "VERB")


def test_names_are_proper_nouns() -> None:
    assert tagger_of("hanta").parts(["London", "is", "big"])[0] == "PROPN"
    assert tagger_of("hanta").parts([]) == []


def test_tokens_have_tags_of_the_penn_treebank() -> None:
    tokens = tagger_of("hanta").tokens("The dog's red ball.")
    assert [word for word, _ in tokens] == ["The", "dog", "'s", "red", "ball", "."]
    assert {word: tag for word, tag in tokens if tag != "X"} == {
        "The": "DT",
        "dog": "NN",
        "red": "JJ",
        "ball": "NN",
    }


def test_the_words_of_english_are_words_and_no_names() -> None:
    words = english_words()
    assert words == sorted({*words})
    assert len(words) > 10_000
    assert {"dog", "house", "running"} <= {*words}
    assert not {"Dog", "london", "the.", "a"} & {*words}


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("penn", "The tagger 'penn' is unknown. Write hanta, or spacy:NAME with a model of spaCy."),
        (
            "spacy:no_such_model",
            "The tagger spacy:no_such_model cannot be loaded here. Install spaCy and its model no_such_model, or use "
            "hanta.",
        ),
    ],
)
def test_a_tagger_that_is_not_there_says_what_to_do(spec: str, sentence: str) -> None:
    with pytest.raises(CannotMake) as refused:
        tagger_of(spec)
    assert str(refused.value) == sentence
