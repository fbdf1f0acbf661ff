"""Retrieval of described images: agreement, accuracy and outcomes of the descriptions (ImageCoDe, Krojer et al. 2022,
sections 3 and 4).

One or more retrievers say which image of a set a description is about. If a third retriever is asked only when the
first two differ, missing answers depend on the given ones, so alpha over all answers is biased towards hard
descriptions. After acceptance it is biased the other way, because descriptions on which people disagreed are left out.
Agreement is therefore reported in three ways.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analytics.agreement import Coefficient, estimate_coded, krippendorff_alpha
from analytics.coefficients import KrippendorffAlpha, Metric
from analytics.intervals.bootstrap import Interval, interval_of
from analytics.people import PeopleScore, score_of_people
from analytics.ratings import CodedRatings, long_table, number_values
from analytics.scores import Score, score


class AnswerSelection(StrEnum):
    """The answers that a number includes.

    `FIRST`: the answers requested at first, which do not depend on other answers. `ACCEPTED`: all answers to accepted
    descriptions, as in the paper (`annotator_agreement.py` in McGill-NLP/imagecode).
    """

    ALL = "all"
    FIRST = "first"
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """One counted answer of a retriever to a description.

    place: position of the chosen image, any number; 1 to 10 in ImageCoDe's sets. right: whether that image was
    described. added: whether the answer was requested only because the first answers left the description undecided.
    accepted: whether the description was accepted. describer: author of the description, None if unknown. image_set:
    the set of the description, None if each description has a separate set.
    """

    description: Hashable
    retriever: Hashable
    place: float
    right: bool
    added: bool = False
    accepted: bool = False
    describer: Hashable | None = None
    image_set: Hashable | None = None

    @property
    def about(self) -> Hashable:
        """The set, or the description without one."""
        return self.description if self.image_set is None else self.image_set


def select_answers(retrievals: Iterable[Retrieval], which: AnswerSelection) -> list[Retrieval]:
    """Return the answers in the selection `which`, in order."""
    if which is AnswerSelection.ALL:
        return list(retrievals)
    return [one for one in retrievals if (one.accepted if which is AnswerSelection.ACCEPTED else not one.added)]


def alphas(retrievals: Sequence[Retrieval], *, metric: Metric) -> dict[AnswerSelection, Coefficient]:
    """Return Krippendorff's alpha over the positions that retrievers chose, for each selection of answers.

    A description is a unit and a retriever a rater; retrievers who were not asked are missing. Units with one answer
    count only for `n_units` and `n_ratings`, so all three are undefined if one answer decides (ImageCoDe's training
    split). metric: "nominal" if positions in a set have no meaning, "interval" if they are moments of a video.

    Raises ValueError if somebody answered about a description twice.

    Example: two answers 3, 3 and two answers 5, 7 with a third 5, both accepted: nominal alpha is 1/2 over all five
    and 2/5 over the first four (observed 1/2 of expected 5/6).
    """
    ratings = {which: _ratings(select_answers(retrievals, which)) for which in AnswerSelection}
    return {which: krippendorff_alpha(coded, metric=metric) for which, coded in ratings.items()}


def alpha_intervals(retrievals: Sequence[Retrieval], *, metric: Metric, seed: int) -> dict[AnswerSelection, Interval]:
    """Return the interval of each alpha for other descriptions and the same retrievers.

    BCa bootstrap over descriptions (`analytics.intervals.bootstrap`) with two or more answers, each drawn with all its
    answers; those with one answer have no agreement. If a set has several descriptions, a jackknife over sets is used.
    Undefined, with the reason, if alpha is, for a single description or set, if all resamples are equal, and if too
    many of them are undefined. metric, errors: as for `alphas`. seed: the same gives the same intervals.

    Example: everybody agrees on all descriptions: alpha is 1 in every resample, so the interval is undefined.
    """
    measure = KrippendorffAlpha(metric)
    found = {}
    for which in AnswerSelection:
        selected = select_answers(retrievals, which)
        times = Counter(one.description for one in selected)
        compared = [one for one in selected if times[one.description] > 1]
        # The set of each description, in order of the descriptions.
        sets = number_values({one.description: one.about for one in compared}.values()).tolist()
        ratings = _ratings(compared)
        alpha = estimate_coded(measure, ratings)
        rng = np.random.default_rng(seed)
        found[which] = interval_of(alpha, measure, ratings, rng=rng, method="BCa", clusters=sets)
    return found


def _ratings(retrievals: Iterable[Retrieval]) -> CodedRatings:
    return long_table((one.description, one.retriever, one.place) for one in retrievals)


def accuracy_of_answers(retrievals: Iterable[Retrieval]) -> Score:
    """Return the number of right answers, each counting once (the micro average), as in the paper.

    Example: with `select_answers(..., AnswerSelection.ACCEPTED)` and the rule 2 of up to 3, answers that are right with
    the probability p are right in (3 - 2p) / (4 - 3p) of those to accepted descriptions: 10/11 for p = 7/8.
    """
    return score([one.right for one in retrievals])


def accuracy_of_retrievers(retrievals: Sequence[Retrieval]) -> PeopleScore:
    """Return the mean over retrievers of their share right (`analytics.people.score_of_people`).

    The interval is for other retrievers and other sets.
    """
    return score_of_people(
        [one.right for one in retrievals],
        [one.retriever for one in retrievals],
        [one.description for one in retrievals],
        [one.about for one in retrievals],
    )


def accuracy_of_describers(retrievals: Iterable[Retrieval]) -> PeopleScore:
    """Return the mean over describers of the share of right answers to their descriptions.

    Answers about descriptions by unknown authors are ignored. The interval is for other describers. It accounts for the
    correlation of answers about one author's descriptions, but not for the correlation of answers by one retriever.
    """
    known = [one for one in retrievals if one.describer is not None]
    return score_of_people(
        [one.right for one in known],
        [one.describer for one in known],
        [(one.description, one.retriever) for one in known],
        [one.about for one in known],
    )


@dataclass(frozen=True)
class DescriptionOutcomes:
    """Outcomes of descriptions; counts, at least 0.

    written: counted texts, imported ones included. not_possible: number of times that somebody answered that no
    description is possible. retrieved: written texts with an answer. accepted, rejected: by the rule. conflicting: all
    answers are in, without a decision.
    """

    written: int
    not_possible: int
    retrieved: int
    accepted: int
    rejected: int
    conflicting: int

    @property
    def undecided(self) -> int:
        """Number of written descriptions that are neither decided nor conflicting."""
        return self.written - self.accepted - self.rejected - self.conflicting

    @property
    def filtered_out(self) -> Score:
        """Rejected share of the decided descriptions; the paper filtered out 26.5 %."""
        return Score(self.rejected, self.accepted + self.rejected)


@dataclass(frozen=True, slots=True)
class Coding:
    """The codes of one description: `tags`, out of the phenomena that coders `looked_for`. Others are unknown."""

    tags: Sequence[str]
    looked_for: Sequence[str]


@dataclass(frozen=True)
class Phenomenon:
    """Descriptions in which coders looked for a phenomenon.

    found: the number of descriptions with the phenomenon, of those that were coded and asked about. with_it,
    without_it: how often retrievers find the image with these descriptions, and with the other coded ones.
    """

    code: str
    found: Score
    with_it: PeopleScore
    without_it: PeopleScore


def phenomena(retrievals: Sequence[Retrieval], codings: Mapping[Hashable, Coding]) -> list[Phenomenon]:
    """Return the accuracy of retrievers on descriptions with and without each phenomenon, in order of its code.

    codings: description -> its codes. A description counts for a phenomenon only if coders looked for that phenomenon
    in it; other tags are ignored.

    Example: of two descriptions looked at for "s", one has it: found is 1 of 2.
    """
    codes = sorted({code for coding in codings.values() for code in coding.looked_for})
    found = []
    for code in codes:
        looked_at = {description for description, coding in codings.items() if code in coding.looked_for}
        having = {description for description in looked_at if code in codings[description].tags}
        with_it, without_it = (
            accuracy_of_retrievers([one for one in retrievals if one.description in descriptions])
            for descriptions in (having, looked_at - having)
        )
        found.append(Phenomenon(code, Score(len(having), len(looked_at)), with_it, without_it))
    return found
