"""Score the questions of one message with a loaded model. Pure.

Computing in 16 bits, where a model can, is faster but slightly inexact. Questions with two options too close for a
certain order are scored again in float32, so the answers are those of float32 (docs/decisions/0033).
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf, isfinite
from typing import TypeGuard

from predictions.messages import (
    EmbeddedChunk,
    Identity,
    Item,
    LoadedModel,
    RescoredQuestions,
    ScoredChunk,
    ScoredQuestion,
)
from predictions.scorers import CannotLoad, NoPicture, OpenPicture, Scorer
from predictions.scorers.contrastive import Contrastive

Pair = tuple[str, str]
Found = Mapping[Pair, float | NoPicture]
# The closest questions with a certain order are scored in float32, too, to measure the error.
COMPARED = 8
NO_VECTORS = "The model gives no image embeddings. Name a contrastive model, such as CLIP."


def score_items(
    scorer: Scorer, items: Sequence[Item], open_picture: OpenPicture, *, half: Scorer | None = None
) -> ScoredChunk:
    """Return the scores of every option of every question, and their conditions.

    `half`: the same model in 16-bit numbers. A question with an unavailable image gets a sentence instead; the others
    are scored. Raises OutOfMemory.
    """
    if scorer.sees_sets:
        return _chunk(scorer, _score_sets(scorer, items, open_picture))
    if half is None:
        found = _score(scorer, items, open_picture)
        return _chunk(scorer, [_score_item(item, found) for item in items])
    drafts = _score(half, items, open_picture)
    in_doubt = [item for item in items if _gap(item, drafts) < half.tolerance]
    others = [item for item in items if half.tolerance <= _gap(item, drafts) < inf]
    compared = sorted(others, key=lambda item: _gap(item, drafts))[:COMPARED]
    exact = _score(scorer, [*in_doubt, *compared], open_picture)
    why = {"in": half.conditions().get("dtype", ""), "closer_than": half.tolerance}
    if _largest_difference(drafts, exact) > half.tolerance / 2:
        in_doubt, why = list(items), {**why, "differed_by_more_than": half.tolerance / 2}
        exact = _score(scorer, items, open_picture)
    again = {item["content"] for item in in_doubt}
    results = [_score_item(item, exact if item["content"] in again else drafts) for item in items]
    chunk = _chunk(half, results)
    if again:
        chunk["again"] = RescoredQuestions(
            contents=[item["content"] for item in in_doubt], conditions={**scorer.conditions(), "again": why}
        )
    return chunk


def embed_pictures(scorer: Scorer, pictures: Sequence[str], open_picture: OpenPicture) -> EmbeddedChunk:
    """Return the vectors of images, and a sentence for each unavailable one.

    Raises OutOfMemory, and CannotLoad for a model without image embeddings.
    """
    if not isinstance(scorer, Contrastive):
        raise CannotLoad(NO_VECTORS)
    found, gone = scorer.vectors_of(pictures, open_picture)
    return EmbeddedChunk(
        identity=identity_of(scorer),
        vectors={name: b64encode(vector.astype("<f2").tobytes()).decode() for name, vector in found.items()},
        missing={name: str(why) for name, why in gone.items()},
    )


def loaded_message(scorer: Scorer, half: Scorer | None) -> LoadedModel:
    """Return the message about a loaded model; `half`: the same in 16-bit numbers. Raises OutOfMemory."""
    return LoadedModel(
        identity=identity_of(scorer),
        pictures_per_second=planned_speed(scorer, half),
        embeds=isinstance(scorer, Contrastive),
        conditions=dict(scorer.conditions()),
    )


def planned_speed(scorer: Scorer, half: Scorer | None) -> float:
    """Return the images per second to plan with, more than 0.

    If all questions had to be scored again in float32, it would take at most three times as long.
    """
    if half is None:
        return scorer.pictures_per_second()
    return min(half.pictures_per_second(), 2 * scorer.pictures_per_second())


def identity_of(scorer: Scorer) -> Identity:
    known = scorer.identity
    return Identity(name=known.name, version=known.version, weights=known.weights)


def _chunk(scorer: Scorer, results: Sequence[ScoredQuestion]) -> ScoredChunk:
    return ScoredChunk(identity=identity_of(scorer), conditions=dict(scorer.conditions()), results=results)


def _score(scorer: Scorer, items: Iterable[Item], open_picture: OpenPicture) -> Found:
    pairs = list(dict.fromkeys((text, picture) for item in items for text, picture in item["matches"].values()))
    return dict(zip(pairs, scorer.score(pairs, open_picture), strict=True)) if pairs else {}


def _score_sets(scorer: Scorer, items: Iterable[Item], open_picture: OpenPicture) -> list[ScoredQuestion]:
    """Score questions together that have different texts, because images with the same text are those of a question."""
    groups: list[tuple[set[str], list[Item]]] = []
    for item in items:
        texts = {text for text, _ in item["matches"].values()}
        group = next((group for group in groups if group[0].isdisjoint(texts)), None)
        if group is None:
            groups.append(group := (set(), []))
        group[0].update(texts)
        group[1].append(item)
    results: list[ScoredQuestion] = []
    for _, some in groups:
        pairs = [pair for item in some for pair in item["matches"].values()]
        scores = iter(scorer.score(pairs, open_picture))
        results += [_scored(item, dict(zip(item["matches"], scores, strict=False))) for item in some]
    return results


def _gap(item: Item, found: Found) -> float:
    """Return the smallest difference between two options of a question.

    0 if a score is not a number, as for float16 overflow; infinity if an image is unavailable.
    """
    scores = [found[text, picture] for text, picture in item["matches"].values()]
    numbers = sorted(score for score in scores if not isinstance(score, NoPicture))
    if len(numbers) < len(scores):
        return inf
    if not all(map(isfinite, numbers)):
        return 0.0
    return min((after - before for before, after in pairwise(numbers)), default=inf)


def _largest_difference(drafts: Found, exact: Found) -> float:
    """Return the largest difference of a score from its value in float32, where both are numbers."""
    both = ((drafts[pair], score) for pair, score in exact.items())
    return max((abs(one - other) for one, other in both if _is_finite(one) and _is_finite(other)), default=0.0)


def _is_finite(score: float | NoPicture) -> TypeGuard[float]:
    return not isinstance(score, NoPicture) and isfinite(score)


def _score_item(item: Item, found: Found) -> ScoredQuestion:
    return _scored(item, {option: found[text, picture] for option, (text, picture) in item["matches"].items()})


def _scored(item: Item, scores: Mapping[str, float | NoPicture]) -> ScoredQuestion:
    """Return the question with the score of each option, or with a sentence that says why there is none."""
    content = item["content"]
    for score in scores.values():
        if isinstance(score, NoPicture):
            return ScoredQuestion(content=content, error=str(score))
    numbers = {option: score for option, score in scores.items() if not isinstance(score, NoPicture)}
    if not all(map(isfinite, numbers.values())):
        return ScoredQuestion(content=content, error="The model's score is not a number. Check its weights.")
    return ScoredQuestion(content=content, scores=numbers)
