import pytest

from results.templatetags.captions import caption_marked


@pytest.mark.parametrize(
    ("first", "second", "marked"),
    [
        ("A red cup.", "A blue cup.", "A <mark>blue</mark> cup."),
        ("A cat left of a dog", "A dog left of a cat.", "A <mark>dog</mark> left of a <mark>cat.</mark>"),
        ("Two fish.", "Two fish in a bowl.", "Two fish <mark>in a bowl.</mark>"),
        ("A red cup", "a red CUP.", "a red CUP."),
        ("A <b>red</b> cup", "A <i>blue</i> cup", "A <mark>&lt;i&gt;blue&lt;/i&gt;</mark> cup"),
        ("Nothing alike here", "Something else entirely", "Something else entirely"),
        ("One", "word " * 201, "word " * 201),
    ],
)
def test_words_that_the_first_caption_lacks_are_marked(first: str, second: str, marked: str) -> None:
    captions = {"caption": first, "negative_caption": second}
    assert caption_marked(captions, "negative_caption") == marked
    assert "<mark>" not in caption_marked(captions, "caption")
