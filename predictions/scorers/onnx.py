"""`onnx:demo` or `onnx:FILE`: a small contrastive model in one ONNX file, run by onnxruntime on the CPU.

`demo` is the model of this folder, trained on drawn scenes (`train_demo_model`; its accuracy is in embedded/demo.md).
FILE is a model of the same form on the worker's machine:

- inputs `pictures` (n x side x side x 3, 8-bit RGB) and `texts` (m x words, 64-bit word numbers), where n and m may
  be 0; outputs `picture_vectors` (n x d) and `text_vectors` (m x d);
- metadata `name`, `version` and `vocabulary`, a JSON list. Its first word has the number 2; 0 is padding, 1 an unknown
  word.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.scorers.base import CannotLoad, ModelIdentity, require_library
from predictions.scorers.contrastive import Contrastive

DEMO = "demo"
DEMO_FILE = Path(__file__).parent / "embedded" / "demo.onnx"
PICTURES, TEXTS = "pictures", "texts"
PICTURE_VECTORS, TEXT_VECTORS = "picture_vectors", "text_vectors"
NAME, VERSION, VOCABULARY = "name", "version", "vocabulary"
FILLS_UP, UNKNOWN, FIRST_WORD = 0, 1, 2
BATCH = 16
_WORD = re.compile(r"\w+")


def pixels_of(picture: Image.Image, side: int) -> NDArray[np.uint8]:
    """Return an image scaled to a square of `side` pixels, as rows of RGB pixels, 0 to 255."""
    return np.asarray(picture.convert("RGB").resize((side, side), Image.Resampling.BILINEAR))


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def number_words(vocabulary: Sequence[str]) -> dict[str, int]:
    return {word: number for number, word in enumerate(vocabulary, start=FIRST_WORD)}


def numbers_of(text: str, known: Mapping[str, int], words: int) -> NDArray[np.int64]:
    """Return the numbers of the first `words` words of a text, padded to that length; `known`: word -> number."""
    row = np.full(words, FILLS_UP, dtype=np.int64)
    numbers = [known.get(word, UNKNOWN) for word in words_of(text)[:words]]
    row[: len(numbers)] = numbers
    return row


class Onnx(Contrastive):
    """A two-tower model in a session of onnxruntime."""

    def __init__(self, identity: ModelIdentity, session: Any, vocabulary: Sequence[str]) -> None:
        super().__init__(identity, batch=BATCH)
        self._session = session
        self._known = number_words(vocabulary)
        shapes = {each.name: each.shape for each in session.get_inputs()}
        self.side: int = shapes[PICTURES][1]
        self.words: int = shapes[TEXTS][1]
        self._no_pictures = np.zeros((0, self.side, self.side, 3), dtype=np.uint8)
        self._no_texts = np.zeros((0, self.words), dtype=np.int64)

    def facts(self) -> Mapping[str, Any]:
        return {
            "scorer": "onnx",
            "device": "cpu",
            "dtype": "float32",
            "libraries": {library: version(library) for library in ("onnxruntime", "Pillow", "numpy")},
            "preprocessing": [f"square of {self.side} pixels, bilinear", f"first {self.words} words"],
        }

    def preprocess(self, picture: Image.Image) -> NDArray[Any]:
        return pixels_of(picture, self.side)

    def tokenize(self, text: str) -> NDArray[Any]:
        return numbers_of(text, self._known, self.words)

    def embed_pictures(self, batch: Any) -> NDArray[np.float32]:
        return self._embed(PICTURE_VECTORS, pictures=batch, texts=self._no_texts)

    def embed_texts(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        return self._embed(TEXT_VECTORS, pictures=self._no_pictures, texts=batch)

    def _embed(self, wanted: str, *, pictures: NDArray[Any], texts: NDArray[Any]) -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = self._session.run([wanted], {PICTURES: pictures, TEXTS: texts})[0]
        return vectors


def load(rest: str) -> Onnx:
    """Load the model `demo` of this folder, or that of a file. Raises CannotLoad."""
    file = DEMO_FILE if rest == DEMO else Path(rest)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise CannotLoad(
            f"onnx:{rest} cannot be read on the worker's machine ({error.strerror}). Write onnx:{DEMO}, or onnx:FILE "
            "with a model made by train_demo_model."
        ) from error
    session = _session(rest, data)
    told = session.get_modelmeta().custom_metadata_map
    inputs = {each.name for each in session.get_inputs()}
    outputs = {each.name for each in session.get_outputs()}
    if not (
        told.keys() >= {NAME, VERSION, VOCABULARY}
        and inputs == {PICTURES, TEXTS}
        and outputs >= {PICTURE_VECTORS, TEXT_VECTORS}
    ):
        raise CannotLoad(
            f"onnx:{rest} is not a model like those of train_demo_model: predictions/scorers/onnx.py says which "
            "inputs, outputs and metadata it has."
        )
    identity = ModelIdentity(told[NAME], told[VERSION], hashlib.sha256(data).hexdigest())
    return Onnx(identity, session, json.loads(told[VOCABULARY]))


def _session(rest: str, data: bytes) -> Any:
    with require_library("onnxruntime", "Install it there: pip install onnxruntime."):
        import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Idle threads sleep between batches, because the site runs on the same cores.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    # onnxruntime's exceptions have no other common class.
    except Exception as error:
        raise CannotLoad(f"onnx:{rest} cannot be run as an ONNX file ({str(error)[:300]}).") from error
