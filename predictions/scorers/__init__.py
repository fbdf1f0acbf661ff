"""Register the families of models by name; a new family is one file, its test, and one line here.

A model is named by a spec, FAMILY:REST; the family's `load` reads REST.
"""

from collections.abc import Callable
from pkgutil import resolve_name

from predictions.feeder import NoPicture, OpenPicture
from predictions.scorers.base import CannotLoad, ModelIdentity, OutOfMemory, Scorer

SCORERS = {
    "open_clip": "predictions.scorers.open_clip.load",
    "hf": "predictions.scorers.hf.load",
    "vqascore": "predictions.scorers.vqascore.load",
    "onnx": "predictions.scorers.onnx.load",
    "imagecode": "predictions.scorers.context_module.load",
    "text-only": "predictions.scorers.text_only.load",
    "image-only": "predictions.scorers.image_only.load",
}


def problem_with_spec(spec: str) -> str:
    """Return what is wrong with the form of a spec, as a sentence; "" if a worker may try to load it."""
    family, colon, rest = spec.partition(":")
    if not colon or not rest.strip():
        return f"{spec!r} does not name a model. Write FAMILY:NAME, such as open_clip:ViT-B-32/openai."
    if family not in SCORERS:
        return f"The family {family!r} of models is unknown. Use one of {', '.join(SCORERS)}."
    return ""


def scorer_of(spec: str) -> Scorer:
    """Load the model that `spec` names. Raises CannotLoad."""
    if problem := problem_with_spec(spec):
        raise CannotLoad(problem)
    family, _, rest = spec.partition(":")
    load: Callable[[str], Scorer] = resolve_name(SCORERS[family])
    return load(rest.strip())


__all__ = [
    "SCORERS",
    "CannotLoad",
    "ModelIdentity",
    "NoPicture",
    "OpenPicture",
    "OutOfMemory",
    "Scorer",
    "problem_with_spec",
    "scorer_of",
]
