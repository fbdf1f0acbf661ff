"""Which counts lead to the instances behind them, on the small project whose every number is worked out by hand."""

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

import pytest

from analytics.outcomes import Progress, progress_of_instance
from results.reports.base import LinkedCount
from results.reports.build import report_of
from results.reports.explorer_links import question_count
from results.reports.facts import StudyFacts
from results.reports.sections.annotator_pairs import pair_agreements
from results.reports.sections.annotators import PersonsAnswer, annotators_table
from results.reports.sections.funnel import accepted_instances
from tests.results.reports.kinds import KINDS
from tests.results.reports.small import BASELINE, PROJECT, STEP_3, rows

UNANSWERED, OPEN, COMPLETE = Progress


@pytest.mark.parametrize(
    ("count", "unit", "instances", "explained"),
    [
        (40, "instances", None, ""),
        (1200, "questions", 1000, "The 1,000 instances that these 1,200 questions are about"),
        (3, "answers", 1, "The instance that these 3 answers are about"),
        (1, "skips", 1, "The instance that this skip is about"),
    ],
)
def test_a_count_of_something_else_says_what_is_listed(
    count: int, unit: str, instances: int | None, explained: str
) -> None:
    assert LinkedCount(count, "study=x", unit=unit, instances=instances).tooltip == explained


@pytest.mark.parametrize(
    ("of_questions", "whole"),
    [
        ([COMPLETE, COMPLETE], COMPLETE),
        ([COMPLETE, UNANSWERED], OPEN),
        ([OPEN, OPEN], OPEN),
        ([UNANSWERED], UNANSWERED),
    ],
)
def test_an_instance_is_as_far_as_all_its_questions_are(of_questions: list[Progress], whole: Progress) -> None:
    assert progress_of_instance(of_questions) is whole


@pytest.mark.parametrize(
    ("surveys", "query"),
    [
        ({5: {1, 2, 3, 4}, 6: {1}}, "study=step-3&survey=5"),
        ({5: {1, 2, 3, 4, 7}}, None),
        ({}, None),
    ],
)
def test_questions_of_a_pair_lead_to_the_instances_of_their_survey_where_they_are_all_of_it(
    surveys: Mapping[int, Set[int]], query: str | None
) -> None:
    (pair,) = pair_agreements(replace(STEP_3, surveys=surveys))
    assert (pair.n, pair.n.query if isinstance(pair.n, LinkedCount) else None) == (4, query)


@pytest.mark.parametrize(
    ("about", "name", "narrowed", "query"),
    [
        ({1, 2, 3, 4}, "several", {}, "study=step-3&question=several"),
        ({1, 4}, "several", {"accepted": accepted_instances(STEP_3)}, "study=step-3&state=accepted&question=several"),
        ({3}, "rejected", {}, "study=step-3&question=rejected"),
        ({1, 2}, "answered", {"type": "add"}, "study=step-3&question=answered&type=add"),
        # The list would show others too, or fewer.
        ({1, 2, 3}, "several", {}, None),
        ({1, 2, 4}, "several", {"accepted": accepted_instances(STEP_3)}, None),
    ],
)
def test_questions_lead_to_their_instances_where_a_list_shows_just_these(
    about: Set[int], name: str, narrowed: Mapping[str, Any], query: str | None
) -> None:
    study = replace(STEP_3, categories=PROJECT.categories)
    found = question_count(9, about, study, name, **narrowed)
    assert (found, found.query if isinstance(found, LinkedCount) else None) == (9, query)


def leads(predicted_by: Mapping[str, Set[int]], baseline: StudyFacts = BASELINE) -> dict[tuple[str, str], str]:
    """Return the query of each count of the model about all instances, by its table and column."""
    models = [replace(PROJECT.models[0], listed_as="CLIP")]
    report = report_of(replace(PROJECT, studies=[STEP_3, baseline], models=models, predicted_by=predicted_by))
    found: dict[tuple[str, str], str] = {}
    for name in ("models", "scores", "intervals", "comparison"):
        for said in rows(report, name):
            if "CLIP_x" in said.values() and said.get("Type", "all") == "all":
                found |= {(name, title): cell.query for title, cell in said.items() if isinstance(cell, LinkedCount)}
    return found


def test_instances_of_models_lead_to_what_the_model_answered_about() -> None:
    # 1 and 4 were accepted, and people answered about them; it answered about 3 too.
    assert leads({"CLIP": {1, 3, 4}}) == {
        ("models", "Instances"): "study=step-3&model=CLIP&state=accepted",
        ("scores", "Instances"): "study=baseline&question=answered&model=CLIP",
        **{
            (table, count): "study=baseline&question=answered&model=CLIP"
            for table in ("intervals", "comparison")
            for count in ("Instances", "Questions")
        },
    }


def test_a_model_that_answered_some_of_the_questions_about_others_leads_nowhere_there() -> None:
    # People answered about 2 as well, and the model one question about it: the list would show it.
    further = replace(BASELINE.questions[0], id=999, instance=2)
    study = replace(BASELINE, questions=[*BASELINE.questions, further])
    assert leads({"CLIP": {1, 2, 3, 4}}, study) == {("models", "Instances"): "study=step-3&model=CLIP&state=accepted"}
    assert leads({}) == {}


def test_the_answers_of_somebody_lead_to_what_they_are_about() -> None:
    ann = PersonsAnswer("A-ANN", 1, "best_of_n", "candidate-0", "", 2.0, instance=7)
    # Both kinds about the same two instances; of the other annotator only one kind about all.
    others = [replace(ann, question=2, instance=8), replace(ann, annotator="A-BEN", question=2, instance=8)]
    captions = [
        replace(one, kind="image_to_text", choice="caption", question=10 + one.instance) for one in (ann, others[0])
    ]
    more = replace(captions[0], annotator="A-BEN")
    table = annotators_table([ann, *others, *captions, more], KINDS, study="step-3")
    place = {column.title: number for number, column in enumerate(table.columns)}
    found = {(row[0], row[place["Kind"]]): row[place["Answers"]] for row in table.rows}
    queries = {name: cell.query for name, cell in found.items() if isinstance(cell, LinkedCount)}
    assert found == {
        ("A-ANN", "best_of_n"): 2,
        ("A-ANN", "image_to_text"): 2,
        ("A-BEN", "best_of_n"): 1,
        ("A-BEN", "image_to_text"): 1,
    }
    assert queries == {
        ("A-ANN", "best_of_n"): "study=step-3&person=A-ANN",
        ("A-ANN", "image_to_text"): "study=step-3&person=A-ANN",
    }
