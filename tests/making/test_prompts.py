"""Templates of prompts: the shipped ones, and what one of a researcher may have in it."""

import json
import re

import pytest

from making.prompts import FORM, fill, problem_with_template, shipped_names, shipped_template, template_text

SUGARCREPE = [
    *("add-attribute", "add-object", "replace-attribute", "replace-object", "replace-relation"),
    *("swap-attribute", "swap-object"),
]
EXAMPLE = re.compile(r"Caption: (.+)\nAnswer: (.+)")


def test_the_seven_types_of_sugarcrepe_are_shipped() -> None:
    assert shipped_names() == SUGARCREPE


@pytest.mark.parametrize("name", SUGARCREPE)
def test_a_shipped_template_has_worked_examples_in_the_form_that_is_asked_for(name: str) -> None:
    template = shipped_template(name)
    assert template.about.endswith(".")
    assert "Hsieh et al. 2023" in template.source
    prompt = fill(template.text, "A dog.")
    assert prompt.endswith(f"Caption: A dog.\n\n{FORM}")
    assert "{{" not in prompt
    examples = EXAMPLE.findall(prompt)
    assert len(examples) == 3
    for caption, answer in examples:
        told = json.loads(answer)
        assert list(told) == ["change", "caption"]
        assert told["caption"] != caption
        assert bool(told["caption"]) == bool(told["change"])


@pytest.mark.parametrize("name", ["swap-object", "swap-attribute"])
def test_what_is_swapped_in_an_example_keeps_its_words(name: str) -> None:
    def words(text: str) -> list[str]:
        # "One apple" and "two apples": grammar changes the noun.
        return sorted(word.rstrip("s") for word in re.findall(r"\w+", text.lower()))

    examples = [(caption, json.loads(answer)["caption"]) for caption, answer in EXAMPLE.findall(template_text(name))]
    swapped = [(caption, answer) for caption, answer in examples if answer]
    assert len(swapped) == 2
    assert all(words(caption) == words(answer) and caption != answer for caption, answer in swapped)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("replace-object", ""),
        ("Change this: {{ caption }}", ""),
        ("{{caption}}\n{{ caption }}", ""),
        ("swap-objects", "`swap-objects` is no template. Did you mean `swap-object`?"),
        ("nonsense", "`nonsense` is no template. Known are: add-attribute, add-object,"),
        ("Two lines\nwithout a field", "`template` has no {{ caption }}. Write it where the caption belongs."),
        ("{{ caption }}\n\n{{ Caption }}", "Line 3 of `template` has the unknown field `Caption`. Known is: caption."),
        ("{{ examples }} {{ caption }}", "Line 1 of `template` has the unknown field `examples`. Known is: caption."),
        ("{{ caption }} {{ caption.__class__ }}", "Line 1 of `template` has the unknown field `caption.__class__`."),
    ],
)
def test_a_template_must_have_known_fields(written: str, problem: str) -> None:
    assert problem_with_template(written)[: len(problem) or None] == problem


def test_a_caption_with_braces_stays_as_it_is() -> None:
    assert fill("Change {{ caption }}", r"a {{ caption }} \1 {x}").startswith(r"Change a {{ caption }} \1 {x}" + "\n\n")
