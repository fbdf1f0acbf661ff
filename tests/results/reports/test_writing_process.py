"""How found and not found texts were written, counted by hand."""

from dataclasses import replace
from typing import Any

import pytest

from analytics.intervals.bootstrap import FEW_PEOPLE
from analytics.intervals.superiority import EMPTY
from results.reports.base import Range, Undefined
from results.reports.build import report_of_study
from results.reports.cards import StudyAnswers
from results.reports.sections.text_authors import NOT_RECORDED, Writing, WrittenText
from results.reports.sections.writing_process import writing_process_table
from tests.results.reports.small import PROJECT, STEP_3

DORA, EMIL, FAY = 1, 2, 3
NAMES = {DORA: "A-DORA", EMIL: "A-EMIL", FAY: "A-FAY"}
TEXTS = [
    # Found: by 2 of 2, 2 of 3 and 1 of 1.
    WrittenText(DORA, "static", "A dog.", False, 10.0, keys=20, pauses=0, retrievers=2, found=2),
    WrittenText(DORA, "static", "A cat.", True, 20.0, keys=40, pauses=2, retrievers=3, found=2),
    WrittenText(EMIL, "static", "A cow.", False, None, keys=60, pauses=1, retrievers=1, found=1),
    # Not found: by half, by nobody, and one of which nothing was recorded.
    WrittenText(EMIL, "static", "A dog?", False, 4.0, keys=10, pauses=2, retrievers=2, found=1),
    WrittenText(FAY, "static", "A fox.", True, 8.0, keys=40, pauses=4, retrievers=2, found=0),
    WrittenText(FAY, "static", "A hen.", retrievers=2, found=0),
    # Nobody was asked to find it.
    WrittenText(FAY, "static", "An owl.", True, 90.0, keys=900, pauses=90),
]


def rows(texts: list[WrittenText]) -> dict[Any, list[Any]]:
    return {row[0]: list(row[1:]) for row in writing_process_table("tell", Writing(texts, NAMES)).rows}


def test_measures_of_found_and_not_found_texts_are_counted_by_hand() -> None:
    found, few = rows(TEXTS), Undefined(FEW_PEOPLE)
    assert list(found) == ["Keys", "Pauses", "Seconds", "Something pasted"]
    # 20 beats 10; 40 beats 10 and ties with 40; 60 beats both: 1 + 1.5 + 2 of 6 pairs.
    assert found["Keys"] == [
        *(3, 40, Range(30, 50), None),
        *(2, 25, Range(17.5, 32.5), None),
        *(pytest.approx(4.5 / 6), few, 3),
    ]
    # Of 0, 2 and 1 against 2 and 4, only one tie.
    assert found["Pauses"] == [
        *(3, 1, Range(0.5, 1.5), None),
        *(2, 3, Range(2.5, 3.5), None),
        *(pytest.approx(0.5 / 6), few, 3),
    ]
    assert found["Seconds"][:9] == [2, 15, Range(12.5, 17.5), None, 2, 6, Range(5, 7), None, 1]
    # One of three and one of two: 1 beats 0 once and ties once, each 0 ties once.
    assert found["Something pasted"] == [
        *(3, None, None, pytest.approx(1 / 3)),
        *(2, None, None, 0.5),
        *(pytest.approx(2.5 / 6), few, 3),
    ]


def test_what_was_not_recorded_has_no_number() -> None:
    nothing = Undefined(NOT_RECORDED)
    unrecorded = [replace(text, pasted=None, seconds=None, keys=None, pauses=None) for text in TEXTS]
    found = rows(unrecorded)
    assert found["Keys"] == [0, nothing, nothing, None, 0, nothing, nothing, None, *[Undefined(EMPTY)] * 2, 0]
    assert found["Something pasted"][3] == nothing
    assert not writing_process_table("tell", Writing(unrecorded, NAMES)).says_something
    assert rows([replace(text, retrievers=0, found=0) for text in TEXTS]) == {}


def test_enough_writers_have_an_interval() -> None:
    texts = [
        replace(TEXTS[0], writer=writer, keys=10 + writer % 7 + 2 * is_found, found=2 * is_found)
        for writer in range(20)
        for is_found in (True, False)
    ]
    *_, value, interval, writers = rows(texts)["Keys"]
    assert isinstance(interval, Range)
    assert 0.5 < interval.low < value < interval.high <= 1
    assert writers == 20


def test_the_results_of_a_study_hold_the_comparison() -> None:
    alone = replace(PROJECT, studies=[STEP_3], models=[])
    report = report_of_study(alone, StudyAnswers([], writing=Writing(TEXTS, NAMES)))
    (card,) = [card for card in report.cards if card.name == "writing-process"]
    assert card.sentence == "Found texts took more keys than not found ones in 75.0 % of pairs (3 texts and 2 texts)."
    assert [table.name for table in card.tables] == ["writing-process"]
