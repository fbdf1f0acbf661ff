"""How people find the image that others described: agreement, accuracy, and what became of the descriptions (ImageCoDe,
Krojer et al. 2022, sections 3 and 4).

A description is asked about by one or more retrievers, each of whom says which image of the set it is about. Where a
third is asked only if the first two differ, which answers are missing depends on the answers: alpha of all of them
leans towards the descriptions that were hard. After acceptance it leans the other way, because those on which people
disagreed are gone. So agreement is told three ways, and none of them is the one true number.
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
    """Which answers a number includes.

    `FIRST`: those that were asked for at first, whatever the others said. `ACCEPTED`: all answers to descriptions that
    were accepted, as the paper took them (`annotator_agreement.py` in McGill-NLP/imagecode).
    """

    ALL = "all"
    FIRST = "first"
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """One counted answer of a retriever to a description.

    place: of the image that they chose, any number; 1 to 10 in the order of ImageCoDe's sets. right: whether it is the
    one that was described. added: it was asked for only because the first answers left the description undecided.
    accepted: the description was. describer: who wrote the description, None where nobody knows. image_set: the set
    that the description is of, None where each is of a set of its own.
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

    A description is a unit, a retriever a rater; who was not asked is missing. Units with one answer count for nothing
    but `n_units` and `n_ratings`, so that where one answer decides (ImageCoDe's training split) all three are
    undefined. metric: "nominal" where the place of an image in its set means nothing, "interval" where it is a moment.

    Raises ValueError when somebody has answered about a description twice.

    Example: two answers 3, 3 and two answers 5, 7 with a third 5, both accepted: nominal alpha is 1/2 over all five
    and 2/5 over the first four (observed 1/2 of expected 5/6).
    """
    ratings = {which: _ratings(select_answers(retrievals, which)) for which in AnswerSelection}
    return {which: krippendorff_alpha(coded, metric=metric) for which, coded in ratings.items()}


def alpha_intervals(retrievals: Sequence[Retrieval], *, metric: Metric, seed: int) -> dict[AnswerSelection, Interval]:
    """Return the interval of each alpha for other descriptions and the same retrievers.

    BCa bootstrap over descriptions (`analytics.intervals.bootstrap`) with two or more answers, each drawn with all its
    answers: the others say nothing of agreement. Where a set has several descriptions, sets are left out instead.
    Whether a further answer was asked for is part of a description, so that it is drawn with it. Undefined, with the
    reason, where alpha is, for a single description or set, and where resamples are all alike or too many of them are
    undefined. metric, errors: as for `alphas`. seed: the same gives the same intervals.

    Example: descriptions on which everybody agrees, of different images: alpha is 1 in every resample, which says
    nothing of other descriptions, so that the interval is undefined.
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
    """Return how many answers are right, each counting once (the micro average), as the paper says of people.

    Example: with `taken(..., Taken.ACCEPTED)` and the rule 2 of up to 3, answers that are right with a chance p are
    right in (3 - 2p) / (4 - 3p) of those to accepted descriptions: 10/11 for p = 7/8.
    """
    return score([one.right for one in retrievals])


def accuracy_of_retrievers(retrievals: Sequence[Retrieval]) -> PeopleScore:
    """Return how often a retriever finds the image: for each the share right, averaged over them, with the interval for
    other retrievers on other sets (`analytics.people.score_of_people`)."""
    return score_of_people(
        [one.right for one in retrievals],
        [one.retriever for one in retrievals],
        [one.description for one in retrievals],
        [one.about for one in retrievals],
    )


def accuracy_of_describers(retrievals: Iterable[Retrieval]) -> PeopleScore:
    """Return how often what a describer wrote is found: for each the share right of all answers to their descriptions,
    averaged over them. Answers about descriptions whose author nobody knows are left out.

    The interval is for other describers. The answers to one description go together with its author's, so that they
    widen it as they should; that a few retrievers may have given all of them does not.
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

    written: texts that count, those that came with an import among them. not_possible: how often somebody said instead
    that none could be written, which is no description. retrieved: of the written, those with an answer. accepted,
    rejected: as the rule decided. conflicting: all answers are in, and the rule decided nothing.
    """

    written: int
    not_possible: int
    retrieved: int
    accepted: int
    rejected: int
    conflicting: int

    @property
    def undecided(self) -> int:
        """Number written that are neither decided nor conflicting."""
        return self.written - self.accepted - self.rejected - self.conflicting

    @property
    def filtered_out(self) -> Score:
        """Rejected share of the decided descriptions; the paper filtered out 26.5 %."""
        return Score(self.rejected, self.accepted + self.rejected)


@dataclass(frozen=True, slots=True)
class Coding:
    """What coders found in one description: `tags`, of the phenomena that they `looked_for`. Others are unknown."""

    tags: Sequence[str]
    looked_for: Sequence[str]


@dataclass(frozen=True)
class Phenomenon:
    """Descriptions in which coders looked for a phenomenon.

    found: in how many they found it, of those asked about that they looked at. with_it, without_it: how often
    retrievers find the image with such descriptions, and with the others that were looked at.
    """

    code: str
    found: Score
    with_it: PeopleScore
    without_it: PeopleScore


def phenomena(retrievals: Sequence[Retrieval], codings: Mapping[Hashable, Coding]) -> list[Phenomenon]:
    """Return what retrievers do with descriptions in which a phenomenon was found, and with those in which it was not,
    for every phenomenon that anybody looked for, by its code.

    codings: description -> what was found in it. Descriptions without one, and those in which nobody looked for a
    phenomenon, do not count for it: they are not without it. A tag that nobody looked for is no finding either.

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
