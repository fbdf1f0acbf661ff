"""Images by text-to-image models (`diffusers:NAME`), each named as diffusers knows it or by its folder on the worker.

The example that ships, making/designs/four-candidates.yaml, is BiVLC's step 2 (Miranda et al. 2024): four images for
each caption by SDXL, whose UNet was trained by DPO (Wallace et al. 2023).
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, ClassVar

from pydantic import Field

from making.errors import CannotMake
from making.makers.base import LoadedMaker, MadeImage, Maker, MakerIdentity, NothingMade, Request, png_of
from predictions.scorers.base import first_line

VERSION = "1"
# The checker of a pipeline that does without one, which its file must say.
NO_CHECKER = "none"
# Labels of image classifiers for what must not be shown.
UNSAFE = frozenset({"nsfw", "unsafe", "porn", "hentai", "sexy", "gore", "violence"})
# An image whose channels all vary by less than this, of 255, shows nothing.
FLAT_BELOW = 2


class Diffusers(Maker):
    """Text-to-image pipelines of the library diffusers.

    `checker`: a model of transformers that classifies images, NO_CHECKER for none: an image that it calls unsafe is
    rejected. `unet`: other weights for the pipeline's UNet.
    """

    policies: ClassVar[Mapping[str, str]] = {"NAME": "Make images with a text-to-image model."}
    makes_images: ClassVar[bool] = True
    on_worker: ClassVar[bool] = True

    checker: str = Field(min_length=1, description="Name a model that finds unsafe images, or write none.")
    steps: int = Field(default=50, ge=1, le=500)
    guidance: float = Field(default=7.5, ge=0, le=50)
    width: int = Field(default=512, ge=64, le=2048, multiple_of=8)
    height: int = Field(default=512, ge=64, le=2048, multiple_of=8)
    negative_prompt: str = ""
    unet: str = ""

    def load(self, policy: str) -> LoadedMaker:
        return _Loaded(policy, self)


class _Loaded(LoadedMaker):
    def __init__(self, name: str, options: Diffusers) -> None:
        # Imported here, because the site imports this file too.
        try:
            import diffusers
            import torch
        except ImportError as error:
            raise CannotMake(
                f"diffusers cannot be used on the worker ({error}). Install requirements-gpu.txt there."
            ) from error
        from predictions.scorers.torch_models import device_of_this_machine, digest_of_weights

        self._options, self._torch = options, torch
        self._device = device_of_this_machine()
        numbers = torch.float32 if self._device.type == "cpu" else torch.float16
        try:
            pipeline: Any = diffusers.DiffusionPipeline.from_pretrained(name, dtype=numbers)
            if options.unet:
                pipeline.unet = diffusers.UNet2DConditionModel.from_pretrained(
                    options.unet, subfolder="unet", dtype=numbers
                )
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise CannotMake(f"The model {name} cannot be loaded: {first_line(error)}") from error
        pipeline.safety_checker = None
        pipeline.set_progress_bar_config(disable=True)
        self._pipeline = pipeline.to(self._device)
        self._checker = _Checker(options.checker, self._device)
        parts = {
            key: part.state_dict() for key, part in pipeline.components.items() if isinstance(part, torch.nn.Module)
        }
        weights = digest_of_weights(
            {f"{key}.{place}": numbers for key, state in parts.items() for place, numbers in state.items()}
        )
        self.identity = MakerIdentity(
            f"diffusers:{name}",
            f"{VERSION}; diffusers {version('diffusers')}, torch {version('torch')} on {self._device.type}",
            weights,
        )

    def make(self, requests: Sequence[Request]) -> list[Sequence[MadeImage] | NothingMade]:
        return [self._make(request) for request in requests]

    def _make(self, request: Request) -> Sequence[MadeImage] | NothingMade:
        if not request.text.strip():
            return NothingMade("The text is empty.")
        options = self._options
        # On the CPU, so that the same seed begins with the same noise on every device.
        seeds = [request.seed + number for number in range(request.count)]
        with self._torch.inference_mode():
            images = self._pipeline(
                prompt=[request.text] * request.count,
                negative_prompt=[options.negative_prompt] * request.count,
                num_inference_steps=options.steps,
                guidance_scale=options.guidance,
                width=options.width,
                height=options.height,
                generator=[self._torch.Generator("cpu").manual_seed(seed) for seed in seeds],
            ).images
        return [
            MadeImage(png_of(image), seed, request.text, self._checker.problem(image))
            for image, seed in zip(images, seeds, strict=True)
        ]


class _Checker:
    """Finds images that must not be shown: broken ones, and those that its model calls unsafe."""

    def __init__(self, name: str, device: Any) -> None:
        self._classify: Any = None
        if name == NO_CHECKER:
            return
        from transformers import pipeline

        try:
            self._classify = pipeline("image-classification", model=name, device=device)
        except (OSError, ValueError, KeyError) as error:
            raise CannotMake(f"The checker {name} cannot be loaded: {first_line(error)}") from error

    def problem(self, image: Any) -> str:
        """Return why an image is rejected, as a sentence, "" if it is not."""
        if is_flat(image):
            return "The image is broken: it has only one colour."
        if self._classify is None:
            return ""
        label = str(self._classify(image, top_k=1)[0]["label"]).casefold()
        return f"The checker classifies the image as {label}." if label in UNSAFE else ""


def is_flat(image: Any) -> bool:
    """Whether an image (of Pillow) has only one colour."""
    return all(high - low < FLAT_BELOW for low, high in image.convert("RGB").getextrema())
