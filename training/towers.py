"""The two towers of a contrastive model, ready to be trained: those of OpenCLIP, and CLIP of transformers.

Loading, preprocessing and tokenizing are those of the scorers (`predictions.scorers`), so that a trained model sees
what it will see when it predicts. Importing this module does not import torch.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.scorers import CannotLoad, problem_with_spec, scorer_of
from predictions.scorers.base import OutOfMemory, first_line
from predictions.scorers.hf import HuggingFaceTowers
from predictions.scorers.open_clip import OpenClip
from predictions.scorers.torch_models import is_short_memory, report_short_memory
from training.errors import CannotTrain

# OpenCLIP, as OpenAI, never lets logits be scaled by more than 100: the logarithm of it.
LARGEST_LOG_SCALE = 4.605170185988092


class Towers(ABC):
    """A model that embeds images and texts. `model`: the module of torch; `spec`: what it was loaded from."""

    def __init__(self, spec: str, scorer: Any, device: Any) -> None:
        self.spec, self.device = spec, device
        scorer.library.model.to(device)
        scorer.library = replace(scorer.library, device=device)
        self._scorer = scorer

    @property
    def model(self) -> Any:
        return self._scorer.library.model

    @property
    def identity(self) -> Any:
        return self._scorer.identity

    def preprocess(self, picture: Image.Image) -> NDArray[Any]:
        """Return the pixels of an image as `embed_images` takes them, one shape for all. Called from threads."""
        pixels: NDArray[Any] = self._scorer.preprocess(picture)
        return pixels

    def tokenize(self, texts: Sequence[str]) -> Any:
        """Return texts as `embed_texts` takes them, in rows of a tensor, in the memory of this machine."""
        import torch

        return torch.from_numpy(np.stack([self._scorer.tokenize(text) for text in texts]))

    def normalize(self, pixels: Any) -> Any:
        """Return a tensor of preprocessed pixels, on the device, as numbers around 0."""
        return self._scorer.pixels(pixels)

    @abstractmethod
    def embed_images(self, pixels: Any) -> Any:
        """Return the vectors of normalized images, in rows, of any length."""

    @abstractmethod
    def embed_texts(self, tokens: Any) -> Any:
        """Return the vectors of tokenized texts on the device, in rows, of any length."""

    @property
    def vector_length(self) -> int:
        """Return how many numbers a vector has."""
        import torch

        with torch.inference_mode():
            return int(self.embed_texts(self.tokenize(["a"]).to(self.device)).shape[1])

    @property
    def logit_scale(self) -> Any:
        """Return what cosines are multiplied with: a tensor of one number."""
        return self.model.logit_scale.exp()

    def parameters_of_shares(self) -> list[Any]:
        """Return the parameters whose gradients come from a share of a batch: all but the scale of the whole one."""
        scale = self.model.logit_scale
        return [each for each in self.model.parameters() if each.requires_grad and each is not scale]

    def clamp_logit_scale(self) -> None:
        import torch

        with torch.no_grad():
            self.model.logit_scale.clamp_(0, LARGEST_LOG_SCALE)

    @abstractmethod
    def save(self, folder: Path, name: str) -> tuple[Path, str]:
        """Write the weights; return the file or folder, and its spec for predictions."""


class OpenClipTowers(Towers):
    def embed_images(self, pixels: Any) -> Any:
        return self.model.encode_image(pixels)

    def embed_texts(self, tokens: Any) -> Any:
        return self.model.encode_text(tokens)

    def save(self, folder: Path, name: str) -> tuple[Path, str]:
        """Write a file as OpenCLIP's own training does, without what only training needs."""
        from training.checkpoints import write_file

        path = folder / f"{name}.pt"
        write_file(path, {"name": name, "state_dict": self.model.state_dict()})
        return path, f"open_clip:{self._architecture}/{path}"

    @property
    def _architecture(self) -> str:
        """Return the architecture that loads the weights from a file as they are.

        A tag may say that its weights were trained with QuickGELU; a file cannot.
        """
        import open_clip

        architecture, _, tag = self.spec.partition(":")[2].partition("/")
        known = open_clip.get_pretrained_cfg(architecture, tag)
        needs_quick = bool(known and known.get("quick_gelu", False)) and not architecture.endswith("-quickgelu")
        return f"{architecture}-quickgelu" if needs_quick else architecture


class HuggingFaceClipTowers(Towers):
    def embed_images(self, pixels: Any) -> Any:
        return _pooled(self.model.get_image_features(pixel_values=pixels))

    def embed_texts(self, tokens: Any) -> Any:
        inputs = {name: tokens[:, place] for place, name in enumerate(self._scorer.inputs)}
        return _pooled(self.model.get_text_features(**inputs))

    def save(self, folder: Path, name: str) -> tuple[Path, str]:
        """Write a folder as transformers does, with tokenizer and image processor."""
        from training.checkpoints import write_folder

        library = self._scorer.library
        path = folder / name

        def write(into: Path) -> None:
            for part in (library.model, library.tokenizer, library.preprocessing.processor):
                part.save_pretrained(into)

        write_folder(path, write)
        return path, f"hf:{path}"


def _pooled(found: Any) -> Any:
    return getattr(found, "pooler_output", found)


def load_towers(spec: str, families: Sequence[str], device: str = "") -> Towers:
    """Load the towers of the model that `spec` names. `families`: those that are allowed. Raises CannotTrain."""
    family = spec.partition(":")[0]
    if problem := problem_with_spec(spec):
        raise CannotTrain(problem)
    if family not in families:
        raise CannotTrain(f"{spec} is of the family {family!r}; this recipe trains those of {', '.join(families)}.")
    try:
        with report_short_memory():
            return _load(spec, device)
    except OutOfMemory as error:
        raise CannotTrain(_too_large(spec)) from error
    except CannotLoad as error:
        raise CannotTrain(_too_large(spec) if is_short_memory(error.__cause__) else str(error)) from error


def _too_large(spec: str) -> str:
    return (
        f"The memory of the device is too small to load {spec}. Use a larger device or a smaller base model, or end "
        "other programs on the device, and resume."
    )


def _load(spec: str, device: str) -> Towers:
    scorer = scorer_of(spec)
    chosen = _device(device) if device else scorer.library.device  # type: ignore[attr-defined]
    if isinstance(scorer, OpenClip) and _has_one_scale(scorer.library.model):
        _check_preprocessing(spec, scorer.library.model)
        return OpenClipTowers(spec, scorer, chosen)
    if isinstance(scorer, HuggingFaceTowers) and scorer.library.model.config.model_type == "clip":
        return HuggingFaceClipTowers(spec, scorer, chosen)
    raise CannotTrain(f"{spec} is no CLIP: it has no two towers with one scale. Begin with a CLIP.")


def _device(named: str) -> Any:
    """Return a device of torch. Raises CannotTrain if this machine has none of this name."""
    import torch

    try:
        device = torch.device(named)
        torch.empty(0, device=device)
    # What torch raises depends on how it was built.
    except (RuntimeError, AssertionError) as error:
        raise CannotTrain(
            f"This machine has no device {named!r} ({first_line(error)}). Use cpu, or cuda:0 for its first GPU."
        ) from error
    return device


def _has_one_scale(model: Any) -> bool:
    """Whether the loss of a model of OpenCLIP has a scale, and no bias, as that of SigLIP has."""
    return hasattr(model, "logit_scale") and getattr(model, "logit_bias", None) is None


def _check_preprocessing(spec: str, model: Any) -> None:
    """Raise CannotTrain if a tag prepares images in a way that a file of the trained weights could not tell."""
    from dataclasses import asdict

    from open_clip.transform import PreprocessCfg

    known, usual = getattr(model.visual, "preprocess_cfg", {}), asdict(PreprocessCfg())
    other = sorted(name for name in known if name != "size" and known[name] != usual[name])
    if other:
        raise CannotTrain(
            f"{spec} prepares images in its own way ({', '.join(other)}), which OpenCLIP forgets when it loads weights "
            "from a file. Begin with weights of another tag, such as openai."
        )
