import pytest

from results.templatetags.captions import caption_marked


@pytest.mark.parametrize(
    ("first", "second", "marked"),
    [
        ("A red cup.", "A blue cup.", "A <mark>blue</mark> cup."),
        ("A cat left of a dog", "A dog left of a cat.", "A <mark>dog</mark> left of a <mark>cat.</mark>"),
        # The same words in another order: two of them changed places, or one part moved.
        ("a painting of a fire", "a fire of a painting", "a <mark>fire</mark> of a <mark>painting</mark>"),
        (
            "a man bites a dog in the park",
            "a dog in the park bites a man",
            "a dog in the park <mark>bites a man</mark>",
        ),
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
