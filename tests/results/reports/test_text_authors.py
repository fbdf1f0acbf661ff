"""How texts were written beside how often others find what they are about, counted by hand."""

from dataclasses import replace
from typing import Any

import pytest

from analytics.language import NO_PARSER
from analytics.retrieval import Retrieval
from results.reports.base import Range, Table, Undefined
from results.reports.build import report_of_study
from results.reports.cards import StudyAnswers
from results.reports.sections import descriptions
from results.reports.sections.text_authors import (
    NOBODY_LOOKED,
    NOT_RECORDED,
    Writing,
    WrittenText,
    texts_table,
    writers_table,
)
from tests.results.reports.small import PROJECT, STEP_3

DORA, EMIL, FAY = 1, 2, 3
NAMES = {DORA: "A-DORA", EMIL: "A-EMIL", FAY: "A-FAY"}
# Tokens: 3, 6 and 4, and 5.
TEXTS = [
    WrittenText(DORA, "static", "A dog.", pasted=False, seconds=10.0, became="accepted"),
    WrittenText(DORA, "video", "A dog runs. It runs", pasted=True, seconds=30.0, became="rejected"),
    WrittenText(DORA, "video", "It falls down.", seconds=None),
    WrittenText(EMIL, "static", "A cat, no dog", pasted=False, seconds=5.0, became="accepted"),
    WrittenText(FAY, "static", "It fell."),
]
SEARCH = replace(STEP_3, slug="search")


@pytest.fixture(autouse=True)
def _no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptions, "_parser", lambda: None)


def looked_for() -> list[Retrieval]:
    """Return what others found: dora's first by 2 of 2, her second by 1 of 3, emil's by 1 of 2, fay's by nobody yet."""
    found = {"d1": (DORA, (True, True)), "d2": (DORA, (False, True, False)), "e": (EMIL, (True, False))}
    return [
        Retrieval(text, person, 1, right, describer=writer)
        for text, (writer, rights) in found.items()
        for person, right in enumerate(rights)
    ]


def rows(table: Table) -> list[list[Any]]:
    return [list(row) for row in table.rows]


def test_each_writer_stands_beside_what_others_found_and_nobody_is_called_anything_for_a_paste() -> None:
    table = writers_table("tell", Writing(TEXTS, NAMES, [SEARCH], looked_for()))
    every, dora, emil, fay = rows(table)
    # Lengths 3, 6, 4, 5 and 3; recorded: no, yes, no; seconds 10, 30 and 5.
    assert every[:7] == ["all", 5, 4, 3, pytest.approx(1 / 3), 10, 7]
    # Dora's were found by 3 of 5, emil's by 1 of 2, and each counts once.
    assert every[7] == pytest.approx((3 / 5 + 1 / 2) / 2)
    assert isinstance(every[8], Range)
    assert dora[:8] == ["A-DORA", 3, 4, 2, 0.5, 20, 5, pytest.approx(3 / 5)]
    assert emil[:8] == ["A-EMIL", 1, 5, 1, 0, 5, 2, 0.5]
    assert isinstance(dora[8], Range)
    assert emil[8] == Undefined("All answers are about one instance, so there is no interval for other instances.")
    nothing, nobody = Undefined(NOT_RECORDED), Undefined(NOBODY_LOOKED)
    assert fay == ["A-FAY", 1, 3, 0, nothing, nothing, 0, nobody, nobody]
    said = " ".join([table.title, *table.notes, *(column.title for column in table.columns)]).casefold()
    assert "a paste alone is no evidence of copying" in said
    assert not {"fraud", "cheat", "suspicious"} & set(said.split())


def test_texts_for_which_nobody_has_looked_say_so() -> None:
    every, *_ = rows(writers_table("tell", Writing(TEXTS, NAMES)))
    assert every[6:] == [0, Undefined(NOBODY_LOOKED), Undefined(NOBODY_LOOKED)]
    assert rows(writers_table("tell", Writing([], NAMES))) == []


def test_what_the_texts_are_like_and_those_that_others_accepted() -> None:
    found = {(row[0], row[1]): row[2:] for row in rows(texts_table("tell", Writing(TEXTS, NAMES, [SEARCH])))}
    assert set(found) == {
        (sets, which) for sets in ("all", "static", "video") for which in ("written", "accepted by others")
    }
    # Texts, tokens, mean length; of static ones 3, 5 and 3 tokens.
    assert found["all", "written"][:3] == [5, 21, 4.2]
    assert found["static", "written"][:3] == [3, 11, pytest.approx(11 / 3)]
    assert found["all", "accepted by others"][:3] == [2, 8, 4]
    # A dog, A cat no dog: the types a, dog, cat and no, of which cat and no occur once.
    assert found["all", "accepted by others"][6:8] == [4, 2]
    assert found["all", "written"][9:] == [Undefined(NO_PARSER), 0]
    assert found["video", "accepted by others"][:2] == [0, 0]
    nobody_asks = rows(texts_table("tell", Writing(TEXTS, NAMES)))
    assert [row[1] for row in nobody_asks] == ["written"] * 3


def test_the_results_of_a_study_hold_them_and_say_where_a_program_looked() -> None:
    played = replace(SEARCH, simulated=2, annotators=3)
    alone = replace(PROJECT, studies=[STEP_3], models=[])
    report = report_of_study(alone, StudyAnswers([], writing=Writing(TEXTS, NAMES, [played], looked_for())))
    simulated = {card.name: card.simulated for card in report.cards}
    assert "2 of 3 annotators of search" in simulated["writing"]
    assert simulated["decisions"] == ""
    assert not {"writers", "texts"} & {table.name for table in report_of_study(alone, StudyAnswers([])).tables}
