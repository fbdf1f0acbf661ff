import pytest

from making.texts import comparable, digest_of_words, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A dog's ball.", ["a", "dog", "s", "ball"]),
        ("", []),
        ("...", []),
        ("Zwei   Hunde,\nzwei KATZEN!", ["zwei", "hunde", "zwei", "katzen"]),
        # Full-width letters, and a letter that has no upper case.
        ("\uff21\uff22 straße", ["ab", "strasse"]),
    ],
)
def test_words_are_without_case_and_punctuation(text: str, words: list[str]) -> None:
    assert words_of(text) == words
    assert comparable(text) == " ".join(words)


def test_texts_with_the_same_words_have_the_same_digest() -> None:
    assert digest_of_words("A dog's ball.") == digest_of_words("a DOG s ball")
    assert digest_of_words("A dog.") != digest_of_words("A dog, a dog.")
    assert len(digest_of_words("")) == 32
