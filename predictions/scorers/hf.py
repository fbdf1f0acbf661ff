"""`hf:NAME` or `hf:FOLDER`: a CLIP, a SigLIP, or an image-text matching BLIP of Hugging Face's transformers.

NAME is a model on its hub, which is downloaded; FOLDER holds a model with its tokenizer and image processor on the
worker's machine, or is `trained:FOLDER/NAME` for one that was trained there. Code in a repository is never run.

The score of BLIP is the difference of its matching head's two logits ("match" minus "no match"). It orders pairs like
the probability, and also separates those whose probability is rounded to 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.scorers.base import CannotLoad, require_library, trained_path
from predictions.scorers.contrastive import Contrastive
from predictions.scorers.matching import Matching
from predictions.scorers.torch_models import OF_A_COSINE, OF_LOG_ODDS, OnDevice, device_of_this_machine, facts_of
from predictions.scorers.transformers_models import (
    Preprocessing,
    check_nothing_is_missing,
    identity_of,
    report_load_errors,
    steps_of,
)

# SigLIP was trained with padded texts and no mask.
INPUTS: Mapping[str, tuple[str, ...]] = {
    "clip": ("input_ids", "attention_mask"),
    "siglip": ("input_ids",),
    "blip": ("input_ids", "attention_mask"),
}
# BLIP was trained with 35; a description may be longer.
LONGEST_FOR_BLIP = 128


@dataclass(frozen=True)
class _Library:
    """A model of transformers on a device, with the preprocessing of its images and texts."""

    model: Any
    tokenizer: Any
    preprocessing: Preprocessing
    device: Any
    longest: int

    def normalize(self, pixels: Any) -> Any:
        return self.preprocessing.normalize(pixels)


class _HuggingFace(OnDevice[_Library]):
    """Shared base of all models of transformers."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return INPUTS[self.library.model.config.model_type]

    def facts(self) -> Mapping[str, Any]:
        library = self.library
        known = facts_of(library.device, library.model.dtype, self.half, "transformers", "torchvision", "Pillow")
        scorer = {"scorer": f"hf {library.model.config.model_type}", "longest": library.longest}
        return {**scorer, **known, "preprocessing": steps_of(library.preprocessing.processor)}

    def preprocess(self, picture: Image.Image) -> NDArray[Any]:
        return self.library.preprocessing.pixels(picture)

    def tokenize(self, text: str) -> NDArray[Any]:
        """Return a row of integers for each text input of the model, such as token ids; truncate a long text."""
        whole = {"padding": "max_length", "truncation": True, "return_attention_mask": True}
        read = self.library.tokenizer(text, max_length=self.library.longest, **whole)
        return np.array([read[name] for name in self.inputs], dtype=np.int64)

    def pixels(self, batch: Any) -> Any:
        return super().pixels(batch).to(self.library.model.dtype)

    def texts(self, batch: NDArray[Any]) -> dict[str, Any]:
        import torch

        rows = torch.from_numpy(batch).to(self.library.device)
        return {name: rows[:, place] for place, name in enumerate(self.inputs)}


class HuggingFaceTowers(_HuggingFace, Contrastive):
    """A two-tower model of transformers."""

    roundings = OF_A_COSINE

    def embed_pictures(self, batch: Any) -> NDArray[np.float32]:
        with self.inference():
            return _vectors(self.library.model.get_image_features(pixel_values=self.pixels(batch)))

    def embed_texts(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        with self.inference():
            return _vectors(self.library.model.get_text_features(**self.texts(batch)))


class HuggingFaceMatching(_HuggingFace, Matching):
    """A BLIP of transformers with its image-text matching head."""

    roundings = OF_LOG_ODDS

    def facts(self) -> Mapping[str, Any]:
        return {**super().facts(), "score": "logit of match less logit of no match"}

    def look(self, batch: Any) -> Any:
        with self.inference():
            return self.library.model.vision_model(pixel_values=self.pixels(batch)).last_hidden_state

    def match(self, states: Any, places: Sequence[int], texts: NDArray[Any]) -> NDArray[np.float32]:
        import torch

        with self.inference():
            of_each = states[torch.tensor(list(places), device=states.device)]
            seen = torch.ones(of_each.shape[:-1], dtype=torch.long, device=states.device)
            read = self.library.model.text_encoder(
                **self.texts(texts), encoder_hidden_states=of_each, encoder_attention_mask=seen
            )
            logits = self.library.model.itm_head(read.last_hidden_state[:, 0, :]).float()
            scores: NDArray[np.float32] = (logits[:, 1] - logits[:, 0]).cpu().numpy()
            return scores


def _vectors(found: Any) -> NDArray[np.float32]:
    # Since transformers 5 the features are the pooled output of a tower; before, they were the return value.
    pooled = getattr(found, "pooler_output", found)
    vectors: NDArray[np.float32] = pooled.float().cpu().numpy()
    return vectors


def load(rest: str) -> HuggingFaceTowers | HuggingFaceMatching:
    """Load the model of that name or in that folder. Raises CannotLoad."""
    rest = trained_path(rest)
    with require_library("transformers"):
        from transformers import AutoConfig, AutoImageProcessor, AutoModel, AutoTokenizer, BlipForImageTextRetrieval
    with report_load_errors(rest):
        config = AutoConfig.from_pretrained(rest)
        if config.model_type not in INPUTS:
            raise CannotLoad(
                f"{rest} is a model of the type {config.model_type!r}; those of {', '.join(INPUTS)} can be used."
            )
        device = device_of_this_machine()
        is_blip = config.model_type == "blip"
        made = BlipForImageTextRetrieval if is_blip else AutoModel
        model, told = made.from_pretrained(rest, dtype="float32", output_loading_info=True)
        check_nothing_is_missing(rest, told, "Use a BLIP for image-text matching.")
        model = model.to(device).eval()
        tokenizer = AutoTokenizer.from_pretrained(rest)
        preprocessing = Preprocessing(AutoImageProcessor.from_pretrained(rest))
    longest = config.text_config.max_position_embeddings
    library = _Library(
        model, tokenizer, preprocessing, device, longest=min(LONGEST_FOR_BLIP, longest) if is_blip else longest
    )
    return (HuggingFaceMatching if is_blip else HuggingFaceTowers)(identity_of(rest, model), library)
