"""Scores of people and models on questions with a known right answer, as the papers count them.

Nothing is rounded, and every share comes with its counts. All comparisons are strict: a tie is wrong.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
# The values of the label columns, such as ("replace", "obj"), that a group of instances shares.
Group = tuple[str, ...]

NOTHING = "There is nothing to count."
# Chance level: the four scores of an instance are distinct and in random order, so of their 24 orders 6 give I2T, 6 T2I
# and 4 Group (the row "random chance" of Miranda et al. 2024, and of Thrush et al. 2022 before).
CHANCE: Mapping[str, float] = {
    "I2T": 1 / 4,
    "T2I": 1 / 4,
    "Group": 1 / 6,
    **dict.fromkeys(("Ipos2T", "Ineg2T", "Tpos2I", "Tneg2I"), 1 / 2),
}


@dataclass(frozen=True)
class Score:
    """`count` right of `n`; a sum of scores from 0 to 1 where an answer may be right in part. An empty score is
    undefined: its share and percent are None, and `reason` says why."""

    count: float
    n: int

    @property
    def share(self) -> float | None:
        return self.count / self.n if self.n else None

    @property
    def reason(self) -> str | None:
        return None if self.n else NOTHING

    def percent(self, decimals: int = 2) -> Decimal | None:
        """Return the percentage for a table, rounded half up from the exact fraction as in BiVLC's tables.

        Example: 1 of 16 is 6.25, with one decimal 6.3.
        """
        if not self.n:
            return None
        return (Decimal(100 * self.count) / self.n).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def wilson_interval(count: float, n: int) -> tuple[float, float] | None:
    """Return the 95 % interval of a share of single answers, None without any (Wilson 1927, Newcombe 1998, method 3).

    Unlike a bootstrap it keeps its width where all or none of few are right. A sum of scores from 0 to 1 stands for a
    count, and the interval is then wider than it has to be, since they vary less. Raises ValueError for counts outside
    0 to n.

    Example: 1 of 29 is about 0.006 to 0.172; 20 of 20 is about 0.839 to 1.
    """
    if not 0 <= count <= n:
        raise ValueError(f"count must be from 0 to n. It is {count}, and n is {n}.")
    if not n:
        return None
    share, z = count / n, NormalDist().inv_cdf(0.975)
    middle = (count + z * z / 2) / (n + z * z)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return (0.0 if count == 0 else middle - half, 1.0 if count == n else middle + half)


def is_below(bound: float, right: float, of: int) -> bool:
    """Return whether somebody who was right `right` times of `of` is less often right than `bound`, beyond what chance
    makes of as many answers: the upper end of Wilson's 95 % interval lies under it.

    So a few mistakes at the beginning do not suffice, and without answers the result is False. Each test of a person
    whose true share equals the bound is positive about 1 time in 40. If it is repeated after every answer, the bound
    should be well below the expected share.

    bound: a share, 0 to 1. Raises ValueError for others, and as `wilson_interval`.

    Example: 5 of 10 reaches up to 0.763, so it is below 0.8 and not below 0.75; 0 of 2 reaches up to 0.658.
    """
    if not 0 <= bound <= 1:
        raise ValueError(f"bound must be from 0 to 1. It is {bound}.")
    interval = wilson_interval(right, of)
    return interval is not None and interval[1] < bound


def t_quantile(level: float, degrees: float) -> float:
    """Return the number of standard errors on either side of an interval of this level (0 to 1), by Student's t.

    degrees: of freedom, above 0. Example: 2.776 for a level of 0.95 and 4 degrees.
    """
    # Imported here: it takes longer than all other imports of a page.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + level) / 2))


@dataclass(frozen=True)
class Mean:
    """A mean over `n` groups, each counting once; None exactly when `reason` says why."""

    value: float | None
    n: int
    reason: str | None = None


@dataclass(frozen=True)
class Outcomes:
    """Whether each of the four questions about an instance was answered correctly; one element per instance.

    An instance has a positive image and caption and a negative image and caption. `ipos2t`: the positive image was
    given its caption; `ineg2t`: the negative image was; `tpos2i`: the positive caption was given its image; `tneg2i`:
    the negative caption was. Files call them Ipos_2T, Ineg_2T, Tpos_2I, Tneg_2I.

    Raises ValueError when the four do not have the same length.
    """

    ipos2t: Bools
    ineg2t: Bools
    tpos2i: Bools
    tneg2i: Bools

    def __post_init__(self) -> None:
        if len({column.shape for column in self._questions()}) != 1 or self.ipos2t.ndim != 1:
            raise ValueError("The four outcomes of an instance are four columns of the same length.")

    def __len__(self) -> int:
        return len(self.ipos2t)

    @property
    def i2t(self) -> Bools:
        """Image to text: both images were given their captions."""
        return self.ipos2t & self.ineg2t

    @property
    def t2i(self) -> Bools:
        """Text to image: both captions were given their images."""
        return self.tpos2i & self.tneg2i

    @property
    def group(self) -> Bools:
        """All four questions were answered right."""
        return self.i2t & self.t2i

    def columns(self) -> dict[str, Bools]:
        """Return the seven scores of the papers' tables, in their order, one truth value per instance each."""
        return {
            "I2T": self.i2t,
            "T2I": self.t2i,
            "Group": self.group,
            "Ipos2T": self.ipos2t,
            "Ineg2T": self.ineg2t,
            "Tpos2I": self.tpos2i,
            "Tneg2I": self.tneg2i,
        }

    def scores(self) -> dict[str, Score]:
        """Return the seven scores over all instances, by name (Miranda et al. 2024, section 4).

        Example: one instance with all four right and one with only `tneg2i` wrong: I2T 2 of 2, T2I and Group 1 of 2.
        """
        return {name: score(column) for name, column in self.columns().items()}

    def scores_by(self, *labels: Sequence[str]) -> dict[Group, dict[str, Score]]:
        """Return the seven scores of every group of instances with the same labels, groups in order of appearance.

        labels: columns with one label per instance: types, say, or types and subtypes. Raises ValueError when one has
        another length than the outcomes.
        """
        return {group: self.of(members).scores() for group, members in groups(len(self), *labels)}

    def of(self, members: NDArray[Any]) -> "Outcomes":
        """Return the outcomes of selected instances, by index or by truth value."""
        return Outcomes(*(column[members] for column in self._questions()))

    def _questions(self) -> tuple[Bools, Bools, Bools, Bools]:
        return self.ipos2t, self.ineg2t, self.tpos2i, self.tneg2i


def outcomes_of_scores(scores: ArrayLike) -> Outcomes:
    """Return the outcomes of a model that scores every image against every caption of an instance.

    scores: n x 2 x 2, [instance, image, caption], 0 the positive and 1 the negative one; higher is a better match.

    Raises ValueError for another shape and for a score that is nan, naming the first such instance (from 0).
    Source: Miranda et al. 2024 (BiVLC), section 4; the group score is Winoground's (Thrush et al. 2022, section 4).

    Example: [[[0.3, 0.2], [0.25, 0.4]]] has all four right; with 0.3 in place of 0.2 the tie makes `ipos2t` wrong.
    """
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 3 or matrix.shape[1:] != (2, 2):
        raise ValueError(f"Scores have the shape n x 2 x 2 (image, caption), not {matrix.shape}.")
    _refuse_nan(matrix.reshape(-1, 4))
    return Outcomes(
        ipos2t=matrix[:, 0, 0] > matrix[:, 0, 1],
        ineg2t=matrix[:, 1, 1] > matrix[:, 1, 0],
        tpos2i=matrix[:, 0, 0] > matrix[:, 1, 0],
        tneg2i=matrix[:, 1, 1] > matrix[:, 0, 1],
    )


def outcomes_of_detectors(text: ArrayLike, image: ArrayLike) -> Outcomes:
    """Return the outcomes of two detectors of synthetic content, which look at captions alone and at images alone.

    text, image: n x 2 probabilities of being synthetic, [instance, positive or negative]. An image is given the
    caption on its own side when the image detector sees its side (0.5 rounds to natural) and the text detector gives
    the negative caption the higher probability; captions likewise.

    Raises ValueError for another shape, two different lengths, and nan.
    Source: Miranda et al. 2024, section 5.3; `Detector_evaluation_BiVLC.py` in IMirandaM/BiVLC.

    Example: text [[0.4, 0.6]], image [[0.1, 0.9]] has all four right.
    """
    texts, images = (np.asarray(side, dtype=np.float64) for side in (text, image))
    if texts.ndim != 2 or texts.shape[1] != 2 or texts.shape != images.shape:
        raise ValueError(f"Detections have the shape n x 2 for texts and images, not {texts.shape} and {images.shape}.")
    _refuse_nan(np.hstack([texts, images]))
    text_apart, image_apart = texts[:, 0] < texts[:, 1], images[:, 0] < images[:, 1]
    return Outcomes(
        ipos2t=seen_as_natural(images[:, 0]) & text_apart,
        ineg2t=~seen_as_natural(images[:, 1]) & text_apart,
        tpos2i=seen_as_natural(texts[:, 0]) & image_apart,
        tneg2i=~seen_as_natural(texts[:, 1]) & image_apart,
    )


def seen_as_natural(probabilities: Floats) -> Bools:
    """Return which probabilities of being synthetic, 0 to 1, round to natural; 0.5 does."""
    return np.asarray(np.rint(probabilities) == 0)


def detection_accuracy(probabilities: ArrayLike) -> Score:
    """Count the texts, or images, that a detector of synthetic content classifies correctly.

    probabilities: n x 2 of being synthetic, 0 to 1, [instance, natural or synthetic]; both of an instance count. 0.5
    rounds to natural. Raises ValueError for another shape and nan.
    Source: Miranda et al. 2024, table 5 (text and image detection accuracy).

    Example: [[0.4, 0.6], [0.2, 0.1]]: 3 of 4.
    """
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != 2:
        raise ValueError(f"Detections have the shape n x 2, not {values.shape}.")
    _refuse_nan(values)
    return score((seen_as_natural(values) == [True, False]).ravel())


def truth_values(values: ArrayLike) -> Bools:
    """Return truth values as one array. values: True and False, or the numbers 1 and 0.

    Raises ValueError for everything else, naming the first: nan and the text "False" would otherwise count as right.
    The caller leaves out missing values.
    """
    array = np.asarray(values)
    if array.dtype == np.bool_:
        return array
    flat = array.ravel().tolist() if array.dtype != object else [*array.ravel()]
    for index, value in enumerate(flat):
        if not isinstance(value, (bool, int, float, np.bool_, np.number)) or value not in (0, 1):
            raise ValueError(f"Value {index} (counted from 0) is {value!r}, neither true nor false.")
    return array.astype(np.bool_)


def scores_in_range(values: ArrayLike) -> Floats:
    """Return scores from 0 to 1 as one array. values: numbers or truth values; raises ValueError for everything else,
    naming the first."""
    array = np.asarray(values)
    if array.dtype.kind not in "bfiu":
        # Truth values and numbers of several types; everything else is named.
        return truth_values(values).astype(np.float64)
    numbers = array.astype(np.float64)
    outside = ~((numbers >= 0) & (numbers <= 1))
    if outside.any():
        index = int(outside.ravel().argmax())
        value = array.ravel()[index].item()
        raise ValueError(
            f"Value {index} (counted from 0) is {value!r}, neither true nor false, nor a score from 0 to 1."
        )
    return numbers


def sum_of_scores(values: ArrayLike) -> Score:
    """Add up scores. values: from 0 to 1, one per question; raises ValueError as `scores_in_range`.

    Example: [1, 0.5, 0] is 1.5 of 3.
    """
    numbers = scores_in_range(values)
    total = float(numbers.sum())
    return Score(int(total) if total.is_integer() else total, numbers.size)


def score(correct: ArrayLike) -> Score:
    """Count what is right. correct: truth values, one per question; raises ValueError as `truth_values`."""
    flags = truth_values(correct)
    return Score(int(flags.sum()), flags.size)


def scores_by(correct: ArrayLike, *labels: Sequence[str]) -> dict[Group, Score]:
    """Count what is right in every group of questions with the same labels, groups in order of appearance.

    correct: truth values, one per question. labels: columns with one label per question; raises ValueError when one
    has another length.

    Example: [True, False, True] by ["add", "add", "swap"] is {("add",): 1 of 2, ("swap",): 1 of 1}.
    """
    flags = truth_values(correct)
    return {group: score(flags[members]) for group, members in groups(len(flags), *labels)}


def macro(scores: Mapping[Any, Score] | Iterable[Score], minimum: int = 1) -> Mean:
    """Return the mean of the shares of groups, each counting once: ARO's macro accuracy over relations.

    minimum: groups with fewer questions are left out (ARO takes 25 for attributes). Undefined without a group.

    Source: Yuksekgonul et al. 2023, "When and why vision-language models behave like bags-of-words", section 2.

    Example: 1 of 2 and 1 of 1 is 0.75; the micro average, 2 of 3, is `score` of all questions.
    """
    every = scores.values() if isinstance(scores, Mapping) else scores
    shares = [each.count / each.n for each in every if each.n >= max(minimum, 1)]
    if not shares:
        least = "one question" if minimum <= 1 else f"{minimum} questions"
        return Mean(None, 0, f"No group has at least {least}.")
    return Mean(sum(shares) / len(shares), len(shares))


def right_choices(scores: ArrayLike, right: ArrayLike | int) -> Bools:
    """Return whether the right one of several options has the strictly highest score.

    scores: n x options. right: the index of the right option, one for all (ARO: 1 in VG-Relation and VG-Attribution,
    0 in COCO-Order and Flickr-Order) or one per question.

    Raises ValueError for another shape, nan, and an index that is no option.

    Example: [[0.1, 0.2], [0.3, 0.3]] with the right option 1 is [True, False].
    """
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"Scores have the shape n x options, not {matrix.shape}.")
    _refuse_nan(matrix)
    column = np.broadcast_to(np.asarray(right, dtype=np.int64), len(matrix))
    if ((column < 0) | (column >= matrix.shape[1])).any():
        raise ValueError(f"The right option is one of 0 to {matrix.shape[1] - 1}.")
    rows = np.arange(len(matrix))
    not_beaten = matrix >= matrix[rows, column][:, None]
    not_beaten[rows, column] = False
    return np.logical_not(not_beaten.any(axis=1))


def ranks(scores: ArrayLike, relevant: ArrayLike) -> NDArray[np.int64]:
    """Return the rank, from 1, of the best relevant item of every query's gallery.

    scores: queries x gallery. relevant: truth values of the same shape. An item that is not relevant and ties with
    the best relevant one comes before it.

    Raises ValueError for shapes that differ, nan, and a query without a relevant item, which has no rank.

    Example: scores [[0.9, 0.5, 0.5]] with the last item relevant: rank 3.
    """
    matrix, wanted = np.asarray(scores, dtype=np.float64), np.asarray(relevant, dtype=np.bool_)
    if matrix.ndim != 2 or matrix.shape != wanted.shape:
        raise ValueError(f"Scores and relevant are queries x gallery, not {matrix.shape} and {wanted.shape}.")
    _refuse_nan(matrix)
    if not wanted.any(axis=1).all():
        raise ValueError(f"Query {int((~wanted.any(axis=1)).argmax())} has no relevant item in its gallery.")
    best = np.where(wanted, matrix, -np.inf).max(axis=1, keepdims=True)
    before: NDArray[np.int64] = ((matrix >= best) & ~wanted).sum(axis=1)
    return before + 1


def drop_rate(before: Score, after: Score) -> Mean:
    """Return the relative drop in recall caused by altered items in the gallery, at most 1; negative if it rises.

    before, after: recall of the same queries without and with the altered items. Undefined when nothing was found
    before. Raises ValueError when the queries cannot be the same. Source: Park et al. 2024 (RoCOCO), section 4.

    Example: from 81.9 % to 48.4 % is a drop of 0.409.
    """
    if before.n != after.n:
        raise ValueError(f"A drop compares the same queries, not {before.n} with {after.n}.")
    if not before.count:
        return Mean(None, before.n, "Nothing was found before, so nothing can be lost." if before.n else NOTHING)
    return Mean((before.count - after.count) / before.count, before.n)


def false_recall(scores: ArrayLike, altered: ArrayLike) -> Score:
    """Count the queries whose first item is an altered one (RoCOCO's false recall at 1). A tie counts as fooled.

    scores: queries x gallery. altered: truth values, one per gallery item. Raises ValueError for other shapes and nan.

    Example: [[0.2, 0.9], [0.8, 0.1]] with the last item altered: 1 of 2.
    """
    matrix, flags = np.asarray(scores, dtype=np.float64), np.asarray(altered, dtype=np.bool_)
    if matrix.ndim != 2 or flags.shape != matrix.shape[1:]:
        raise ValueError(
            f"Scores are queries x gallery and altered is one per item, not {matrix.shape}, {flags.shape}."
        )
    _refuse_nan(matrix)
    genuine = np.where(flags, -np.inf, matrix).max(axis=1, initial=-np.inf)
    return score(np.where(flags, matrix, -np.inf).max(axis=1, initial=-np.inf) >= genuine)


def groups(length: int, *labels: Sequence[str]) -> Iterator[tuple[Group, NDArray[np.int64]]]:
    """Yield each combination of labels, in order of appearance, with the places that have it.

    length: number of places; labels: columns of that many labels. Raises ValueError when one has another length.
    """
    if any(len(column) != length for column in labels):
        raise ValueError(f"Every label column has one label for each of the {length} instances.")
    members: dict[Group, list[int]] = {}
    for index, group in enumerate(zip(*labels, strict=True)):
        members.setdefault(tuple(str(label) for label in group), []).append(index)
    for group, indices in members.items():
        yield group, np.array(indices, dtype=np.int64)


def _refuse_nan(rows: Floats) -> None:
    missing = np.isnan(rows).any(axis=1)
    if missing.any():
        raise ValueError(f"The scores of instance {int(missing.argmax())} (counted from 0) are not all numbers.")
