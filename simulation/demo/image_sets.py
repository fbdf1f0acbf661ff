"""Draw sets of ten similar images, and write the texts that annotators may give about each. Pure.

A still set is one scene with ten variations of its details. A video is one scene over which something small flies in an
arc.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from simulation.demo.pictures import GROUND
from simulation.demo.scenes import ABOVE, COLOURS, LEFT, PATTERNS, SETTINGS, Scene, Thing, first_scene
from studies.descriptions import SET_SIZE, STATIC, VIDEO

Point = tuple[float, float]

# Field of a drawn set's source with texts that simulated annotators may write, by image key.
TEXTS = "made_up_texts"
COUNTED = (1, 2, 3)
# A thing above a still set, in one of two colours that no other thing in the set has.
IN_THE_SKY = "kite"
# The arc of a video, in fractions of the image: margin at both sides, and height.
MARGIN = 0.1
HIGHEST = 0.6
# Position of the flying thing in the ten images of a video, relative to the thing in the middle.
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
class SetImage:
    """One image of a set.

    For a video with the place of its subject: the middle of its foot, in fractions of the image from the upper left.
    texts: what annotators may write; each fits no other image of the set.
    """

    scene: Scene
    texts: Sequence[str]
    at: Point | None = None


@dataclass(frozen=True)
class ImageSet:
    key: str
    type: str
    stills: Sequence[SetImage]


def describe_sets(*, seed: str, of_each: int) -> Iterator[ImageSet]:
    """Yield `of_each` still sets and as many videos; the same seed gives the same sets."""
    for number in range(1, of_each + 1):
        for type, stills in ((STATIC, _still_scenes), (VIDEO, _video_scenes)):
            key = f"{type}-{number}"
            yield ImageSet(key, type, stills(random.Random(f"{seed}|{key}")))  # noqa: S311 (drawings, not secrets)


def _still_scenes(rng: random.Random) -> list[SetImage]:
    """Return ten scenes that differ in number of things, pattern, and colour of what is above."""
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
    return [SetImage(each, _caption(each.caption.removesuffix("."))) for each in rng.sample(scenes, SET_SIZE)]


def _video_scenes(rng: random.Random) -> list[SetImage]:
    flying, standing = rng.sample(COLOURS, 2)
    scene = Scene(
        setting=rng.choice(SETTINGS),
        subject=Thing(rng.choice(("ball", "box")), flying, size="tiny"),
        relation=ABOVE,
        other=Thing(rng.choice(("house", "tent", "mushroom", "umbrella")), standing),
    )
    subject, other = (thing.words.partition(" ")[2] for thing in (scene.subject, scene.other))
    return [
        SetImage(scene, _caption(f"the {subject} {moment.format(other=f'the {other}')}"), at=_place_on_arc(place))
        for place, moment in enumerate(MOMENTS)
    ]


def _place_on_arc(place: int) -> Point:
    """Return the subject's place in a video: left to right at constant speed, up and down again."""
    share = place / (SET_SIZE - 1)
    return MARGIN + share * (1 - 2 * MARGIN), GROUND - HIGHEST * math.sin(math.pi * share)


def _caption(text: str) -> list[str]:
    worded = [wording.format(text=text[0].lower() + text[1:]) for wording in WORDINGS]
    return [each[0].upper() + each[1:] for each in worded]
