"""The questions on which people and all models part, counted by hand (tests/results/parting.py)."""

import pytest
from django.db import connection

from predictions.models import Model, Prediction
from results.actions.cached_statistics import compute_now
from results.models import KeptNumbers
from results.queries.instances.human_model_disagreement import (
    Line,
    disagreement_page,
    human_model_disagreements,
    model_correctness,
)
from results.reports.facts import Way
from results.reports.sections.human_model_disagreement import all_models_disagree, disagreement_table, way_of_people
from studies.models import Project, Purpose, Question, Study
from tests.databases import kept
from tests.factories import NOON, make_project
from tests.plans import rows_read
from tests.removing import withdraw
from tests.results.parting import make_parting_project

made = kept(lambda: make_parting_project().slug)


def found(project: Project, study: Study | None = None) -> dict[tuple[str, str], tuple[str, int, int, int]]:
    """Return study and instance -> who is right, the right answers, all answers, the models."""
    keys = dict(project.instances.values_list("pk", "key"))
    parted = human_model_disagreements(project, study)
    return {(one.study, keys[one.instance]): (one.way, one.right, one.answers, one.models) for one in parted}


COUNTED = {
    ("people", "row-1"): ("people", 3, 3, 2),
    ("people", "row-2"): ("people", 2, 3, 1),
    ("people", "row-4"): ("models", 1, 3, 2),
    ("people", "row-8"): ("people", 2, 3, 1),
    ("again", "row-4"): ("models", 0, 1, 2),
}


def test_questions_on_which_people_and_all_models_part(project: Project) -> None:
    assert found(project) == COUNTED
    again = project.studies.get(slug="again")
    assert found(project, again) == {("again", "row-4"): COUNTED["again", "row-4"]}


def test_who_withdrew_says_nothing_any_more(project: Project) -> None:
    """Without ben: 5 is right by ann alone, 4 wrong by two, 8 divided between ann and cleo."""
    withdraw(project, "ben")
    expected = {key: of for key, of in COUNTED.items() if key != ("people", "row-8")}
    expected |= {
        ("people", "row-1"): ("people", 2, 2, 2),
        ("people", "row-2"): ("people", 2, 2, 1),
        ("people", "row-4"): ("models", 0, 2, 2),
        ("people", "row-5"): ("people", 1, 1, 2),
    }
    assert found(project) == expected


def test_a_declared_prediction_of_other_options_is_about_another_question(project: Project) -> None:
    """CLIP declares its answer to row-2: with the options of the question it counts, with others it does not."""
    declared = Prediction.objects.filter(content_hash="", instance__key="row-2")
    study = project.studies.get(slug="people")
    declared.update(scores={"caption": 0.2, "negative_caption": 0.5})
    assert found(project) == COUNTED
    assert len(model_correctness(study)["CLIP"]) == 7
    declared.update(scores={"caption": 0.2, "negative_caption": 0.5, "third": 0.1})
    assert found(project) == {key: of for key, of in COUNTED.items() if key != ("people", "row-2")}
    assert len(model_correctness(study)["CLIP"]) == 6


@pytest.mark.parametrize(
    "fields", [{"problem": "zz is not an option"}, {"caption_rule": "as-is-v1"}], ids=["mismatched", "other captions"]
)
def test_a_declared_prediction_that_was_asked_something_else_speaks_for_no_model(
    project: Project, fields: dict[str, str]
) -> None:
    Prediction.objects.filter(content_hash="").update(**fields)
    assert found(project) == {key: of for key, of in COUNTED.items() if key != ("people", "row-2")}


def test_a_prediction_of_other_options_hides_no_other_model(project: Project) -> None:
    """SigLIP answers row-2 rightly, but among three captions: people are right and all models of the question wrong."""
    clip = Prediction.objects.get(content_hash="", instance__key="row-2")
    siglip = Model.objects.get(name="SigLIP")
    scores = {"caption": 0.9, "negative_caption": 0.5, "third": 0.1}
    Prediction.objects.create(
        model=siglip,
        instance=clip.instance,
        **{name: getattr(clip, name) for name in ("kind", "variant", "caption_rule", "created_at")},
        scores=scores,
        is_right=True,
        source_row=1,
    )
    assert found(project) == COUNTED
    line = lines(project)["people", "row-2"]
    assert [name for choice in line.choices for name, _ in choice.models] == ["CLIP"]


@pytest.mark.parametrize("purpose", [Purpose.PILOT, Purpose.QUALIFICATION])
def test_a_trial_counts_on_its_own_page_alone(project: Project, purpose: Purpose) -> None:
    project.studies.filter(slug="again").update(purpose=purpose)
    assert ("again", "row-4") not in found(project)
    assert found(project, project.studies.get(slug="again")) == {("again", "row-4"): COUNTED["again", "row-4"]}


def test_what_was_computed_goes_before_what_a_file_declares(project: Project) -> None:
    """CLIP declares that it was right about 1, and was wrong when it was asked about the very picture."""
    wrong = Prediction.objects.get(model__name="CLIP", instance__key="row-1")
    wrong.pk, wrong.content_hash, wrong.is_right = None, "", True
    wrong.save()
    assert found(project) == COUNTED


def test_nothing_parts_where_no_model_answered(project: Project) -> None:
    Prediction.objects.all().delete()
    assert found(project) == {}
    assert found(make_project("fish")) == {}


@pytest.mark.parametrize(
    ("right", "answers", "way"), [(0, 0, None), (1, 2, None), (1, 1, "people"), (2, 3, "people"), (1, 3, "models")]
)
def test_people_are_right_when_more_than_half_of_their_answers_are(right: int, answers: int, way: str | None) -> None:
    assert way_of_people(right, answers) == way


@pytest.mark.parametrize(
    ("models", "ways"), [([], []), ([True, False], []), ([False], [Way.PEOPLE]), ([True, True], [Way.MODELS])]
)
def test_all_models_must_be_of_the_other_mind(models: list[bool], ways: list[Way]) -> None:
    assert [way for way in Way if all_models_disagree(way, models)] == ways


def test_the_table_counts_questions_and_instances(project: Project) -> None:
    rows = [tuple(row) for row in disagreement_table(human_model_disagreements(project)).rows]
    # Study, type, subtype; people right: questions, instances; models right: questions, instances.
    assert rows == [
        ("people", "all", "all", 3, 3, 1, 1),
        ("people", "replace", "all", 2, 2, 1, 1),
        ("people", "replace", "obj", 2, 2, 1, 1),
        ("people", "swap", "all", 1, 1, 0, 0),
        ("people", "swap", "obj", 1, 1, 0, 0),
        ("again", "all", "all", 0, 0, 1, 1),
        ("again", "replace", "all", 0, 0, 1, 1),
        ("again", "replace", "obj", 0, 0, 1, 1),
    ]


def test_models_stand_beside_people_on_the_very_same_questions(project: Project) -> None:
    """Not about 7, of which CLIP was shown another picture, and not SigLIP about what it was not asked."""
    keys = {question.pk: question.instance.key for question in Question.objects.select_related("instance")}
    found = {
        study.slug: {
            model: {keys[pk]: right for pk, right in rights.items()}
            for model, rights in model_correctness(study).items()
        }
        for study in project.studies.all()
    }
    assert found["people"] == {
        "CLIP": {"row-4": True} | dict.fromkeys(("row-1", "row-2", "row-3", "row-5", "row-6", "row-8"), False),
        "SigLIP 2": {"row-1": False, "row-3": True, "row-4": True, "row-5": False},
    }
    # The declared answer is about the text and picture of the instance, whichever study asks.
    assert found["again"] == {model: {"row-1": False, "row-4": True} for model in ("CLIP", "SigLIP 2")}


def lines(project: Project) -> dict[tuple[str, str], Line]:
    page = disagreement_page(project, human_model_disagreements(project), 1)
    return {(line.disagreement.study, line.instance.key): line for line in page.object_list}


def test_the_page_tells_what_each_side_said(project: Project) -> None:
    line = lines(project)["people", "row-8"]
    assert [(each.key, each.is_right, each.people, each.models) for each in line.choices] == [
        ("caption", True, 2, []),
        ("negative_caption", False, 1, [("CLIP", 0.5)]),
    ]
    assert [picture.sha256 for picture in line.shown.pictures] == [line.instance.images.get(role="image").image_id]
    assert round(line.share) == 67
    # A file that gives outcomes: the only wrong option was chosen.
    assert lines(project)["people", "row-2"].choices[1].models == [("CLIP", None)]
    # A model that cannot tell stands apart.
    wrong = Prediction.objects.filter(model__name="CLIP", instance__key="row-8", is_right=False)
    wrong.update(scores={"caption": 0.5, "negative_caption": 0.5})
    line = lines(project)["people", "row-8"]
    assert ([each.models for each in line.choices], line.others) == ([[], []], ["CLIP"])


def test_stored_figures_lead_to_the_same_questions_without_reading_others(project: Project) -> None:
    assert human_model_disagreements(project, by_figures=True) == []
    compute_now(page=KeptNumbers.Page.INSTANCES, project=project, now=NOON)
    assert human_model_disagreements(project, by_figures=True) == human_model_disagreements(project)
    again = project.studies.get(slug="again")
    assert human_model_disagreements(project, again, by_figures=True) == human_model_disagreements(project, again)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite does not say how many rows it reads.")
def test_stored_figures_without_a_disagreement_leave_no_answer_to_read(project: Project) -> None:
    assert rows_read(lambda: human_model_disagreements(project))["annotation_response"] > 0
    assert rows_read(lambda: human_model_disagreements(project, by_figures=True))["annotation_response"] == 0
