"""Blind baselines: programs that see only the texts, or only the pictures, of a question. Pure.

Where one of them is right more often than by guessing, the benchmark can be solved, in part, without seeing all of it.
Those that are fitted here learn from other questions what right answers look like (`predictions.blind.fitting`), so
they need to know which are right, and are no scorers of a worker with models.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from predictions.blind.cases import Case
from predictions.blind.features import Features
from predictions.blind.ngrams import Ngrams
from predictions.blind.pictures import Look, Pictures, looking
from predictions.image_sets.embeddings import ColourAndGradient
from predictions.scorers import OpenPicture, problem_with_spec
from studies.kinds import Kind, content_hash

Sees = Literal["text", "image"]
TEXT_ONLY, IMAGE_ONLY = "text-only", "image-only"
# What follows the family where a language model scores the texts, on a worker with models.
LANGUAGE_MODEL = "hf:"
# Of a baseline that sees the vectors of a model, whose name is put behind it.
OF_VECTORS, VECTORS_VERSION = "Blind baseline: image only", "vectors-v1"


def _at_nothing(open_picture: OpenPicture) -> Look:
    return Look({}, lambda names: ({}, {}))


@dataclass(frozen=True)
class Fitted:
    """A blind baseline that is fitted to the questions: its name for people, version, and how it sees options.

    `look`: how it looks at pictures where it is fitted; where `model` is the spec of one, its vectors are looked at
    instead, which a worker with models makes. `at_once`: all folds are scored together, where most of the work is to
    look at what all of them need.
    """

    name: str
    version: str
    sees: Sees
    features: Callable[[Look], Features]
    look: Callable[[OpenPicture], Look] = _at_nothing
    at_once: bool = False
    model: str = ""


FITTED: Mapping[str, Fitted] = {
    "text-only:ngrams": Fitted("Blind baseline: text only, n-grams", "ngrams-v1", "text", lambda _: Ngrams()),
    "image-only:colour-and-gradient": Fitted(
        "Blind baseline: image only, colour and gradient",
        ColourAndGradient.name,
        "image",
        Pictures,
        look=lambda open_picture: looking(ColourAndGradient(), open_picture),
        at_once=True,
    ),
}


def sees(spec: str) -> Sees | None:
    """Return all that the model of a spec sees of a question, None for one that sees texts and pictures."""
    family = spec.strip().partition(":")[0]
    return {TEXT_ONLY: "text", IMAGE_ONLY: "image"}.get(family)  # type: ignore[return-value]


def fitted(spec: str) -> Fitted | None:
    """Return the blind baseline of a spec that is fitted here, None for what a worker with models scores."""
    spec = spec.strip()
    family, _, rest = spec.partition(":")
    model = rest.strip()
    if family == IMAGE_ONLY and spec not in FITTED and not problem_with_spec(model) and sees(model) is None:
        return Fitted(OF_VECTORS, VECTORS_VERSION, "image", Pictures, at_once=True, model=model)
    return FITTED.get(spec)


def problem_with(spec: str) -> str:
    """Return what is wrong with the spec of a blind baseline, in a sentence; "" where nothing is."""
    seen, name = sees(spec), spec.strip().partition(":")[2]
    if seen is None or fitted(spec) is not None:
        return ""
    if seen == "text" and name.startswith(LANGUAGE_MODEL) and name != LANGUAGE_MODEL:
        return ""
    with_models = {"text": f"{TEXT_ONLY}:hf:NAME", "image": f"{IMAGE_ONLY}:open_clip:ARCHITECTURE/TAG"}
    known = [*(each for each in FITTED if FITTED[each].sees == seen), with_models[seen]]
    return f"There is no blind baseline {spec.strip()!r}. Use {' or '.join(known)}."


def options_seen(kind: Kind, content: Mapping[str, Any], seen: Sees) -> dict[str, str]:
    """Return key of the option -> its text, or its picture (SHA-256), whichever is seen.

    Options that show neither (None, Both) are left out. Nothing where a question asks otherwise: several things at
    once, or with fewer than two options that show what is seen.
    """
    if kind.groups(content):
        return {}
    options = kind.options(content)
    if seen == "text":
        found = {option.key: option.text for option in options if option.text}
    else:
        found = {option.key: option.picture.sha256 for option in options if option.picture}
    return found if len(found) > 1 else {}


def case_of(kind: Kind, content: Mapping[str, Any], right: str, *, instance: int, seen: Sees) -> Case | None:
    """Return what a baseline learns from a question about an instance, and is asked; None where it cannot be: the right
    answer is not known, or is nothing that it sees.

    It has in common with others whatever text or picture it shows, be it seen or not.
    """
    options = options_seen(kind, content, seen)
    if right not in options:
        return None
    shown, offered = kind.shown(content), kind.options(content)
    pictures = [*shown.pictures, *(option.picture for option in offered if option.picture)]
    texts = [*(each.text for each in shown.texts), *(option.text for option in offered if option.text)]
    shares = {f"instance {instance}"}
    shares |= {f"picture {each.sha256}" for each in pictures} | {f"text {text}" for text in texts}
    return Case(content_hash(kind, content), frozenset(shares), options, right)
