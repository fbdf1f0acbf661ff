"""Reject texts and images that are nearly equal to others: of the stage, of the project, of known test sets.

Texts are alike if they share most pairs of neighbouring words (w-shingling with w = 2: Broder 1997, "On the resemblance
and containment of documents"). Images are alike as the near duplicates of a project are
(`predictions.image_sets.near_duplicates`).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from making.errors import CannotMake
from making.filters.base import (
    CandidateImage,
    CandidateText,
    FilterInput,
    StageContext,
    StageFilter,
    StageVerdicts,
    Verdict,
)
from making.texts import words_of
from predictions.image_sets.embeddings import ColourAndGradient, Vectors, distances
from predictions.image_sets.near_duplicates import NEAR_BELOW, nearest_below
from predictions.scorers import NoPicture

OF_STAGE = "It is a near duplicate of another {} of the stage."
OF_PROJECT = "It is a near duplicate of {} of the project."
OF_SET = "It is a near duplicate of a text of the test set {}."
# Rounding errors of a product of a threshold and a count.
ROUNDING = 1e-9
IMAGES_AT_ONCE = 256
SetName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][-A-Za-z0-9._]{0,99}$(?!\n)")]
Shingles = frozenset[tuple[str, str]]


class NearDuplicates(StageFilter):
    """Reject texts and images that are nearly equal to one of the project, or to an earlier one of the stage.

    Texts: two are near if they share `at_least` this part, 0 to 1, of the pairs of neighbouring words that either has.
    A text is not compared with the texts that it was made from, nor with others made from these. `known`: names of
    known test sets on the site, with which texts are compared too. Images: two are near if their distance by colour and
    gradient is under `below`.
    """

    version: ClassVar[str] = "1"
    of_images: ClassVar[bool] = True

    at_least: float = Field(default=0.8, gt=0, le=1)
    known: list[SetName] = Field(default_factory=list, max_length=20)
    below: float = Field(default=NEAR_BELOW, gt=0, le=2)

    def judge_stage(self, candidates: Sequence[FilterInput], context: StageContext) -> StageVerdicts:
        images = [each for each in candidates if isinstance(each, CandidateImage)]
        if images:
            if self.known:
                raise CannotMake("`known` names test sets of texts, and this stage makes images. Remove `known`.")
            return StageVerdicts(self._judge_images([each.image for each in images], context))
        return StageVerdicts(
            self._judge_texts([each for each in candidates if isinstance(each, CandidateText)], context)
        )

    def _judge_texts(self, candidates: Sequence[CandidateText], context: StageContext) -> list[Verdict]:
        made = [shingles_of(each.text) for each in candidates]
        places: dict[Shingles, list[int]] = defaultdict(list)
        for place, shingles in enumerate(made):
            places[shingles].append(place)
        index = _Index(self.at_least, places)
        sources = [(OF_PROJECT.format("a caption"), context.known_texts())]
        sources += [(OF_SET.format(name), context.known_set(name)) for name in self.known]
        near: dict[int, Verdict] = {}
        for reason, texts in sources:
            # One at a time: there may be many more of them than candidates.
            for text in texts:
                known = shingles_of(text)
                for similarity, shingles in index.near(known):
                    for place in places[shingles]:
                        own = candidates[place].parent, candidates[place].start_text
                        if place not in near and known not in map(shingles_of, own):
                            near[place] = Verdict(reason, similarity)
        for place, candidate in enumerate(candidates):
            if place in near:
                continue
            similar = [
                similarity
                for similarity, shingles in index.near(made[place])
                for other in places[shingles]
                if other < place and other not in near and candidates[other].start != candidate.start
            ]
            if similar:
                near[place] = Verdict(OF_STAGE.format("text"), max(similar))
        return [near.get(place, Verdict()) for place in range(len(candidates))]

    def _judge_images(self, images: Sequence[str], context: StageContext) -> list[Verdict]:
        embedding = ColourAndGradient()
        vectors = np.concatenate([*_embedded(images, embedding, context)])
        # By other names than those of the project: the same image is a duplicate too.
        names = [f"made {place}" for place in range(len(images))]
        found = nearest_below(names, vectors, context.known_vectors(embedding), below=self.below, most=1)
        near = {
            place: Verdict(OF_PROJECT.format("an image"), found[name][0][0])
            for place, name in enumerate(names)
            if name in found
        }
        for start in range(0, len(images), IMAGES_AT_ONCE):
            apart = distances(vectors[start : start + IMAGES_AT_ONCE], vectors)
            for place, row in enumerate(apart, start=start):
                close = [other for other in np.flatnonzero(row[:place] < self.below).tolist() if other not in near]
                if close and place not in near:
                    near[place] = Verdict(OF_STAGE.format("image"), float(row[close].min()))
        return [near.get(place, Verdict()) for place in range(len(images))]


def _embedded(names: Sequence[str], embedding: ColourAndGradient, context: StageContext) -> Iterator[Vectors]:
    for start in range(0, len(names), IMAGES_AT_ONCE):
        try:
            pictures = [context.open_picture(name) for name in names[start : start + IMAGES_AT_ONCE]]
        except NoPicture as error:
            raise CannotMake(str(error)) from error
        yield embedding.embed(pictures)


def shingles_of(text: str) -> Shingles:
    """Return the pairs of neighbouring words of a text, its start and its end among the words ("").

    Example: "A dog." -> ("", a), (a, dog), (dog, "").
    """
    return frozenset(pairwise(["", *words_of(text), ""]))


class _Index:
    """Finds the sets whose similarity to another, shared elements by all elements of both, is `at_least` so high.

    Two such sets share one of their rarest elements, so that only sets with one of these are compared (Bayardo et al.
    2007, "Scaling up all pairs similarity search").
    """

    def __init__(self, at_least: float, sets: Collection[Shingles]) -> None:
        self._at_least = at_least
        self._count = Counter(element for each in sets for element in each)
        self._with: dict[tuple[str, str], list[Shingles]] = defaultdict(list)
        for each in sets:
            for element in self._rarest(each):
                self._with[element].append(each)

    def near(self, one: Shingles) -> Iterator[tuple[float, Shingles]]:
        """Yield each set that is near, once, with its similarity."""
        for other in {other: None for element in self._rarest(one) for other in self._with.get(element, ())}:
            similarity = len(one & other) / len(one | other)
            if similarity >= self._at_least - ROUNDING:
                yield similarity, other

    def _rarest(self, one: Shingles) -> list[tuple[str, str]]:
        # Any order will do that is the same for all sets; in this one, few sets share the first elements.
        ordered = sorted(one, key=lambda element: (self._count[element], element))
        return ordered[: len(one) - ceil(self._at_least * len(one) - ROUNDING) + 1]
