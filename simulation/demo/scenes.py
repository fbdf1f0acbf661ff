"""Scenes in words: what is where, the caption, and changes that make another scene of it.

The changes are SugarCrepe's (add, replace, swap; object, attribute, relation), applied to the scene and not to the
text, so that it is known which drawing shows what a caption says.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "white")
KINDS = ("ball", "balloon", "box", "car", "fish", "flower", "house", "kite", "mug", "mushroom", "tent", "umbrella")
PATTERNS = ("striped", "spotted")
SIZES = ("tiny", "huge")
SETTINGS = ("on a meadow", "on a beach", "in the snow", "in a desert", "under the stars")
LEFT, RIGHT, ABOVE, BELOW = "to the left of", "to the right of", "above", "below"
RELATIONS = (LEFT, RIGHT, ABOVE, BELOW)
MIRRORED = {RIGHT: LEFT, BELOW: ABOVE}
COUNTS = {1: "a", 2: "two", 3: "three"}
PLURALS = {"box": "boxes", "fish": "fish"}


@dataclass(frozen=True)
class Thing:
    """`pattern` and `size` are empty if the scene does not mention them."""

    kind: str
    colour: str
    pattern: str = ""
    size: str = ""
    count: int = 1

    @property
    def words(self) -> str:
        noun = self.kind if self.count == 1 else PLURALS.get(self.kind, f"{self.kind}s")
        described = " ".join(word for word in (self.size, self.pattern, self.colour, noun) if word)
        article = "an" if self.count == 1 and described[0] in "aeiou" else COUNTS[self.count]
        return f"{article} {described}"


@dataclass(frozen=True)
class Scene:
    """`subject` is in `relation` to `other`; `extra`, if any, is in the sky."""

    setting: str
    subject: Thing
    relation: str
    other: Thing
    extra: Thing | None = None

    @property
    def caption(self) -> str:
        text = f"{self.subject.words} {self.relation} {self.other.words} {self.setting}"
        if self.extra is not None:
            text += f", with {self.extra.words} in the sky"
        return f"{text[0].upper()}{text[1:]}."

    def from_one_side(self) -> "Scene":
        """Return the same scene told with "to the left of" or "above"."""
        if self.relation not in MIRRORED:
            return self
        return replace(self, subject=self.other, relation=MIRRORED[self.relation], other=self.subject)


def _shows_thing(drawn: Thing, asked: Thing) -> bool:
    return (
        (drawn.kind, drawn.colour, drawn.count) == (asked.kind, asked.colour, asked.count)
        and asked.pattern in {"", drawn.pattern}
        and asked.size in {"", drawn.size}
    )


def shows(drawn: Scene, asked: Scene) -> bool:
    """Return whether a drawing of `drawn` shows everything in the caption of `asked`."""
    drawn, asked = drawn.from_one_side(), asked.from_one_side()
    if (drawn.setting, drawn.relation) != (asked.setting, asked.relation):
        return False
    if not (_shows_thing(drawn.subject, asked.subject) and _shows_thing(drawn.other, asked.other)):
        return False
    return asked.extra is None or (drawn.extra is not None and _shows_thing(drawn.extra, asked.extra))


def _choose_other(words: tuple[str, ...], rng: random.Random, *taken: str) -> str:
    return rng.choice([word for word in words if word not in taken])


def first_scene(rng: random.Random) -> Scene:
    """Return a scene of two things that differ in kind and in colour."""
    kinds, colours = rng.sample(KINDS, 2), rng.sample(COLOURS, 2)
    return Scene(
        setting=rng.choice(SETTINGS),
        subject=Thing(kinds[0], colours[0], count=rng.choice((1, 1, 2, 3))),
        relation=rng.choice(RELATIONS),
        other=Thing(kinds[1], colours[1]),
    )


def _with_extra(scene: Scene, rng: random.Random) -> Scene:
    taken = (scene.subject, scene.other)
    extra = Thing(
        _choose_other(("balloon", "kite", "fish", "ball"), rng, *(thing.kind for thing in taken)),
        _choose_other(COLOURS, rng, *(thing.colour for thing in taken)),
    )
    return replace(scene, extra=extra)


def _with_attribute(scene: Scene, rng: random.Random) -> Scene:
    # Side by side there is no room for huge things.
    if scene.subject.count > 1 or rng.random() < 0.5:
        return replace(scene, subject=replace(scene.subject, pattern=rng.choice(PATTERNS)))
    return replace(scene, subject=replace(scene.subject, size=rng.choice(SIZES)))


def _change_either(scene: Scene, rng: random.Random, **change: Any) -> Scene:
    """Return the scene with subject or other changed, each with the same chance."""
    if rng.random() < 0.5:
        return replace(scene, subject=replace(scene.subject, **change))
    return replace(scene, other=replace(scene.other, **change))


def _with_other_kind(scene: Scene, rng: random.Random) -> Scene:
    return _change_either(scene, rng, kind=_choose_other(KINDS, rng, scene.subject.kind, scene.other.kind))


def _with_other_colour(scene: Scene, rng: random.Random) -> Scene:
    return _change_either(scene, rng, colour=_choose_other(COLOURS, rng, scene.subject.colour, scene.other.colour))


def _with_other_count(scene: Scene, rng: random.Random) -> Scene:
    count = rng.choice([count for count in COUNTS if count != scene.subject.count])
    return replace(scene, subject=replace(scene.subject, count=count))


def _with_other_attribute(scene: Scene, rng: random.Random) -> Scene:
    return rng.choice((_with_other_colour, _with_other_count))(scene, rng)


def _with_other_relation(scene: Scene, rng: random.Random) -> Scene:
    return replace(scene, relation=_choose_other(RELATIONS, rng, scene.relation))


def _with_objects_swapped(scene: Scene, rng: random.Random) -> Scene:
    return replace(scene, subject=scene.other, other=scene.subject)


def _with_colours_swapped(scene: Scene, rng: random.Random) -> Scene:
    return replace(
        scene,
        subject=replace(scene.subject, colour=scene.other.colour),
        other=replace(scene.other, colour=scene.subject.colour),
    )


Change = Callable[[Scene, random.Random], Scene]
CHANGES: dict[tuple[str, str], Change] = {
    ("add", "obj"): _with_extra,
    ("add", "att"): _with_attribute,
    ("replace", "obj"): _with_other_kind,
    ("replace", "att"): _with_other_attribute,
    ("replace", "rel"): _with_other_relation,
    ("swap", "obj"): _with_objects_swapped,
    ("swap", "att"): _with_colours_swapped,
}
# Typical errors of an image generator: one wrong detail.
SLIPS: tuple[Change, ...] = (
    _with_other_kind,
    _with_other_colour,
    _with_other_count,
    _with_other_relation,
    _with_objects_swapped,
    _with_colours_swapped,
)


@dataclass(frozen=True)
class SceneInstance:
    """A scene, its changed scene with the negative caption, and candidate scenes for that caption.

    `right` is the index of the only candidate that shows the negative caption; None if there is none.
    """

    key: str
    type: str
    subtype: str
    scene: Scene
    negative: Scene
    candidates: tuple[Scene, ...]
    right: int | None

    @property
    def right_option(self) -> str:
        """Return the right answer to "which candidate shows the negative caption?", as studies name options."""
        return "none" if self.right is None else f"candidate-{self.right}"


def _unfaithful(asked: Scene, original: Scene, rng: random.Random) -> Iterator[Scene]:
    """Yield different scenes that do not show `asked`, first the original, which never does."""
    given = {original}
    yield original
    while True:
        slipped = rng.choice(SLIPS)(asked, rng)
        if slipped not in given and not shows(slipped, asked):
            given.add(slipped)
            yield slipped


CANDIDATES = 4
# One instance in this many has no faithful candidate.
NONE_RIGHT_EVERY = 7


def describe_instances(*, seed: str, per_category: int) -> Iterator[SceneInstance]:
    """Yield `per_category` instances of each type and subtype; the same seed gives the same ones."""
    for category_number, ((type_, subtype), change) in enumerate(CHANGES.items()):
        for number in range(per_category):
            key = f"{type_}-{subtype}-{number + 1:02}"
            rng = random.Random(f"{seed}|{key}")  # noqa: S311 (drawings, not secrets)
            scene = first_scene(rng)
            negative = change(scene, rng)
            wrong = _unfaithful(negative, scene, rng)
            none_right = (category_number + number) % NONE_RIGHT_EVERY == NONE_RIGHT_EVERY - 1
            right = None if none_right else rng.randrange(CANDIDATES)
            positions = list(range(CANDIDATES))
            rng.shuffle(positions)
            candidates = [negative] * CANDIDATES
            for position in positions:
                if position != right:
                    candidates[position] = next(wrong)
            yield SceneInstance(key, type_, subtype, scene, negative, tuple(candidates), right)
