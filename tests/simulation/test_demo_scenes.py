import random
from collections import Counter
from dataclasses import replace

import pytest

from simulation.demo.scenes import (
    ABOVE,
    BELOW,
    CHANGES,
    LEFT,
    RIGHT,
    Scene,
    SceneInstance,
    Thing,
    describe_instances,
    first_scene,
    shows,
)

BALL = Thing("ball", "red")
HOUSE = Thing("house", "blue")
SCENE = Scene("on a beach", BALL, LEFT, HOUSE)


@pytest.fixture(scope="module")
def instances() -> list[SceneInstance]:
    return list(describe_instances(seed="demo", per_category=7))


def test_the_caption_says_what_stands_where() -> None:
    scene = Scene(
        "in the snow",
        Thing("umbrella", "orange"),
        ABOVE,
        Thing("box", "blue", pattern="striped", size="tiny", count=2),
        Thing("kite", "pink"),
    )

    assert (
        scene.caption
        == "An orange umbrella above two tiny striped blue boxes in the snow, with a pink kite in the sky."
    )


SPOTTED, HUGE = (
    replace(SCENE, subject=replace(BALL, pattern="spotted")),
    replace(SCENE, subject=replace(BALL, size="huge")),
)
WITH_KITE = replace(SCENE, extra=Thing("kite", "pink"))


@pytest.mark.parametrize(
    ("drawn", "asked", "expected"),
    [
        *((SCENE, asked, False) for asked in (SPOTTED, HUGE, WITH_KITE)),
        *((asked, asked, True) for asked in (SPOTTED, HUGE, WITH_KITE)),
        (SCENE, SCENE, True),
        (Scene("on a beach", HOUSE, RIGHT, BALL), SCENE, True),
        (SPOTTED, SCENE, True),
        (WITH_KITE, SCENE, True),
        (Scene("on a beach", HOUSE, LEFT, BALL), SCENE, False),
        (replace(SCENE, relation=BELOW), SCENE, False),
        (replace(SCENE, setting="in the snow"), SCENE, False),
        (replace(SCENE, subject=replace(BALL, colour="green")), SCENE, False),
        (replace(SCENE, other=replace(HOUSE, kind="tent")), SCENE, False),
        (replace(SCENE, subject=replace(BALL, count=2)), SCENE, False),
    ],
)
def test_a_drawing_shows_a_caption_when_it_has_everything_that_the_caption_says(
    drawn: Scene, asked: Scene, expected: bool
) -> None:
    assert shows(drawn, asked) is expected


@pytest.mark.parametrize("category", CHANGES)
def test_every_change_makes_a_caption_that_the_original_does_not_show(category: tuple[str, str]) -> None:
    rng = random.Random("many")
    for _ in range(200):
        scene = first_scene(rng)
        changed = CHANGES[category](scene, rng)
        assert not shows(scene, changed)
        assert scene.caption != changed.caption


def test_there_are_seven_instances_of_every_type_and_subtype_of_which_one_in_seven_has_no_faithful_candidate(
    instances: list[SceneInstance],
) -> None:
    counted = Counter((instance.type, instance.subtype) for instance in instances)
    assert counted == dict.fromkeys(CHANGES, 7)
    assert len(CHANGES) == 7
    assert len({instance.key for instance in instances}) == 49
    assert sum(instance.right is None for instance in instances) == 7


def test_only_the_right_candidate_shows_the_negative_caption(instances: list[SceneInstance]) -> None:
    for instance in instances:
        faithful = [index for index, drawn in enumerate(instance.candidates) if shows(drawn, instance.negative)]
        assert faithful == ([] if instance.right is None else [instance.right]), instance.key
        assert len(set(instance.candidates)) == 4


def test_the_same_seed_gives_the_same_instances_and_another_seed_others(instances: list[SceneInstance]) -> None:
    assert list(describe_instances(seed="demo", per_category=7)) == instances
    assert list(describe_instances(seed="other", per_category=7)) != instances
