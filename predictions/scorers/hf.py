"""`hf:NAME` or `hf:FOLDER`: a CLIP or SigLIP of Hugging Face's transformers.

NAME is one of its hub, which is downloaded; FOLDER holds a model with its tokenizer and image processor on the worker's
machine. Nothing that a repository brings as code is run.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.scorers.base import CannotLoad, ModelIdentity
from predictions.scorers.contrastive import Contrastive
from predictions.scorers.with_torch import (
    device_of_this_machine,
    digest_of_weights,
    facts_of,
    memory_that_may_not_suffice,
    usual_batch,
)

# What the text towers read. SigLIP was trained on texts filled up without a mask.
INPUTS: Mapping[str, tuple[str, ...]] = {"clip": ("input_ids", "attention_mask"), "siglip": ("input_ids",)}


class HuggingFaceTowers(Contrastive):
    """A model of two towers of transformers on a device."""

    def __init__(self, identity: ModelIdentity, model: Any, tokenizer: Any, processor: Any, device: Any) -> None:
        super().__init__(identity, batch=usual_batch(device))
        self.model = model
        self.tokenizer = tokenizer
        self.processor = processor
        self.device = device
        self.inputs = INPUTS[model.config.model_type]
        self.longest = model.config.text_config.max_position_embeddings

    def facts(self) -> Mapping[str, Any]:
        known = facts_of(self.device, self.model.dtype, "transformers", "torchvision", "Pillow")
        steps = {name: value for name, value in self.processor.to_dict().items() if _is_plain(value)}
        # Read back, so that it is what JSON makes of it: a tuple is a list.
        plain = json.loads(json.dumps(steps, default=str))
        return {"scorer": f"hf {self.model.config.model_type}", **known, "preprocessing": plain}

    def preprocess(self, picture: Image.Image) -> NDArray[Any]:
        pixels: NDArray[Any] = self.processor(images=picture, return_tensors="pt")["pixel_values"][0].numpy()
        return pixels

    def tokenize(self, text: str) -> NDArray[Any]:
        """Return a row for each input of the text tower; a text that is too long loses its end."""
        read = self.tokenizer(
            text, padding="max_length", truncation=True, max_length=self.longest, return_attention_mask=True
        )
        return np.array([read[name] for name in self.inputs], dtype=np.int64)

    def embed_pictures(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        import torch

        with memory_that_may_not_suffice():
            pixels = torch.from_numpy(batch).to(self.device, self.model.dtype)
            return _vectors(self.model.get_image_features(pixel_values=pixels))

    def embed_texts(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        import torch

        with memory_that_may_not_suffice():
            rows = torch.from_numpy(batch).to(self.device)
            given = {name: rows[:, place] for place, name in enumerate(self.inputs)}
            return _vectors(self.model.get_text_features(**given))


def _vectors(found: Any) -> NDArray[np.float32]:
    # Since transformers 5 the features are the pooled output of a tower; before, they were all that was returned.
    pooled = getattr(found, "pooler_output", found)
    vectors: NDArray[np.float32] = pooled.float().cpu().numpy()
    return vectors


def _is_plain(value: Any) -> bool:
    return value is not None and isinstance(value, bool | int | float | str | list | tuple | dict)


def load(rest: str) -> HuggingFaceTowers:
    """Load the model of that name or in that folder. Raises CannotLoad."""
    try:
        from transformers import AutoConfig, AutoImageProcessor, AutoModel, AutoTokenizer
    except ImportError as error:
        raise CannotLoad(
            f"transformers cannot be used on the worker ({error}). Install requirements-gpu.txt there."
        ) from error
    # Whatever a download or a damaged file raises is told to whoever asked; only loading is tried here.
    try:
        config = AutoConfig.from_pretrained(rest)
        if config.model_type not in INPUTS:
            raise CannotLoad(
                f"{rest} is a model of the type {config.model_type!r}; those of {', '.join(INPUTS)} can be used."
            )
        device = device_of_this_machine()
        model = AutoModel.from_pretrained(rest, dtype="float32").to(device).eval()
        tokenizer, processor = AutoTokenizer.from_pretrained(rest), AutoImageProcessor.from_pretrained(rest)
    except CannotLoad:
        raise
    except Exception as error:
        why = str(error).strip().partition("\n")[0][:300] or type(error).__name__
        raise CannotLoad(
            f"{rest} cannot be loaded ({why}). Write a name of Hugging Face's hub, or a folder on the worker's machine."
        ) from error
    folder = Path(rest)
    identity = ModelIdentity(
        (folder.name if folder.is_dir() else rest)[:100],
        str(getattr(config, "_commit_hash", None) or "")[:100],
        digest_of_weights(model.state_dict()),
    )
    return HuggingFaceTowers(identity, model, tokenizer, processor, device)
