"""`open_clip:ARCHITECTURE/TAG` or `open_clip:ARCHITECTURE/FILE`: any contrastive model of OpenCLIP.

ARCHITECTURE is one of `open_clip.list_models()`. TAG is one of its pretrained tags, which is downloaded; FILE is a
checkpoint on the worker's machine (NegCLIP, CLIP-COCO, CLIP-TROHN and the like), or `trained:FOLDER/FILE` for one that
was trained there. A tag implies whether its weights were trained with QuickGELU, as OpenAI's were. A file does not: for
weights fine-tuned from OpenAI's, name the architecture that ends in `-quickgelu`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.scorers.base import CannotLoad, ModelIdentity, first_line, require_library, trained_path
from predictions.scorers.contrastive import Contrastive
from predictions.scorers.torch_models import (
    OF_A_COSINE,
    OnDevice,
    device_of_this_machine,
    digest_of_weights,
    facts_of,
)


@dataclass(frozen=True)
class _Library:
    """A model of OpenCLIP on a device, with the preprocessing of its images and texts."""

    model: Any
    transform: Any
    tokenizer: Any
    device: Any

    @property
    def steps_in_numbers(self) -> Sequence[Any]:
        """Return the last steps of the transform, from 8-bit pixels on; none where they are other than usual."""
        last: Sequence[Any] = self.transform.transforms[-2:]
        return last if [type(step).__name__ for step in last] == ["MaybeToTensor", "Normalize"] else []

    def normalize(self, pixels: Any) -> Any:
        """See `torch_models.HasDevice`: what the last steps do with one image (images x height x width x colour)."""
        _, normalize = self.steps_in_numbers
        return normalize(pixels.permute(0, 3, 1, 2).contiguous().float().div(255))


class OpenClip(OnDevice[_Library], Contrastive):
    """A model of OpenCLIP."""

    roundings = OF_A_COSINE

    def facts(self) -> Mapping[str, Any]:
        library = self.library
        dtype = next(library.model.parameters()).dtype
        steps = [" ".join(str(step).split()) for step in library.transform.transforms if not callable_by_name(step)]
        known = facts_of(library.device, dtype, self.half, "open_clip_torch", "torchvision", "Pillow")
        return {"scorer": "open_clip", **known, "preprocessing": steps}

    def preprocess(self, picture: Image.Image) -> NDArray[Any]:
        if not self.library.steps_in_numbers:
            pixels: NDArray[Any] = self.library.transform(picture).numpy()
            return pixels
        for step in self.library.transform.transforms[:-2]:
            picture = step(picture)
        return np.asarray(picture)

    def tokenize(self, text: str) -> NDArray[Any]:
        tokens: NDArray[Any] = self.library.tokenizer([text])[0].numpy()
        return tokens

    def embed_pictures(self, batch: Any) -> NDArray[np.float32]:
        with self.inference():
            return _vectors(self.library.model.encode_image(self.pixels(batch)))

    def embed_texts(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        import torch

        with self.inference():
            return _vectors(self.library.model.encode_text(torch.from_numpy(batch).to(self.library.device)))


def _vectors(found: Any) -> NDArray[np.float32]:
    vectors: NDArray[np.float32] = found.float().cpu().numpy()
    return vectors


def callable_by_name(step: Any) -> bool:
    """Return whether a step of a transform is a plain function, whose text contains a memory address."""
    return hasattr(step, "__name__")


def load(rest: str) -> OpenClip:
    """Load the model that ARCHITECTURE/TAG or ARCHITECTURE/FILE names. Raises CannotLoad."""
    architecture, slash, pretrained = rest.partition("/")
    if not slash or not pretrained:
        raise CannotLoad(
            f"open_clip:{rest} does not name weights. Write open_clip:ARCHITECTURE/TAG, such as "
            f"open_clip:ViT-B-32/openai, "
            "or open_clip:ARCHITECTURE/FILE with a checkpoint on the worker's machine."
        )
    with require_library("OpenCLIP"):
        import open_clip
    if architecture not in open_clip.list_models():
        raise CannotLoad(f"OpenCLIP has no architecture {architecture!r}. Its names are those of list_models().")
    pretrained = trained_path(pretrained)
    known = open_clip.get_pretrained_cfg(architecture, pretrained)
    if not known and not Path(pretrained).is_file():
        tags = ", ".join(open_clip.list_pretrained_tags_by_model(architecture)) or "none"
        raise CannotLoad(
            f"{pretrained!r} is neither a file on the worker's machine nor a tag of {architecture}. Its tags: {tags}."
        )
    device = device_of_this_machine()
    try:
        model, _, transform = open_clip.create_model_and_transforms(
            architecture,
            pretrained=pretrained,
            device=device,
            # OpenCLIP only warns if a tag needs QuickGELU.
            force_quick_gelu=bool(known and known.get("quick_gelu", False)),
        )
    # A download or a damaged file may raise anything; the person gets the reason.
    except Exception as error:
        raise CannotLoad(f"{architecture}/{pretrained} cannot be loaded ({first_line(error)}).") from error
    model.eval()
    name = pretrained if known else Path(pretrained).name
    identity = ModelIdentity(f"OpenCLIP {architecture}"[:100], name[:100], digest_of_weights(model.state_dict()))
    return OpenClip(identity, _Library(model, transform, open_clip.get_tokenizer(architecture), device))
