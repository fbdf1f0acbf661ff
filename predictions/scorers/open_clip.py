"""`open_clip:ARCHITECTURE/TAG` or `open_clip:ARCHITECTURE/FILE`: any contrastive model of OpenCLIP.

The architecture is one of `open_clip.list_models()`. TAG is one of its pretrained tags, which is downloaded; FILE is a
checkpoint on the worker's machine (NegCLIP, CLIP-COCO, CLIP-TROHN and the like). The tag says whether its weights were
trained with QuickGELU, as OpenAI's were; a file does not, so for weights fine-tuned from OpenAI's the architecture is
to be named with `-quickgelu` at its end.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.scorers.base import CannotLoad, ModelIdentity, first_line, imported
from predictions.scorers.contrastive import Contrastive
from predictions.scorers.with_torch import (
    OF_A_COSINE,
    computing,
    device_of_this_machine,
    digest_of_weights,
    facts_of,
    half_for,
    tolerance_of,
    usual_batch,
)


class OpenClip(Contrastive):
    """A model of OpenCLIP on a device."""

    def __init__(
        self, identity: ModelIdentity, model: Any, transform: Any, tokenizer: Any, device: Any, *, half: str = ""
    ) -> None:
        super().__init__(identity, batch=usual_batch(device))
        self.model = model
        self.transform = transform
        self.tokenizer = tokenizer
        self.device = device
        self.half = half
        self.tolerance = tolerance_of(half, OF_A_COSINE)

    def in_half(self, numbers: str = "") -> "OpenClip | None":
        half = half_for(self.device, numbers, usual="float16")
        if not half:
            return None
        return OpenClip(self.identity, self.model, self.transform, self.tokenizer, self.device, half=half)

    def facts(self) -> Mapping[str, Any]:
        dtype = next(self.model.parameters()).dtype
        # The transform says what it does, step by step.
        steps = [" ".join(str(step).split()) for step in self.transform.transforms if not callable_by_name(step)]
        known = facts_of(self.device, dtype, self.half, "open_clip_torch", "torchvision", "Pillow")
        return {"scorer": "open_clip", **known, "preprocessing": steps}

    def preprocess(self, picture: Image.Image) -> NDArray[Any]:
        pixels: NDArray[Any] = self.transform(picture).numpy()
        return pixels

    def tokenize(self, text: str) -> NDArray[Any]:
        tokens: NDArray[Any] = self.tokenizer([text])[0].numpy()
        return tokens

    def embed_pictures(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        return self._embed(self.model.encode_image, batch)

    def embed_texts(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        return self._embed(self.model.encode_text, batch)

    def _embed(self, encode: Any, batch: NDArray[Any]) -> NDArray[np.float32]:
        import torch

        with computing(self.device, self.half):
            vectors: NDArray[np.float32] = encode(torch.from_numpy(batch).to(self.device)).float().cpu().numpy()
            return vectors


def callable_by_name(step: Any) -> bool:
    """Tell whether a step of a transform is a bare function, whose text has an address of memory in it."""
    return hasattr(step, "__name__")


def load(rest: str) -> OpenClip:
    """Load the model that ARCHITECTURE/TAG or ARCHITECTURE/FILE names. Raises CannotLoad."""
    architecture, slash, pretrained = rest.partition("/")
    if not slash or not pretrained:
        raise CannotLoad(
            f"open_clip:{rest} names no weights. Write open_clip:ARCHITECTURE/TAG, such as open_clip:ViT-B-32/openai, "
            "or open_clip:ARCHITECTURE/FILE with a checkpoint on the worker's machine."
        )
    with imported("OpenCLIP"):
        import open_clip
    if architecture not in open_clip.list_models():
        raise CannotLoad(f"OpenCLIP knows no architecture {architecture!r}. Its names are those of list_models().")
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
            # OpenCLIP itself only warns when a tag needs it.
            force_quick_gelu=bool(known and known.get("quick_gelu", False)),
        )
    # Whatever a download or a damaged file raises is told to whoever asked; only loading is tried here.
    except Exception as error:
        raise CannotLoad(f"{architecture}/{pretrained} cannot be loaded ({first_line(error)}).") from error
    model.eval()
    name = pretrained if known else Path(pretrained).name
    identity = ModelIdentity(f"OpenCLIP {architecture}"[:100], name[:100], digest_of_weights(model.state_dict()))
    return OpenClip(identity, model, transform, open_clip.get_tokenizer(architecture), device)
