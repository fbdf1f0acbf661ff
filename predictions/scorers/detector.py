"""`text-only:detector:FILE` and `image-only:detector:FILE`: detectors of synthetic texts and images, trained here.

A linear layer on one tower of a contrastive model (Miranda et al. 2024, section 5.3; `training.recipes.detector_text`).
The score is how natural the text, or the image, is: the log-odds that it is not synthetic. The other side is not looked
at. FILE, on the worker's machine or `trained:FOLDER/NAME`, names the model that it stands on, which must have the
weights that it had.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.feeder import NoPicture, OpenPicture
from predictions.scorers.base import CannotLoad, ModelIdentity, first_line, require_library, trained_path
from predictions.scorers.batches import BatchedScorer, in_batches, pad_rows
from predictions.scorers.contrastive import Contrastive
from predictions.scorers.torch_models import digest_of_weights

PREFIX = "detector:"
# Keys of the file.
BASE, WEIGHTS_OF_BASE, PART, HEAD = "base", "weights_of_base", "part", "head"
TEXT, IMAGE = "text", "image"
NAMES = {TEXT: "Blind baseline: text only, detector", IMAGE: "Blind baseline: image only, detector"}


def spec_of(part: str, path: Path) -> str:
    """Return the spec of a detector of texts or of images in a file."""
    return f"{part}-only:{PREFIX}{path}"


def weights_of(head: Any, base: str) -> Mapping[str, Any]:
    """Return the tensors whose digest identifies a detector: of its layer, and the digest of the model under it."""
    import torch

    return {**head.state_dict(), WEIGHTS_OF_BASE: torch.frombuffer(bytearray.fromhex(base), dtype=torch.uint8)}


class Detector(BatchedScorer):
    """A detector on a loaded model."""

    def __init__(self, identity: ModelIdentity, base: Contrastive, part: str, head: Any) -> None:
        super().__init__(identity, batch=base.batch)
        self._base, self._part = base, part
        self._weight = head["weight"][0].double().cpu().numpy()
        self._bias = float(head["bias"][0])
        self.images_on = base.images_on

    def facts(self) -> Mapping[str, Any]:
        known = self._base.identity
        return {**self._base.facts(), "scorer": f"{self._part}-only:detector", "on": f"{known.name} {known.version}"}

    def preprocess(self, picture: Image.Image) -> Any:
        return self._base.preprocess(picture)

    def tokenize(self, text: str) -> NDArray[Any]:
        return self._base.tokenize(text)

    def try_batch(self, picture: Any) -> int:
        if self._part == IMAGE:
            return len(self._base.embed_pictures(np.stack([picture] * self.batch)))
        return len(self._base.embed_texts(np.stack([self.tokenize("A grey wall.")] * self.batch)))

    def score_in_batches(
        self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture
    ) -> Sequence[float | NoPicture]:
        if self._part == TEXT:
            of_texts = self._of_texts(list(dict.fromkeys(text for text, _ in pairs)))
            return [of_texts[text] for text, _ in pairs]
        of_images = self._of_images(list(dict.fromkeys(picture for _, picture in pairs)), open_picture)
        return [of_images[picture] for _, picture in pairs]

    def _of_texts(self, texts: Sequence[str]) -> Mapping[str, float]:
        found: dict[str, float] = {}
        for some in in_batches(texts, self.batch):
            vectors = self._base.embed_texts(pad_rows([self.tokenize(text) for text in some], self.batch))
            found |= zip(some, self._naturalness(vectors), strict=False)
        return found

    def _of_images(self, names: Sequence[str], open_picture: OpenPicture) -> Mapping[str, float | NoPicture]:
        gone: dict[str, NoPicture] = {}
        found: dict[str, float | NoPicture] = {}
        reading = self.read_pictures(names, open_picture)
        with closing(reading.batches(self.batch, self.images_on, gone)) as batches:
            for batch in batches:
                found |= zip(batch.names, self._naturalness(self._base.embed_pictures(batch.rows)), strict=False)
        return found | gone

    def _naturalness(self, vectors: NDArray[np.float32]) -> list[float]:
        return [float(-(np.dot(vector, self._weight) + self._bias)) for vector in vectors.astype(np.float64)]


def load_detector(part: str, rest: str) -> Detector:
    """Load the detector of texts or images in a file. Raises CannotLoad."""
    with require_library("torch"):
        import torch
    # Here, because the registry imports every family only by its name.
    from predictions.scorers import scorer_of

    path = Path(trained_path(rest))
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        seen, head = content[PART], content[HEAD]
        spec, weights = content[BASE], content[WEIGHTS_OF_BASE]
    # A damaged file may raise anything; the person gets the reason.
    except Exception as error:
        raise CannotLoad(f"{rest} cannot be loaded as a detector ({first_line(error)}).") from error
    if seen != part:
        raise CannotLoad(f"{rest} is a detector of the {seen}. Write {spec_of(seen, path)}.")
    base = scorer_of(spec)
    if not isinstance(base, Contrastive) or base.identity.weights != weights:
        raise CannotLoad(f"{rest} stands on {spec}, whose weights are others now. Train the detector again.")
    layer = torch.nn.Linear(head["weight"].shape[1], 1)
    layer.load_state_dict(head)
    digest = digest_of_weights(weights_of(layer, weights))
    return Detector(ModelIdentity(NAMES[part], path.name[:100], digest), base, part, head)
