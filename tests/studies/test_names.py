import pytest

from studies.names import name_in_address, problem_with_key, problem_with_line, problem_with_name, problem_with_slug

GOOD_KEYS = ["0", "add_obj/12", "café 3", "vase (2)", "a.b/..c/d..", "...", "50%", "a?#;&", "\\", "'\"<>", "k" * 200]
BAD_KEYS = [
    ("a\nb", "Its character 2 (U+000A) is a control character or ends the line. Remove it."),
    ("row-1\n", "Its character 6 (U+000A)"),
    ("a\tb", "(U+0009)"),
    ("a\x7fb", "(U+007F)"),
    ("a\u2028b", "(U+2028)"),
    ("a\ud800", "(U+D800)"),
    (" a", "It begins or ends with a space."),
    ("a ", "It begins or ends with a space."),
    ("a\u200bb", "Its character 2 (U+200B) cannot be seen."),
    ("a\u00a0b", "Its character 2 (U+00A0) cannot be seen. Remove it, or write a plain space."),
    (".", 'A part between slashes is "." or ".."'),
    ("..", 'A part between slashes is "." or ".."'),
    ("a/../b", 'A part between slashes is "." or ".."'),
    ("a/./b", 'A part between slashes is "." or ".."'),
    ("/a", "A part between slashes is empty."),
    ("a/", "A part between slashes is empty."),
    ("a//b", "A part between slashes is empty."),
    ("k" * 201, "The key has 201 characters; at most 200 fit."),
    ("", "It is empty."),
]


@pytest.mark.parametrize("key", GOOD_KEYS)
def test_a_key_that_an_address_can_hold_is_let_in(key: str) -> None:
    assert problem_with_key(key) == ""
    assert name_in_address(key, pk=7) == key


@pytest.mark.parametrize(("key", "reason"), BAD_KEYS)
def test_a_key_that_no_address_can_hold_is_not(key: str, reason: str) -> None:
    assert reason in problem_with_key(key)
    assert name_in_address(key, pk=7) == "by-id/7"


def test_a_key_that_looks_like_an_id_is_found_by_its_id() -> None:
    assert problem_with_key("by-id/3") == ""
    assert name_in_address("by-id/3", pk=7) == "by-id/7"


@pytest.mark.parametrize("slug", ["birds", "Birds_2", "-", "a" * 50])
def test_a_slug_names_a_project(slug: str) -> None:
    assert problem_with_slug(slug) == ""


@pytest.mark.parametrize("slug", ["birds\n", "two words", "", "vögel", "a/b", ".", "a" * 51])
def test_anything_else_does_not(slug: str) -> None:
    assert problem_with_slug(slug).startswith(("Use letters", "It is too long"))


def test_a_title_may_hold_what_a_language_needs() -> None:
    # Persian writes a joiner of no width inside words.
    assert problem_with_line("می\u200cبینم") == ""
    assert problem_with_line("Which vase?") == ""
    assert problem_with_line("Which\nvase?").startswith("Its character 6 (U+000A)")


def test_the_name_of_a_model_has_no_signs_that_cannot_be_seen() -> None:
    assert problem_with_name("CLIP ViT-B/32") == ""
    assert problem_with_name("CLIP\u200b").startswith("Its character 5 (U+200B) cannot be seen.")
