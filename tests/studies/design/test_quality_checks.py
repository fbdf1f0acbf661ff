"""Sentences about `checks` in a study file that cannot be carried out."""

from typing import Any

import pytest

from studies.design.checks import check_design
from studies.design.model import Design
from studies.design.problems import DesignRefused

FILE = {"study": "vases", "title": "Which vase?", "kind": "best_of_n", "surveys": {"size": 20}}
LISTED = [{"instance": "vase-1", "right": "candidate-0"}]
GOLD = {"per_survey": 1, "questions": LISTED}


def problems(**values: Any) -> list[tuple[tuple[str | int, ...], str]]:
    with pytest.raises(DesignRefused) as refused:
        check_design(FILE | values)
    return [(each.path, each.message) for each in refused.value.problems]


def test_checks_are_read_and_stored_as_they_are_written() -> None:
    checks = {"gold": GOLD, "instruction": {"per_survey": 2}, "repeat": {"per_survey": 3}}
    design = check_design(FILE | {"checks": checks})
    assert design.checks is not None
    assert design.checks.gold is not None
    assert (design.checks.gold.per_survey, design.checks.gold.questions[0].right) == (1, "candidate-0")
    assert Design.from_stored(design.to_stored()) == design


def test_a_design_without_checks_is_stored_without_them() -> None:
    assert "checks" not in check_design(FILE).to_stored()


@pytest.mark.parametrize(
    ("values", "path", "sentence"),
    [
        (
            {"checks": {"gold": {"per_survey": 1, "questions": [{"instance": "vase-1"}]}}},
            ("checks", "gold", "questions", 0),
            "The gold question about 'vase-1' has no right answer. Fill in `right`.",
        ),
        (
            {"checks": {"gold": {"per_survey": 1}}},
            ("checks", "gold"),
            "Neither is there. Write one of them.",
        ),
        ({"checks": {"gold": GOLD | {"from": "pilot"}}}, ("checks", "gold"), "Both are there. Write one of them."),
        (
            {"checks": {"gold": {"per_survey": 1, "from": "vases"}}},
            ("checks", "gold", "from"),
            "A study cannot take its gold questions from itself.",
        ),
        (
            {"checks": {"gold": GOLD | {"per_survey": 2}}},
            ("checks", "gold", "per_survey"),
            "`checks.gold.per_survey` is 2, and only 1 gold questions are listed.",
        ),
        (
            {"checks": {"gold": GOLD | {"questions": LISTED * 2}}},
            ("checks", "gold", "questions", 1, "instance"),
            "`checks.gold` names the instance 'vase-1' twice.",
        ),
        (
            {"checks": {"gold": GOLD}, "practice": {"questions": [{"instance": "vase-1", "right": "candidate-0"}]}},
            ("checks", "gold", "questions", 0, "instance"),
            "is a practice question too, so annotators know its answer.",
        ),
        (
            {"checks": {"repeat": {"per_survey": 21}}},
            ("checks", "repeat", "per_survey"),
            "`checks.repeat.per_survey` is 21, more than the questions of a survey: `surveys.size` is 20.",
        ),
        (
            {"checks": {"instruction": {"per_survey": 11}}},
            ("checks",),
            "There are 11 checks in a survey of 20 questions; at most half as many as questions are possible.",
        ),
        (
            {"kind": "image_to_text", "checks": {"instruction": {"per_survey": 1}}},
            ("checks", "instruction"),
            "Questions of image_to_text show no text with an option that an instruction can name.",
        ),
        (
            {"kind": "describe", "checks": {"repeat": {"per_survey": 1}}},
            ("checks",),
            "Answers to describe are written",
        ),
        (
            {"instances": {"from": "upstream"}, "checks": {"repeat": {"per_survey": 1}}},
            ("checks",),
            "The questions come from another study one by one, so no places for checks can be drawn at the launch.",
        ),
        (
            {"kind": "retrieve", "checks": {"repeat": {"per_survey": 1}}},
            ("checks",),
            "The questions are about texts that people wrote, who may withdraw them",
        ),
    ],
)
def test_checks_that_cannot_be_are_refused_at_their_place(
    values: dict[str, Any], path: tuple[str | int, ...], sentence: str
) -> None:
    found = problems(**values)
    assert [where for where, _ in found] == [path]
    assert sentence in found[0][1]
