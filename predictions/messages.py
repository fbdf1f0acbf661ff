"""Define the messages between the site and workers with models: task names, queues, contents. Pure.

Messages are plain JSON. A worker has no database, so it only returns ids. Messages may come twice or not at all: a
repeated message changes nothing, and the site sends unanswered ones again.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

# The queue of the workers with models. Their answers go to DEFAULT, the queue of the site's workers.
GPU, DEFAULT = "gpu", "default"

LOAD, SCORE, EMBED = "predictions.load", "predictions.score", "predictions.embed"
BEGUN, LOADED, STORE = "predictions.begun", "predictions.loaded", "predictions.store"
EMBEDDED, UNREACHABLE = "predictions.embedded", "predictions.pictures_unreachable"


class Item(TypedDict):
    """One question: the hash of its content, and for each option the text and image (SHA-256) to match."""

    content: str
    matches: Mapping[str, tuple[str, str]]


class ScoredQuestion(TypedDict, total=False):
    """The score of every option of a question (higher is better), or a sentence that says why there is none."""

    content: str
    scores: Mapping[str, float]
    error: str


class Identity(TypedDict):
    """The identity of a model; different weights are a different model."""

    name: str
    version: str
    weights: str


class LoadedModel(TypedDict, total=False):
    """A loaded model, or a sentence that says why it could not be loaded.

    `pictures_per_second`: its speed on that worker, without fetching and decoding. `embeds`: it has image embeddings,
    computed under `conditions`.
    """

    identity: Identity
    pictures_per_second: float
    embeds: bool
    conditions: Mapping[str, Any]
    error: str


class RescoredQuestions(TypedDict):
    """The questions of a chunk, by content hash, scored again in float32, and the conditions of these scores."""

    contents: Sequence[str]
    conditions: Mapping[str, Any]


class ScoredChunk(TypedDict, total=False):
    """The scores of a chunk with their conditions, or a sentence that says why there are none.

    `again`: those that were scored again in float32, if any.
    """

    identity: Identity
    conditions: Mapping[str, Any]
    results: Sequence[ScoredQuestion]
    again: RescoredQuestions
    error: str


class EmbeddedChunk(TypedDict, total=False):
    """Image embeddings by SHA-256, of length 1: half-precision numbers, little-endian, in base64.

    `missing`: a sentence for each image without one. Or a sentence that says why there are none at all.
    """

    identity: Identity
    vectors: Mapping[str, str]
    missing: Mapping[str, str]
    error: str
