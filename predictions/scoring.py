"""Scoring the questions of one message with a model that is loaded. Pure."""

from collections.abc import Sequence
from math import isfinite

from predictions.messages import Identity, Item, Scored, ScoredChunk
from predictions.scorers import NoPicture, OpenPicture, Scorer


def score_items(scorer: Scorer, items: Sequence[Item], open_picture: OpenPicture) -> ScoredChunk:
    """Return the scores of every option of every question, and what they were computed under.

    A question of which a picture cannot be had gets a sentence instead; the others are scored. Raises OutOfMemory.
    """
    pairs = list(dict.fromkeys((text, picture) for item in items for text, picture in item["matches"].values()))
    scored = dict(zip(pairs, scorer.score(pairs, open_picture), strict=True))
    results = [
        _of_item(item, {option: scored[text, picture] for option, (text, picture) in item["matches"].items()})
        for item in items
    ]
    return ScoredChunk(identity=identity_of(scorer), conditions=dict(scorer.conditions()), results=results)


def identity_of(scorer: Scorer) -> Identity:
    known = scorer.identity
    return Identity(name=known.name, version=known.version, weights=known.weights)


def _of_item(item: Item, scores: dict[str, float | NoPicture]) -> Scored:
    content = item["content"]
    for score in scores.values():
        if isinstance(score, NoPicture):
            return Scored(content=content, error=str(score))
    numbers = {option: score for option, score in scores.items() if not isinstance(score, NoPicture)}
    if not all(map(isfinite, numbers.values())):
        return Scored(content=content, error="The model gave something that is no number. Check its weights.")
    return Scored(content=content, scores=numbers)
