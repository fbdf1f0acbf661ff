"""Models that were only asked for the caption of an image, as on SugarCrepe."""

from dataclasses import replace

import pytest

from results.reports.base import Range
from results.reports.build import report_of
from results.reports.facts import ModelFacts
from tests.results.reports.small import PROJECT

CHOSE = ModelFacts("CLIP_y", {}, captions={1: True, 2: False, 3: True})


def test_accuracy_is_the_micro_average_and_stands_per_category_too() -> None:
    table = report_of(replace(PROJECT, models=[*PROJECT.models, CHOSE])).table("captions")
    assert [row[:5] for row in table.rows] == [
        ("CLIP_y", "all", "all", 3, 2),
        ("CLIP_y", "add", "obj", 2, 1),
        ("CLIP_y", "swap", "att", 1, 1),
    ]
    assert [row[5] for row in table.rows] == [pytest.approx(2 / 3), 0.5, 1.0]
    # One of one: z^2 = 3.8415, from 1 / (1 + z^2) to 1.
    interval = table.rows[2][6]
    assert isinstance(interval, Range)
    assert interval.low == pytest.approx(0.2065, abs=1e-4)
    assert interval.high == 1.0


def test_models_of_files_that_name_no_pictures_are_called_declared() -> None:
    of_file = ModelFacts("CLIP_z", {1: (True,) * 4}, captions={2: True}, is_declared=True)
    report = report_of(replace(PROJECT, models=[*PROJECT.models, CHOSE, of_file]))
    said = "Not verified, because their prediction files name no images: CLIP_z."
    assert [said in report.table(name).notes for name in ("models", "captions")] == [True, True]
    plain = report_of(replace(PROJECT, models=[*PROJECT.models, CHOSE]))
    assert not [note for table in plain.tables for note in table.notes if note.startswith("Not verified")]


def test_without_a_study_there_is_nothing_that_was_kept_but_the_models_are_told() -> None:
    report = report_of(replace(PROJECT, studies=[], models=[CHOSE]))
    assert [table.name for table in report.tables] == ["funnel", "captions"]
