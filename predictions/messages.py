"""What the site and a worker with models say to each other: names of tasks, queues, and what each message holds.

Pure. Whatever crosses is plain JSON; a worker knows no database, so ids are only given back. Messages may come twice
or not at all: whoever gets one does nothing new the second time, and the site sends again what was not answered.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

# The queue of the workers that have models; what they answer goes to DEFAULT, which the workers of the site take.
GPU, DEFAULT = "gpu", "default"

# To a worker: load a model and say which one it is; score questions with it; give the vectors of pictures.
LOAD, SCORE, EMBED = "predictions.load", "predictions.score", "predictions.embed"
# To the site: a worker has begun something; the model is loaded, or not; these are the scores; these are the vectors;
# pictures cannot be reached, and the chunk is to be sent again later.
BEGUN, LOADED, STORE = "predictions.begun", "predictions.loaded", "predictions.store"
EMBEDDED, UNREACHABLE = "predictions.embedded", "predictions.pictures_unreachable"


class Item(TypedDict):
    """One question: what it shows by its hash, and for each option a text and a picture (SHA-256) to be matched."""

    content: str
    matches: Mapping[str, tuple[str, str]]


class Scored(TypedDict, total=False):
    """Either the score of every option of a question (higher is better), or a sentence that says why there is none."""

    content: str
    scores: Mapping[str, float]
    error: str


class Identity(TypedDict):
    """Which model it is: other weights are another model."""

    name: str
    version: str
    weights: str


class LoadedModel(TypedDict, total=False):
    """A model as it was loaded, or a sentence that says why it was not.

    `pictures_per_second`: how fast it is on that worker, fetching and decoding not counted. `embeds`: pictures have
    vectors of their own, and these are made under `conditions`.
    """

    identity: Identity
    pictures_per_second: float
    embeds: bool
    conditions: Mapping[str, Any]
    error: str


class ScoredAgain(TypedDict):
    """The questions of a chunk, by the hashes of their contents, whose scores were computed again in float32, and what
    these were computed under."""

    contents: Sequence[str]
    conditions: Mapping[str, Any]


class ScoredChunk(TypedDict, total=False):
    """The scores of a chunk with what they were computed under, or a sentence that says why there are none.

    `again` is there where some were computed otherwise than the others.
    """

    identity: Identity
    conditions: Mapping[str, Any]
    results: Sequence[Scored]
    again: ScoredAgain
    error: str


class EmbeddedChunk(TypedDict, total=False):
    """The vectors of pictures by their SHA-256, each of length 1: numbers of half precision, little-endian, in base64.

    `missing`: a sentence for each picture that has none. Or a sentence that says why there are none at all.
    """

    identity: Identity
    vectors: Mapping[str, str]
    missing: Mapping[str, str]
    error: str
