"""List the blind baselines that a run may use: a family of models and its parameters (`evaluation.blind`). Pure.

Fitted baselines need the right answers, so the site computes them, not the workers with models.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.blind.cases import Part
from evaluation.blind.features import Features
from evaluation.blind.ngrams import Ngrams
from evaluation.blind.pictures import PictureFeatures, VectorSource
from predictions.image_sets.embeddings import ColourAndGradient, Vectors, embed_each
from predictions.scorers import NoPicture, OpenPicture, problem_with_spec

TEXT_ONLY, IMAGE_ONLY = "text-only", "image-only"
_PARTS: Mapping[str, Part] = {TEXT_ONLY: "text", IMAGE_ONLY: "image"}
LANGUAGE_MODEL, DETECTOR = "hf:", "detector:"
NAME_WITH_VECTORS, VERSION_WITH_VECTORS = "Blind baseline: image only", "vectors-v2"


def _no_vectors(open_picture: OpenPicture) -> VectorSource:
    return VectorSource({}, lambda names: ({}, {}))


def local_source(embedding: ColourAndGradient, open_picture: OpenPicture) -> VectorSource:
    """Return a source of image vectors that opens and embeds the images on this machine."""

    def vectors_of(names: Sequence[str]) -> tuple[Mapping[str, Vectors], Mapping[str, NoPicture]]:
        made = embed_each(names, open_picture, embedding)
        missing = {name: why for name, why in made.items() if isinstance(why, NoPicture)}
        return {name: vector for name, vector in made.items() if not isinstance(vector, NoPicture)}, missing

    return VectorSource({"embedding": embedding.name}, vectors_of)


@dataclass(frozen=True)
class FittedBaseline:
    """A blind baseline that is fitted to the questions: its name for people, version, and the part that it sees.

    `source`: how images become vectors on this machine; or `model`, the spec of a model whose image embeddings a worker
    computes. `at_once`: all folds are scored together, because all need the same images.
    """

    name: str
    version: str
    part: Part
    features: Callable[[VectorSource], Features]
    source: Callable[[OpenPicture], VectorSource] = _no_vectors
    at_once: bool = False
    model: str = ""


# Predictions of version 1 (decision 0034) keep it: another way to see or to fit needs another version.
FITTED_BASELINES: Mapping[str, FittedBaseline] = {
    "text-only:ngrams": FittedBaseline(
        "Blind baseline: text only, n-grams", "ngrams-v2", "text", lambda source: Ngrams()
    ),
    "image-only:colour-and-gradient": FittedBaseline(
        "Blind baseline: image only, colour and gradient",
        "colour-and-gradient-v2",
        "image",
        PictureFeatures,
        source=lambda open_picture: local_source(ColourAndGradient(), open_picture),
        at_once=True,
    ),
}


def part_seen(spec: str) -> Part | None:
    """Return the only part of a question that the model of a spec sees; None for one that sees texts and images."""
    family = spec.strip().partition(":")[0]
    return _PARTS.get(family)


def fitted_baseline(spec: str) -> FittedBaseline | None:
    """Return the fitted blind baseline of a spec, None for a model that workers score."""
    spec = spec.strip()
    family, _, rest = spec.partition(":")
    model = rest.strip()
    names_model = spec not in FITTED_BASELINES and not problem_with_spec(model) and part_seen(model) is None
    if family == IMAGE_ONLY and names_model:
        return FittedBaseline(
            NAME_WITH_VECTORS, VERSION_WITH_VECTORS, "image", PictureFeatures, at_once=True, model=model
        )
    return FITTED_BASELINES.get(spec)


def problem_with(spec: str) -> str:
    """Return what is wrong with the spec of a blind baseline, as a sentence, or ""."""
    part, name = part_seen(spec), spec.strip().partition(":")[2]
    if part is None or fitted_baseline(spec) is not None:
        return ""
    on_workers = (LANGUAGE_MODEL, DETECTOR) if part == "text" else (DETECTOR,)
    if any(name.startswith(prefix) and name != prefix for prefix in on_workers):
        return ""
    with_models = {"text": f"{TEXT_ONLY}:hf:NAME", "image": f"{IMAGE_ONLY}:open_clip:ARCHITECTURE/TAG"}
    known = [*(each for each in FITTED_BASELINES if FITTED_BASELINES[each].part == part), with_models[part]]
    return f"There is no blind baseline {spec.strip()!r}. Use {' or '.join(known)}."
