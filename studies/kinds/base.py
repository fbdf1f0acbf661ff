"""What a kind of question is: how it is made from an instance, which options it has, and in what order."""

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


class CannotAsk(Exception):
    """An instance lacks what the kind needs; the message says what, for the researcher."""


@dataclass(frozen=True)
class ImageFacts:
    """One image of an instance; `sha256` is None while its file is still awaited. Sizes in upright pixels."""

    sha256: str | None
    width: int
    height: int
    filename: str = ""


@dataclass(frozen=True)
class InstanceFacts:
    """An instance as kinds see it: captions by role, and the images of each role in order."""

    key: str
    captions: Mapping[str, str]
    images: Mapping[str, Sequence[ImageFacts]] = field(default_factory=dict)


class Kind(Protocol):
    """One kind of question. `content` is what `build` froze into the question at launch (plain JSON).

    A kind may ask several questions about one instance: its `variants`. Content has `caption` and `image` (what the
    question is about; either may be absent) and `options`, each with a `key` and an image or a `text`.
    """

    name: str
    title: str
    instructions: str
    """The default instructions, Markdown."""
    rules: tuple[str, ...]
    """The acceptance rules that make sense for it; the first is the default."""
    ask_schema: Mapping[str, Any]
    """JSON Schema of the study file's `ask` section; defaults stand in it."""

    def variants(self, ask: Mapping[str, Any]) -> list[str]:
        """Return the names of the questions asked about one instance; [""] when there is just one."""

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        """Return the content of a question about `instance`. Raises CannotAsk."""

    def right_option(self, ask: Mapping[str, Any], variant: str) -> str:
        """Return the key of the right option, "" where none is known to be right."""

    def fixed_options(self, content: Mapping[str, Any]) -> list[str]:
        """Return the keys of the options that always come last, in this order."""

    def accepted_images(self, content: Mapping[str, Any], winner: str) -> dict[str, Mapping[str, Any]]:
        """Return the images that an accepted question adds to its instance: role -> image, width, height."""


def image_option(key: str, image: ImageFacts, *, instance: str) -> dict[str, Any]:
    """Return an option that is an image. Raises CannotAsk while its file is awaited."""
    if image.sha256 is None:
        raise CannotAsk(
            f"Instance {instance} still waits for the image {image.filename}. "
            "Import the same file again with its image folder."
        )
    return {"key": key, "image": image.sha256, "width": image.width, "height": image.height}


def one_image(instance: InstanceFacts, role: str) -> dict[str, Any]:
    """Return the image of `instance` in `role` as an option called by that role. Raises CannotAsk."""
    images = instance.images.get(role, ())
    if len(images) != 1:
        raise CannotAsk(f"Instance {instance.key} has {len(images)} images in the role {role}; it needs one.")
    return image_option(role, images[0], instance=instance.key)


def one_caption(instance: InstanceFacts, role: str) -> str:
    """Return the caption of `instance` in `role`. Raises CannotAsk."""
    caption = instance.captions.get(role, "")
    if not caption:
        raise CannotAsk(f"Instance {instance.key} has no {role} to show.")
    return caption


def shown_order(kind: Kind, content: Mapping[str, Any], *, seed: str, annotator: int, question: int) -> list[str]:
    """Return all option keys in the order in which this annotator sees them.

    The same (seed, annotator, question) gives the same order on any machine and in any version of Python's
    hashing: the shuffle is seeded by a SHA-256 of the three. `seed` must be known to nobody: ids are small numbers, and
    whoever knows all three knows which option stands where.
    """
    digest = hashlib.sha256(f"{seed}|{annotator}|{question}".encode()).digest()
    keys = [str(option["key"]) for option in content["options"]]
    random.Random(int.from_bytes(digest[:8], "big")).shuffle(keys)  # noqa: S311 (the seed is secret)
    return keys + kind.fixed_options(content)


def posted_values(kind: Kind, content: Mapping[str, Any], order: Sequence[str]) -> dict[str, str]:
    """Return what a page posts for each option -> the option's key.

    Shuffled options post their place ("1", "2", ...), so that no page betrays which option is which; fixed ones
    post their own key.
    """
    fixed = kind.fixed_options(content)
    return {key if key in fixed else str(place): key for place, key in enumerate(order, start=1)}
