"""Altered images: mixed with another one (`mix:random`), or with a patch of another one (`patch:random`).

Source: Park et al. 2024 (RoCOCO); `evaluation.alterations` has both. There the partner of an image comes from its batch
of 64, and may be the image itself. Here it is any other image of the project, but none of the same instance.
"""

import random
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import ClassVar

from PIL import Image
from pydantic import Field

from evaluation.alterations import SHARE, mix_images, patch_image
from making.makers.base import Images, LoadedMaker, MadeImage, Maker, MakerIdentity, NothingMade, Request, png_of
from predictions.scorers import NoPicture

VERSION = "1"


class _Alteration(Maker):
    """Makers of squares of 384 x 384 pixels from two images. `share`: how much of the first one there is."""

    makes_images: ClassVar[bool] = True
    reads_images: ClassVar[bool] = True

    share: float = Field(default=SHARE, ge=0.01, le=0.99)

    def load(self, policy: str) -> LoadedMaker:
        return _Loaded(f"{self._family()}:{policy}", self)

    @abstractmethod
    def alter(self, image: Image.Image, other: Image.Image, rng: random.Random) -> Image.Image:
        """Return the altered image."""

    @classmethod
    @abstractmethod
    def _family(cls) -> str: ...


class Mix(_Alteration):
    """Images blended with another one."""

    policies: ClassVar[Mapping[str, str]] = {"random": "Blend an image with another one of the project."}

    def alter(self, image: Image.Image, other: Image.Image, rng: random.Random) -> Image.Image:
        return mix_images(image, other, share=self.share)

    @classmethod
    def _family(cls) -> str:
        return "mix"


class Patch(_Alteration):
    """Images of which a rectangle comes from another one."""

    policies: ClassVar[Mapping[str, str]] = {"random": "Replace a rectangle of an image by that of another one."}

    def alter(self, image: Image.Image, other: Image.Image, rng: random.Random) -> Image.Image:
        return patch_image(image, other, rng=rng, share=self.share)

    @classmethod
    def _family(cls) -> str:
        return "patch"


class _Loaded(LoadedMaker):
    def __init__(self, name: str, maker: _Alteration) -> None:
        self.identity = MakerIdentity(name, f"{VERSION}; Pillow {version('pillow')}")
        self._maker = maker

    def look_at(self, images: Images) -> None:
        self._images = images

    def make(self, requests: Sequence[Request]) -> list[Sequence[MadeImage] | NothingMade]:
        return [self._make(request) for request in requests]

    def _make(self, request: Request) -> Sequence[MadeImage] | NothingMade:
        try:
            image = self._images.open(request.image)
        except NoPicture as error:
            return NothingMade(str(error))
        made: list[MadeImage] = []
        used: set[str] = set()
        for seed in range(request.seed, request.seed + request.count):
            rng = random.Random(seed)  # noqa: S311 (no secret)
            name, other = next(self._others(request, used, rng), ("", None))
            if other is None:
                break
            used.add(name)
            altered = self._maker.alter(image, other, rng)
            made.append(MadeImage(png_of(altered), seed, f"the images {request.image} and {name}"))
        return made or NothingMade("The project has no other image that can be read in the role of the images.")

    def _others(self, request: Request, used: set[str], rng: random.Random) -> Iterator[tuple[str, Image.Image]]:
        """Yield other images that can be read, in a random order."""
        excluded = used | request.own_images | {request.image}
        # Few are excluded, so that few are drawn: sampling all names for each image would take longer than mixing.
        names = self._images.names
        for some in (min(len(names), len(excluded) + 10), len(names)):
            for name in rng.sample(names, some):
                if name not in excluded:
                    try:
                        yield name, self._images.open(name)
                    except NoPicture:
                        excluded.add(name)
