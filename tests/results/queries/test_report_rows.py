"""What is gathered for reports, at the end of BiVLC's pipeline in small."""

from typing import Any
from uuid import uuid4

import pytest

from annotation.actions.deciding import adjudication
from annotation.models import Annotator, Response
from predictions.models import QUESTIONS, Prediction
from results.queries.exports.export_rows import given_predictions
from results.queries.reports.answers import facts_alone
from results.queries.reports.report_rows import in_pipeline_order, project_facts, release_studies
from results.reports.base import Undefined
from results.reports.build import report_of
from studies.models import Project, Study
from tests.annotation.test_pipeline import answer_all, launch_file, make_pipeline_project, make_step_4
from tests.factories import NOON, arrive_at_work, create_draft, launch_study, make_model, make_person
from tests.people import digest_of
from tests.removing import withdraw

pytestmark = pytest.mark.django_db


def make_whole_pipeline() -> Project:
    """Six candidates; step 3 in pairs rejects one, step 4 keeps four of five, the baseline asks about two."""
    project = make_pipeline_project(6)
    step_3 = launch_study(project, instances=6, answers=2)
    for person in ("ann", "ben"):
        answer_all(arrive_at_work(step_3, person), lambda q: "none" if q.instance.key == "vase-5" else "candidate-1")
    answer_all(
        arrive_at_work(make_step_4(project), "cleo"), lambda q: "both" if q.instance.key == "vase-0" else "original"
    )
    baseline = launch_file(
        project,
        {
            "study": "baseline",
            "parts": [{"kind": "image_to_text"}, {"kind": "text_to_image"}],
            "instances": {"from": "step-4", "sample": 2},
            "surveys": {"size": 8},
        },
    )
    answer_all(arrive_at_work(baseline, "dora"), lambda question: question.right)
    project.refresh_from_db()
    return project


def rows(project: Project, table: str) -> list[list[Any]]:
    return [list(row) for row in report_of(project_facts(project)).table(table).rows]


def test_a_study_whose_feeder_is_a_draft_still_is_part_of_the_report() -> None:
    project = make_pipeline_project(1)
    draft = create_draft(project, instances=1)
    study = launch_file(project, {"study": "s4", "kind": "ambiguity", "instances": {"from": "best-vase"}})
    assert (study.fed_by, draft.state) == (draft, "draft")
    assert in_pipeline_order(project) == release_studies([study]) == [study]


def test_the_funnel_the_pair_and_the_scores_of_the_pipeline() -> None:
    project = make_whole_pipeline()
    assert [study.slug for study in in_pipeline_order(project)] == ["best-vase", "step-4", "baseline"]
    totals = [row[:1] + row[4:] for row in rows(project, "funnel") if row[2] == "all"]
    # Asked; unanswered, open, complete; none yet, agreed, conflicting, accepted, rejected.
    assert totals == [
        ["imported", 6, *[None] * 8],
        ["best-vase", 6, 0, 0, 6, 0, None, 0, 5, 1],
        ["step-4", 5, 0, 0, 5, 0, None, 0, 4, 1],
        ["baseline", 2, 0, 0, 2, 0, 2, 0, None, None],
    ]
    assert rows(project, "dataset")[0] == ["all", "all", 4, 16]
    pair, mean = rows(project, "pairs")
    assert (pair[0], pair[2], pair[3], pair[5], pair[7]) == ("best-vase", "places 1 and 2", 1, 6, 1.0)
    assert mean[7] == Undefined("No pair answered 10 questions together.")
    # One person, two instances.
    assert rows(project, "scores")[0] == ["baseline", "Humans", "all", "all", 1, 2, 1, 1, 1, 1, 1, 1, 1]
    # Who withdrew is in no agreement, and no longer counted among the annotators.
    withdraw(project, "ben")
    facts = project_facts(project)
    assert (facts.studies[0].annotators, len(facts.studies[0].answers)) == (1, 6)
    assert "pairs" not in {table.name for table in report_of(facts).tables}


def predict(project: Project, *, name: str, caption_rule: str, wrong: str = "") -> None:
    """Store all four answers of a model about every instance of the project, right but for the variant `wrong`."""
    model = make_model(project, name)
    Prediction.objects.bulk_create(
        Prediction(
            model=model,
            instance=instance,
            kind=kind,
            variant=variant,
            caption_rule=caption_rule,
            is_right=variant != wrong,
            source_file="results.csv",
            source_row=1,
            created_at=NOON,
        )
        for instance in project.instances.all()
        for kind, variant in QUESTIONS.values()
    )


def test_models_stand_beside_people_and_captions_by_another_rule_are_named() -> None:
    project = make_whole_pipeline()
    predict(project, name="CLIP", caption_rule="as-is-v1", wrong="negative_caption")
    predict(project, name="NegCLIP", caption_rule="bivlc-release-v1")
    overall = [row[1:2] + row[4:] for row in rows(project, "scores") if row[2] == "all"]
    assert overall == [
        ["Humans", 1, 2, 1, 1, 1, 1, 1, 1, 1],
        ["CLIP", None, 2, 1, 0, 0, 1, 1, 1, 0],
        ["NegCLIP, captions by bivlc-release-v1", None, 2, 1, 1, 1, 1, 1, 1, 1],
    ]
    assert [row[3] for row in rows(project, "models") if row[1] == "all"] == [4, 4]
    # A study alone has the models on its own two instances of six.
    asked = set(Study.objects.get(slug="baseline").questions.values_list("instance", flat=True))
    alone = facts_alone(Study.objects.get(slug="baseline")).predicted_by
    assert (len(asked), alone["CLIP"], len(project_facts(project).predicted_by["CLIP"])) == (2, asked, 6)


def test_a_model_that_was_asked_one_of_the_four_questions_is_told_apart() -> None:
    project = make_pipeline_project(3)
    predict(project, name="CLIP", caption_rule="as-is-v1")
    Prediction.objects.exclude(kind="image_to_text", variant="image").delete()
    (model,) = project_facts(project).models
    assert (model.outcomes, list(model.captions.values())) == ({}, [True, True, True])
    assert rows(project, "captions")[0][:6] == ["CLIP", "all", "all", 3, 3, 1.0]


def test_mismatched_predictions_are_counted_with_their_problem_and_nowhere_else() -> None:
    project = make_pipeline_project(3)
    predict(project, name="CLIP", caption_rule="as-is-v1")
    study = launch_study(project, instances=3)
    for about, count in (("the scores lack caption", 1), ("zz is not an option", 2)):
        some = Prediction.objects.counted().filter(kind="image_to_text", variant="image")[:count].values("pk")
        Prediction.objects.filter(pk__in=list(some.values_list("pk", flat=True))).update(problem=about)
    assert rows(project, "mismatched") == [["CLIP", "zz is not an option", 2], ["CLIP", "the scores lack caption", 1]]
    assert project_facts(project).models == []
    given = [(row.about, row.is_right) for row in given_predictions(study)]
    assert (given.count(("mismatched", None)), given.count(("declared", True)), len(given)) == (3, 9, 12)


@pytest.mark.parametrize("instances", [2, 12])
def test_as_many_queries_for_many_questions_as_for_few(instances: int, django_assert_num_queries: Any) -> None:
    project = make_pipeline_project(instances)
    answer_all(arrive_at_work(launch_study(project, instances=instances), "ann"), "candidate-0")
    with django_assert_num_queries(25):
        project_facts(project)


def test_an_answer_that_was_asked_for_later_is_told_from_the_first_ones_even_when_those_change() -> None:
    study = launch_study(make_pipeline_project(1), instances=1, answers=2, max_answers=3)
    for person, choice in (("ann", "candidate-0"), ("ben", "candidate-1"), ("cleo", "candidate-1")):
        answer_all(arrive_at_work(study, person), choice)
    # Ann changes her mind when cleo has answered: a new row, later than cleo's, in the slot she always had.
    first = Response.objects.get(annotator__id_digest=digest_of("ann"))
    Response.objects.filter(pk=first.pk).update(is_current=False)
    first.pk, first.version, first.submission_id = None, 2, uuid4()
    first.save()
    (facts,) = project_facts(study.project).studies
    by_person = {each.pk: each.provider_id for each in Annotator.objects.filter(responses__is_current=True)}
    added = {"ben": False, "cleo": True, "ann": False}
    assert {by_person[answer.annotator]: answer.added for answer in facts.answers} == added
    assert facts.parts[0].label_space.options == ["candidate-0", "candidate-1", "candidate-2", "candidate-3", "none"]
    # Cleo was asked because ann and ben differed; without ann her answer is compared with ben's no more than before.
    withdraw(study.project, "ann")
    (facts,) = project_facts(study.project).studies
    assert [answer.added for answer in facts.answers] == [False, True]


def test_both_answers_of_a_pair_are_first_ones_where_more_may_be_added() -> None:
    project = make_pipeline_project(2)
    study = launch_study(project, instances=2, answers=1, max_answers=3, surveys={"size": 2, "double_seats": 1})
    for person in ("ann", "ben"):
        answer_all(arrive_at_work(study, person), "candidate-0")
    (facts,) = project_facts(project).studies
    assert [answer.added for answer in facts.answers] == [False] * 4


def make_baseline(project: Project, **design: Any) -> Study:
    """Launch a baseline of the four questions about two instances, each with two answers."""
    parts = [{"kind": "image_to_text"}, {"kind": "text_to_image"}]
    step_3 = launch_study(project, instances=2)
    answer_all(arrive_at_work(step_3, "feeder"), "candidate-1")
    file = {
        "study": "baseline",
        "parts": parts,
        "instances": {"from": "best-vase", "sample": 2},
        "surveys": {"size": 8},
        "answers": 2,
    }
    return launch_file(project, file | design)


def human_score(project: Project, score: str) -> Any:
    (found,) = [row for row in rows(project, "intervals") if row[1:3] == ["Humans", score]]
    return found[3]


def test_settling_a_tie_changes_no_human_score_and_withdrawing_takes_the_person_out() -> None:
    project = make_pipeline_project(2)
    baseline = make_baseline(project)
    answer_all(arrive_at_work(baseline, "ann"), lambda question: question.right)
    wrong = baseline.questions.filter(kind="image_to_text").first()
    assert wrong is not None
    others = {"caption": "negative_caption", "negative_caption": "caption"}
    answer_all(arrive_at_work(baseline, "ben"), lambda q: others[q.right] if q.pk == wrong.pk else q.right)
    # Ben has one of two groups right.
    assert human_score(project, "Group") == 0.75
    adjudication.settle(question=wrong, choice=wrong.right, by=make_person("rita"), note="", now=NOON)
    assert human_score(project, "Group") == 0.75
    withdraw(project, "ben")
    assert human_score(project, "Group") == 1.0


def test_surveys_that_a_second_set_of_people_answers_are_in_the_table_of_studies() -> None:
    """Of five questions in surveys of two, the first survey is asked twice: two of its questions get two answers."""
    study = launch_study(instances=5, surveys={"size": 2, "double_seats": 1})
    table = report_of(project_facts(study.project)).table("protocol")
    (row,) = [dict(zip([column.title for column in table.columns], cells, strict=True)) for cells in table.rows]
    told = ("Answers per question", "Double surveys", "Questions in double surveys", "At most, if undecided")
    assert [row[title] for title in told] == [1, 1, 2, 1]
    assert table.notes[0].startswith("Double surveys: a second set of people answers them too")
