"""`imagecode:FILE` and `imagecode:video:FILE`: CLIP with the context module of ImageCoDe, trained here.

A text is compared with the images of a set together (Krojer et al. 2022, section 5.2): vectors of images, multiplied by
that of the text, pass through layers of attention over the set. The score of an image is its logit. With `video:` the
images are frames in the order of time, and their places are added, which a module trained as `imagecode-temporal`
needs. FILE, on the worker's machine, names the model that it stands on, which must have the weights that it had.

The images that are scored with a text one after another are its set.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.feeder import NoPicture, OpenPicture
from predictions.scorers.base import CannotLoad, ModelIdentity, first_line, require_library, trained_path
from predictions.scorers.batches import BatchedScorer, in_batches
from predictions.scorers.contrastive import Contrastive
from predictions.scorers.torch_models import digest_of_weights
from studies.descriptions import SET_SIZE

FAMILY, VIDEO = "imagecode", "video:"
# Keys of the file.
BASE, WEIGHTS_OF_BASE, SHAPE, HEAD = "base", "weights_of_base", "shape", "head"


def make_module(
    *, length: int, layers: int, heads: int, intermediate: int, dropout: float, scale: float, has_places: bool
) -> Any:
    """Return the module: (images, text, places) -> logits, shapes (n, k, length), (n, length), (n,) -> (n, k).

    Vectors have length 1; `places` tells for which sets the order counts. `has_places`: with embeddings of places.
    """
    import torch
    from torch import nn

    class ContextModule(nn.Module):  # type: ignore[misc]  # torch is not there when types are checked
        def __init__(self) -> None:
            super().__init__()
            layer = nn.TransformerEncoderLayer(
                length, heads, intermediate, dropout, "gelu", layer_norm_eps=1e-12, batch_first=True
            )
            self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
            self.places = nn.Embedding(SET_SIZE, length) if has_places else None
            self.predict = nn.Linear(length, 1)

        def forward(self, images: Any, texts: Any, ordered: Any) -> Any:
            fused = scale * images * texts[:, None]
            with_places = fused
            if self.places is not None:
                places = self.places(torch.arange(images.shape[1], device=images.device))
                with_places = fused + places * ordered[:, None, None]
            return self.predict(self.layers(with_places) + fused)[..., 0]

    return ContextModule()


def weights_of(module: Any, base: str) -> Mapping[str, Any]:
    """Return the tensors whose digest identifies a model: of the module, and the digest of the model under it."""
    import torch

    return {**module.state_dict(), WEIGHTS_OF_BASE: torch.frombuffer(bytearray.fromhex(base), dtype=torch.uint8)}


class InContext(BatchedScorer):
    """A context module on a loaded model; the module computes on the CPU."""

    sees_sets = True

    def __init__(self, identity: ModelIdentity, base: Contrastive, module: Any, *, is_video: bool) -> None:
        super().__init__(identity, batch=base.batch)
        self._base, self._module, self._is_video = base, module, is_video
        self.images_on = base.images_on

    def facts(self) -> Mapping[str, Any]:
        known = self._base.identity
        sets = "videos" if self._is_video else "static"
        return {**self._base.facts(), "scorer": FAMILY, "sets": sets, "on": f"{known.name} {known.version}"}

    def keep_in(self, folder: Any) -> None:
        self._base.keep_in(folder)

    def read_ahead(self, names: Sequence[str], open_picture: OpenPicture) -> AbstractContextManager[OpenPicture]:
        return self._base.read_ahead(names, open_picture)

    def preprocess(self, picture: Image.Image) -> Any:
        return self._base.preprocess(picture)

    def tokenize(self, text: str) -> NDArray[Any]:
        return self._base.tokenize(text)

    def try_batch(self, picture: Any) -> int:
        return self._base.try_batch(picture)

    def score_in_batches(
        self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture
    ) -> Sequence[float | NoPicture]:
        vectors, gone = self._base.vectors_of(list(dict.fromkeys(picture for _, picture in pairs)), open_picture)
        texts = self._base.vectors_of_texts(list(dict.fromkeys(text for text, _ in pairs)))
        found: list[float | NoPicture] = []
        for text, names in _sets(pairs):
            # Without one of its images a set is another one.
            missing = next((gone[name] for name in names if name in gone), None)
            if missing is not None:
                found += [gone.get(name, missing) for name in names]
            else:
                found += self._logits(texts[text], np.stack([vectors[name] for name in names]))
        return found

    def _logits(self, text: NDArray[np.float32], images: NDArray[np.float32]) -> list[float]:
        import torch

        with torch.inference_mode():
            ordered = torch.tensor([float(self._is_video)])
            logits = self._module(torch.from_numpy(images)[None], torch.from_numpy(text)[None], ordered)
            numbers: list[float] = logits[0].tolist()
            return numbers


def _sets(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield each text with the images of a set, in order; two sets with the same text are of ten images each."""
    for text, group in groupby(pairs, key=lambda pair: pair[0]):
        for names in in_batches((picture for _, picture in group), SET_SIZE):
            yield text, names


def load(rest: str) -> InContext:
    """Load the context module of FILE or video:FILE. Raises CannotLoad."""
    with require_library("torch"):
        import torch
    # Here, because the registry imports every family only by its name.
    from predictions.scorers import scorer_of

    path = Path(trained_path(rest.removeprefix(VIDEO)))
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        module = make_module(**content[SHAPE])
        module.load_state_dict(content[HEAD])
        spec, weights = content[BASE], content[WEIGHTS_OF_BASE]
    # A damaged file may raise anything; the person gets the reason.
    except Exception as error:
        raise CannotLoad(f"{path} cannot be loaded as a context module ({first_line(error)}).") from error
    base = scorer_of(spec)
    if not isinstance(base, Contrastive) or base.identity.weights != weights:
        raise CannotLoad(f"{path} stands on {spec}, whose weights are others now. Train the module again.")
    if rest.startswith(VIDEO) and not content[SHAPE]["has_places"]:
        raise CannotLoad(f"{path} was trained without the order of images. Write {FAMILY}:{path}.")
    identity = ModelIdentity(
        "ImageCoDe context module", path.name[:100], digest_of_weights(weights_of(module, weights))
    )
    return InContext(identity, base, module.eval(), is_video=rest.startswith(VIDEO))
