"""How descriptions that others found were written, beside those that they did not find."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from analytics.intervals.superiority import superiority
from analytics.scores import score
from analytics.work.pay import percentile
from results.reports.base import SEED, Cell, Column, Range, Table, Undefined
from results.reports.cells import range_or_reason, share_of, value_or_reason
from results.reports.sections.text_authors import NOT_RECORDED, Writing, WrittenText

FOUND, NOT_FOUND = "Found", "Not found"
KEYS, PAUSES, SECONDS, PASTED = "Keys", "Pauses", "Seconds", "Something pasted"
# Measure -> its value for a text, None if it was not recorded.
MEASURED: dict[str, Callable[[WrittenText], float | None]] = {
    KEYS: lambda text: text.keys,
    PAUSES: lambda text: text.pauses,
    SECONDS: lambda text: text.seconds,
    PASTED: lambda text: None if text.pasted is None else float(text.pasted),
}
NOTES = (
    "Texts that others were asked to find, with at least one counted answer. Found: more than half of these answers "
    "chose the described image. Not found: all others. Only texts with a recorded writing process are counted.",
    "Pauses: of more than two seconds between two keys. Seconds: from the first key or paste to sending.",
    "Probability of superiority: how likely a random found text has a larger value than a random text not found. Equal "
    "values count half, so 0.50 means no difference. It equals the area under the ROC curve. Its interval is a "
    "percentile bootstrap over writers with all their texts, so it generalises to other writers like these. It needs "
    "20 writers. In simulations with 20 to 40 writers it covered the truth 91 to 92 times in 100.",
    "A difference does not show that the way of writing is the cause.",
)


def writing_process_table(study: str, writing: Writing) -> Table:
    """Return a row for each measure of writing, comparing found texts with those not found."""
    columns = [Column("Measure")]
    for group in (FOUND, NOT_FOUND):
        columns += [Column(f"{group}: texts", "count"), Column(f"{group}: median", "coefficient")]
        columns += [Column(f"{group}: middle half", "coefficient"), Column(f"{group}: share", "share")]
    columns += [Column("Probability of superiority", "coefficient"), Column("95 % interval", "coefficient")]
    columns += [Column("Writers", "count")]
    asked = [text for text in writing.texts if text.retrievers]
    rows = [_row(measure, asked) for measure in MEASURED] if asked else []
    rests_on = [study, *(asking.slug for asking in writing.asking)]
    return Table("writing-process", "How found and not found texts were written", columns, rows, NOTES, rests_on)


def _row(measure: str, asked: Sequence[WrittenText]) -> Sequence[Cell]:
    recorded = [(value, text) for text in asked if (value := MEASURED[measure](text)) is not None]
    values, are_found = [value for value, _ in recorded], [_is_found(text) for _, text in recorded]
    writers = [text.writer for _, text in recorded]
    cells: list[Cell] = [measure]
    for wanted in (True, False):
        of_group = [value for value, is_found in zip(values, are_found, strict=True) if is_found is wanted]
        cells += [len(of_group), *(_share(of_group) if measure == PASTED else _quartiles(of_group))]
    compared = superiority(values, are_found, writers, rng=np.random.default_rng(SEED))
    cells += [value_or_reason(compared.value, compared.reason), range_or_reason(compared.interval), compared.n_people]
    return cells


def _is_found(text: WrittenText) -> bool:
    return 2 * text.found > text.retrievers


def _quartiles(values: Sequence[float]) -> Sequence[Cell]:
    """Return the median and the middle half; a share does not apply."""
    if not values:
        return Undefined(NOT_RECORDED), Undefined(NOT_RECORDED), None
    low, median, high = (percentile(values, Fraction(quarter, 4)) for quarter in (1, 2, 3))
    return median, Range(low, high), None


def _share(values: Sequence[float]) -> Sequence[Cell]:
    return None, None, share_of(score([value == 1 for value in values])) if values else Undefined(NOT_RECORDED)
