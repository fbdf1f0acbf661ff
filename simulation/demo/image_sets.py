"""Sets of ten drawn images that differ in little, and what people may write about each image. Pure.

A still set is one scene that is told by its details, ten times with other ones. A video is one scene, over which
something small flies in an arc.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from simulation.demo.pictures import GROUND
from simulation.demo.scenes import ABOVE, COLOURS, LEFT, PATTERNS, SETTINGS, Scene, Thing, first_scene
from studies.descriptions import SET_SIZE, STATIC, VIDEO

Point = tuple[float, float]

# Where the source of a drawn set has what made-up people may write: texts by the key of the image.
TEXTS = "made_up_texts"
COUNTED = (1, 2, 3)
# What is in the sky of a still set, in one of two colours, and so is none of its other things.
IN_THE_SKY = "kite"
# The arc of a video, in shares of the picture: how far from its sides it begins and ends, and how high it goes.
MARGIN = 0.1
HIGHEST = 0.6
# Where the flying thing is in each of the ten images of a video, said of what stands in the middle.
MOMENTS = (
    "lies on the ground, far to the left of {other}",
    "rises to the left of {other}, no higher than its top",
    "rises to the left of {other}, a little higher than its top",
    "is high in the sky, clearly to the left of {other}",
    "is at its highest, straight above {other} and just a bit to the left",
    "is at its highest, straight above {other} and just a bit to the right",
    "is high in the sky, clearly to the right of {other}",
    "comes down to the right of {other}, a little higher than its top",
    "comes down to the right of {other}, no higher than its top",
    "lies on the ground, far to the right of {other}",
)
WORDINGS = ("{text}.", "Look for this: {text}.", "What you see: {text}.", "To be seen here: {text}.")


@dataclass(frozen=True)
class Still:
    """One image: a scene, and for a video where its subject is: the middle of its foot, in shares of the picture from
    the upper left. `texts`: what people may write about it; each fits no other image of the set."""

    scene: Scene
    texts: Sequence[str]
    at: Point | None = None


@dataclass(frozen=True)
class ImageSet:
    key: str
    type: str
    stills: Sequence[Still]


def describe_sets(*, seed: str, of_each: int) -> Iterator[ImageSet]:
    """Yield so many still sets and as many videos; the same seed gives the same sets."""
    for number in range(1, of_each + 1):
        for type, stills in ((STATIC, _details), (VIDEO, _moments)):
            key = f"{type}-{number}"
            yield ImageSet(key, type, stills(random.Random(f"{seed}|{key}")))  # noqa: S311 (drawings, not secrets)


def _details(rng: random.Random) -> list[Still]:
    """Return ten scenes that differ in how many things there are, their pattern, and the colour of what is above."""
    scene = replace(first_scene(rng), relation=LEFT)
    while IN_THE_SKY in {scene.subject.kind, scene.other.kind}:
        scene = replace(first_scene(rng), relation=LEFT)
    free = [colour for colour in COLOURS if colour not in {scene.subject.colour, scene.other.colour}]
    scenes = [
        replace(
            scene,
            subject=replace(scene.subject, pattern=pattern, count=count),
            extra=Thing(IN_THE_SKY, colour),
        )
        for pattern in PATTERNS
        for count in COUNTED
        for colour in rng.sample(free, 2)
    ]
    return [Still(each, _worded(each.caption.removesuffix("."))) for each in rng.sample(scenes, SET_SIZE)]


def _moments(rng: random.Random) -> list[Still]:
    flying, standing = rng.sample(COLOURS, 2)
    scene = Scene(
        setting=rng.choice(SETTINGS),
        subject=Thing(rng.choice(("ball", "box")), flying, size="tiny"),
        relation=ABOVE,
        other=Thing(rng.choice(("house", "tent", "mushroom", "umbrella")), standing),
    )
    subject, other = (thing.words.partition(" ")[2] for thing in (scene.subject, scene.other))
    return [
        Still(scene, _worded(f"the {subject} {moment.format(other=f'the {other}')}"), at=_on_the_arc(place))
        for place, moment in enumerate(MOMENTS)
    ]


def _on_the_arc(place: int) -> Point:
    """Return where the subject of a video is: across from left to right at one speed, up and down again."""
    share = place / (SET_SIZE - 1)
    return MARGIN + share * (1 - 2 * MARGIN), GROUND - HIGHEST * math.sin(math.pi * share)


def _worded(text: str) -> list[str]:
    worded = [wording.format(text=text[0].lower() + text[1:]) for wording in WORDINGS]
    return [each[0].upper() + each[1:] for each in worded]
