import pytest

from making.texts import comparable, words_of


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
