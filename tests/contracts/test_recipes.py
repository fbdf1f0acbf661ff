"""What holds for every recipe."""

import json
import re
import subprocess
import sys
from math import inf
from typing import Any

import pytest

from studies.descriptions import SET_SIZE
from training.examples import Example
from training.loop import CannotTrain, Plan, recipe_of
from training.recipes import RECIPES, get_recipe

every_recipe = pytest.mark.parametrize("name", RECIPES)
SENTENCE = re.compile(r"[A-Z].*\.", re.DOTALL)
EXAMPLES = {
    "pair": Example("pair", ("a", "b"), ("right", "wrong")),
    "captions": Example("captions", ("a",), ("right", "wrong", "wrong too")),
    "set": Example("set", tuple("abcdefghij"), ("text",), 3),
    "no pictures": Example("no pictures", (), ("right", "wrong")),
    "one caption": Example("one caption", ("a",), ("right",)),
}


@every_recipe
def test_it_says_what_it_is(name: str) -> None:
    recipe = get_recipe(name)
    assert recipe.name == name
    assert recipe.version
    assert re.search(r"\b20\d\d\b", recipe.source)
    assert recipe.measures[0].isupper()
    assert set(recipe.families) <= {"open_clip", "hf"}
    assert all(SENTENCE.fullmatch(each) for each in recipe.departures)


@every_recipe
def test_every_value_has_the_papers_default_and_names_its_source(name: str) -> None:
    recipe = recipe_of(Plan(name, "", ""))
    assert json.dumps(recipe.model_dump(mode="json"))
    for field, about in type(recipe).model_fields.items():
        assert about.description is not None, field
        assert SENTENCE.fullmatch(about.description), field
        assert re.search(r"Source: |not found|Not found|Not in the paper|see the departures", about.description), field


def test_values_are_those_that_the_authors_published() -> None:
    """Copied from the README of NegCLIP, the cards of both CLIP_TROHN, and ImageCoDe's README with its scripts."""
    trohn = {"batch": 200, "epochs": 10, "learning_rate": 1e-6, "warmup_steps": 50, "schedule": "cosine"}
    trohn |= {"beta1": 0.9, "beta2": 0.98, "epsilon": 1e-6, "weight_decay": 0.1}
    published: dict[str, dict[str, Any]] = {
        "negclip": {"batch": 256, "epochs": 5, "learning_rate": 1e-6, "warmup_steps": 50},
        "trohn-text": trohn,
        "trohn-img": trohn,
        "imagecode-context-batch": {"batch": 36, "epochs": 30, "learning_rate": 4e-6, "weight_decay": 0.01},
        "imagecode-context-module": {"batch": 36, "learning_rate": 1e-4, "scale": 1000, "layers": 2, "heads": 8},
    }
    for name, values in published.items():
        options = recipe_of(Plan(name, "", "")).model_dump()
        assert {field: options[field] for field in values} == values, name


@every_recipe
def test_a_wrong_value_is_refused_in_a_sentence(name: str) -> None:
    for options in (
        {"batch": 0},
        {"epochs": 1001},
        {"learning_rate": -1.0},
        {"precision": "float8"},
        {"no such value": 1},
        {"weight_decay": inf},
    ):
        with pytest.raises(CannotTrain, match=rf"The options of {name} are wrong\. {next(iter(options))}: "):
            recipe_of(Plan(name, "", "", options))


@every_recipe
def test_it_takes_what_it_needs_and_no_instance_without_pictures(name: str) -> None:
    recipe = recipe_of(Plan(name, "", ""))
    taken = {kind for kind, example in EXAMPLES.items() if recipe.accepts(example)}
    assert taken
    assert not taken & {"no pictures", "one caption"}
    assert ("set" in taken) == ("image set" in recipe.needs or "set of ten" in recipe.needs)
    assert len(EXAMPLES["set"].images) == SET_SIZE


def test_recipes_are_read_without_a_library_of_models() -> None:
    names = list(RECIPES)
    script = f"import sys; from training.recipes import get_recipe; [get_recipe(name) for name in {names}]\n"
    script += "print({'torch', 'open_clip', 'transformers', 'accelerate', 'django'} & sys.modules.keys())"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"
