"""Input of agreement coefficients: units x raters, coded once, with equal units counted together.

Labels become codes 0..q-1 in one pass; units with the same ratings become one row with a count. A hundred thousand
units of three raters and ten categories are at most 1,331 rows, so the cost of coefficients and resampling does not
depend on the number of units.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Units x raters, and the possible labels.
Ratings = NDArray[Any] | Sequence[Sequence[Any]]
Categories = NDArray[Any] | Sequence[Any]
Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Counts = NDArray[np.int64]

MISSING = -1
# Rows with longer keys, in bits, are not merged.
KEY_BITS = 62


@dataclass(frozen=True)
class CodedRatings:
    """`codes`: units x raters, `MISSING` where there is no rating. `categories`: the label of each code, in order.

    `values`: the categories as numbers, or None when labels are text. `ordered`: whether the order of the codes has a
    meaning: numbers are ordered by size, texts only if the caller declared the categories. `raters`: the rater of each
    rating, numbered from 0, if columns are not raters.
    """

    codes: Codes
    categories: tuple[Any, ...]
    values: Floats | None
    ordered: bool
    raters: Codes | None = None

    def number_of_raters(self) -> int:
        """Count the raters who gave any rating."""
        if self.raters is None:
            return int((self.codes != MISSING).any(axis=0).sum())
        return int(self.raters.max(initial=MISSING)) + 1


@dataclass(frozen=True)
class Rows:
    """Units with equal ratings, merged. `codes`: rows x width, padded by `MISSING`; `counts`: units per row."""

    codes: Codes
    counts: Counts


def code(ratings: Ratings | CodedRatings, categories: Categories | None = None) -> CodedRatings:
    """Code an array of ratings. A result of `long_table` stays as it is, apart from declared categories.

    ratings: units x raters, numbers or labels. Missing is nan among numbers; None, "" or nan among objects; "" among
        text. Every other value is a label, the text "None" too. A list is read as objects: its numbers stay numbers. An
        empty list is no units.
    categories: every label that could have been given, in order; by default those that were given, sorted.

    Raises ValueError when the array is not two-dimensional, when a number is infinite, when a declared category
    occurs twice, and when a rating is none of the declared categories.

    Example: [["b", "a"], ["b", None]] has codes [[1, 0], [1, -1]] of the categories ("a", "b").
    """
    if isinstance(ratings, CodedRatings):
        return _recode(ratings, categories)
    array = ratings if isinstance(ratings, np.ndarray) else np.array(ratings, dtype=object)
    if not isinstance(ratings, np.ndarray) and not len(ratings):
        array = array.reshape(0, 0)
    if array.ndim != 2:
        raise ValueError(f"Ratings must be an array of units x raters, with 2 dimensions. This one has {array.ndim}.")
    if array.dtype.kind in "biuf":
        codes, values = _code_numbers(array.astype(np.float64, copy=False))
        return _recode(CodedRatings(codes, tuple(values.tolist()), values, ordered=True), categories)
    codes, labels = _code_labels(array.ravel().tolist())
    return _recode(_attach_labels(codes.reshape(array.shape), labels), categories)


def long_table(answers: Iterable[tuple[Hashable, Hashable, Any]], categories: Categories | None = None) -> CodedRatings:
    """Code the rows of a long table of units, raters and ratings.

    Its memory grows with the given ratings. An array of units x raters also has room for missing ones: with a thousand
    annotators who answer a hundred questions each, 99 % of it is empty.

    answers: (unit, rater, rating), the rating missing or not as in `code`. categories: as in `code`. Raises ValueError
    if a rater rated a unit twice, and like `code`.

    Example: [(1, "ann", "a"), (1, "ben", "b"), (2, "ben", "a")] is the array [["a", "b"], [None, "a"]].
    """
    rows = list(answers)
    given, labels = _code_labels([rating for _, _, rating in rows])
    rows = [row for row, label in zip(rows, given.tolist(), strict=True) if label != MISSING]
    given, unit, rater = (
        given[given != MISSING],
        number_values(row[0] for row in rows),
        number_values(row[1] for row in rows),
    )
    if np.unique(np.stack([unit, rater]), axis=1).shape[1] < unit.size:
        raise ValueError("A rater has rated a unit twice; each rates a unit once.")
    laid_out = by_unit(unit, given, labels, rater)
    return _recode(replace(_attach_labels(laid_out.codes, labels), raters=laid_out.raters), categories)


def by_unit(
    units: Sequence[int] | NDArray[np.intp],
    labels: Sequence[int] | Codes,
    categories: Sequence[Any],
    raters: Sequence[int] | NDArray[np.intp] | None = None,
    values: Sequence[float] | None = None,
) -> CodedRatings:
    """Lay out coded ratings as units x the maximum number per unit, without columns for raters.

    It takes a tenth of the time of `code`. units: the unit of each rating. labels: the index of each rating in
    `categories`, which lists all possible labels. raters: the rater of each rating; without it, coefficients that need
    raters cannot be computed. values: the number of each category, if categories are numbers.

    Example: units [7, 8, 7] with labels [0, 1, 1] of ("a", "b") are the array [["a", "b"], ["b", None]].
    """
    unit, label = np.asarray(units, dtype=np.int64), np.asarray(labels, dtype=np.int32)
    order = np.argsort(unit, kind="stable")
    _, first, counts = np.unique(unit[order], return_index=True, return_counts=True)
    codes = np.full((len(counts), max(1, int(counts.max(initial=0)))), MISSING, dtype=np.int32)
    cell = (np.repeat(np.arange(len(counts)), counts), np.arange(unit.size) - np.repeat(first, counts))
    codes[cell] = label[order]
    numbers = None if values is None else np.array(values, dtype=np.float64)
    if raters is None:
        return CodedRatings(codes, tuple(categories), numbers, ordered=True)
    who = np.full(codes.shape, MISSING, dtype=np.int32)
    who[cell] = np.unique(np.asarray(raters, dtype=np.int64), return_inverse=True)[1][order]
    return CodedRatings(codes, tuple(categories), numbers, ordered=True, raters=who)


def by_rater(coded: CodedRatings) -> CodedRatings:
    """Lay out a long table as units x raters."""
    if coded.raters is None:
        return coded
    units, columns = np.nonzero(coded.codes != MISSING)
    codes = np.full((len(coded.codes), coded.number_of_raters()), MISSING, dtype=np.int32)
    codes[units, coded.raters[units, columns]] = coded.codes[units, columns]
    return replace(coded, codes=codes, raters=None)


def _attach_labels(codes: Codes, labels: tuple[Any, ...]) -> CodedRatings:
    """Combine codes and their labels; numeric labels are ordered."""
    if not labels or not all(isinstance(label, Real) for label in labels):
        return CodedRatings(codes, labels, None, ordered=False)
    values = np.array(labels, dtype=np.float64)
    _refuse_infinite(float(values[0]), float(values[-1]))
    return CodedRatings(codes, labels, values, ordered=True)


def number_values(column: Iterable[Hashable]) -> NDArray[np.intp]:
    """Number the values of a column in order of appearance, from 0; equal ones have the same number."""
    index: dict[Hashable, int] = {}
    return np.array([index.setdefault(value, len(index)) for value in column], dtype=np.intp)


def _code_numbers(array: Floats) -> tuple[Codes, Floats]:
    present = ~np.isnan(array)
    values, places = np.unique(array[present], return_inverse=True)
    if values.size:
        _refuse_infinite(float(values[0]), float(values[-1]))
    codes = np.full(array.shape, MISSING, dtype=np.int32)
    codes[present] = places
    return codes, values


def _refuse_infinite(low: float, high: float) -> None:
    if np.isinf(low) or np.isinf(high):
        raise ValueError("A rating is infinite; a rating is a finite number, and a missing one is nan.")


def _code_labels(ratings: list[Any]) -> tuple[Codes, tuple[Any, ...]]:
    # A value that differs from itself is nan.
    labels = {value for value in set(ratings) if value is not None and value != "" and value == value}
    ordered = in_order(labels)
    index = {label: position for position, label in enumerate(ordered)}
    return np.fromiter((index.get(value, MISSING) for value in ratings), dtype=np.int32, count=len(ratings)), ordered


def in_order(labels: Iterable[Any]) -> tuple[Any, ...]:
    """Sort labels: numbers by size, then everything else by its text."""
    return tuple(sorted(labels, key=lambda label: (0, label, "") if isinstance(label, Real) else (1, 0, str(label))))


def _recode(coded: CodedRatings, categories: Categories | None) -> CodedRatings:
    """Recode to the categories that the caller declared."""
    if categories is None:
        return coded
    labels = tuple(categories.tolist() if isinstance(categories, np.ndarray) else categories)
    index = {label: position for position, label in enumerate(labels)}
    if len(index) != len(labels):
        raise ValueError("A category is declared twice.")
    unknown = [label for label in coded.categories if label not in index]
    if unknown:
        raise ValueError(f"The rating {unknown[0]!r} is not one of the declared categories.")
    recode = np.array([*(index[label] for label in coded.categories), MISSING], dtype=np.int32)
    numbers = all(isinstance(label, Real) for label in labels)
    values = np.array(labels, dtype=np.float64) if numbers else None
    return replace(coded, codes=recode[coded.codes], categories=labels, values=values, ordered=True)


def distinct_units(coded: CodedRatings) -> Rows:
    """Count units with the same ratings, by any raters, as one row. Leaves out units without a rating."""
    width = max(1, int((coded.codes != MISSING).sum(axis=1).max(initial=0)))
    codes = coded.codes
    if width < codes.shape[1]:
        # Move present ratings to the left, so that many annotators need few columns.
        codes = -np.sort(-codes, axis=1)[:, :width]
    rows = _count_rows(codes, len(coded.categories))
    return _count_rows(-np.sort(-rows.codes, axis=1), len(coded.categories), rows.counts)


def distinct_units_by_rater(coded: CodedRatings) -> tuple[Rows, Codes]:
    """Count units with the same ratings by the same raters as one row, and return the rater of each rating.

    Units without a rating are left out. The second value has the shape of the rows' codes.
    """
    if coded.raters is not None:
        rated = (coded.codes != MISSING).any(axis=1)
        return _with_ratings(coded.codes, np.ones(len(coded.codes), dtype=np.int64)), coded.raters[rated]
    rows = _count_rows(coded.codes, len(coded.categories))
    raters = np.broadcast_to(np.arange(rows.codes.shape[1], dtype=np.int32), rows.codes.shape)
    width = max(1, int((rows.codes != MISSING).sum(axis=1).max(initial=0)))
    first = np.argsort(rows.codes == MISSING, axis=1, kind="stable")[:, :width]
    return Rows(np.take_along_axis(rows.codes, first, 1), rows.counts), np.take_along_axis(raters, first, 1)


def row_of_each_unit(coded: CodedRatings, rows: Rows, *, by_column: bool) -> Counts:
    """Return the index in `rows` of each unit, -1 without one.

    by_column: whether columns are raters (two raters, as in `by_rater`), so that the order of ratings matters;
    otherwise rows are those of `distinct_units`.
    """
    width = rows.codes.shape[1]
    codes = by_rater(coded).codes if by_column else -np.sort(-coded.codes, axis=1)
    counted = (codes != MISSING).all(axis=1) if by_column else (codes != MISSING).any(axis=1)
    found = np.full(len(codes), MISSING, dtype=np.int64)
    base = len(coded.categories) + 1
    if width * np.log2(base) >= KEY_BITS:
        # Every unit has a row of its own.
        found[counted] = np.arange(int(counted.sum()))
        return found
    found[counted] = np.searchsorted(_keys(rows.codes, base), _keys(codes[counted, :width], base))
    return found


def _keys(codes: Codes, base: int) -> Counts:
    """Return one number per row, equal for equal rows only."""
    keys = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        keys *= base
        keys += column
        keys += 1
    return keys


def _count_rows(codes: Codes, categories: int, counts: Counts | None = None) -> Rows:
    """Merge equal rows, adding up `counts` (by default 1 each). Rows are not merged if keys would overflow."""
    base, width = categories + 1, codes.shape[1]
    if width * np.log2(base) >= KEY_BITS:
        return _with_ratings(codes, np.ones(len(codes), dtype=np.int64) if counts is None else counts)
    found, inverse = np.unique(_keys(codes, base), return_inverse=True)
    powers = base ** np.arange(width - 1, -1, -1, dtype=np.int64)
    merged = (found[:, None] // powers % base - 1).astype(np.int32)
    return _with_ratings(merged, np.bincount(inverse, weights=counts).astype(np.int64))


def _with_ratings(codes: Codes, counts: Counts) -> Rows:
    rated = (codes != MISSING).any(axis=1)
    return Rows(codes[rated], counts[rated])
