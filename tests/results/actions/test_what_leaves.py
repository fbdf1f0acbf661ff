"""Who and what is in the tables that leave, and in which words: people taken out, acceptances undone, programs."""

from pathlib import Path

import pandas as pd
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from annotation.actions.removing.removals import exclude, withdraw
from annotation.models import Annotator, Decision, Removal, Response, Session, Skip
from results.actions.exports import write_export
from results.queries.exports.export_rows import decided_questions, given_responses
from results.queries.instances.accepted_items import accepted_instances
from results.queries.reports.report_rows import project_facts
from results.reports.build import report_of
from studies.models import InstanceImage, Project, Study
from tests.databases import kept
from tests.factories import (
    NOON,
    answer,
    draw_instance,
    make_launched,
    make_project,
    make_study,
    questions,
    sit_down,
)
from tests.people import digest_of
from tests.results.queries.test_report_rows import make_whole_pipeline


def fill() -> str:
    return make_whole_pipeline().slug


filled = kept(fill)


@pytest.fixture
def pipeline(filled: str) -> Project:
    return Project.objects.get(slug=filled)


def table(project: Project, format: str, study: str, folder: Path) -> pd.DataFrame:
    asked = project.studies.get(slug=study)
    path = write_export(study=asked, format=format, folder=folder, report=lambda done, total: None).path
    return pd.read_csv(path, keep_default_na=False)


def annotator(person: str) -> Annotator:
    return Annotator.objects.get(id_digest=digest_of(person))


def take_out(project: Project) -> None:
    """Exclude ben, without whom step 3 has one answer of two to each question; dora, the baseline's, withdraws."""
    exclude(annotator=annotator("ben"), project=project, reason="One button only.", by="tests", now=NOON)
    withdraw(annotator=annotator("dora"), project=project, by="tests", now=NOON)


def test_answers_of_people_who_were_excluded_are_marked_and_of_those_who_withdrew_not_there(
    pipeline: Project, tmp_path: Path
) -> None:
    take_out(pipeline)
    step_3 = table(pipeline, "responses", "best-vase", tmp_path)
    assert len(step_3) == 12
    assert step_3.groupby(["left_out", "counted"]).size().to_dict() == {("", True): 6, ("excluded", False): 6}
    assert len(table(pipeline, "responses", "baseline", tmp_path)) == 0


def test_an_answer_is_counted_in_the_table_exactly_when_it_is_on_every_page(pipeline: Project) -> None:
    take_out(pipeline)
    first, second = Response.objects.filter(annotator=annotator("ann")).order_by("pk")[:2]
    Response.objects.filter(pk=first.pk).update(slot=None)
    Response.objects.filter(pk=second.pk).update(is_current=False)
    for study in pipeline.studies.all():
        names = {person.pk: str(person.pk) for person in Annotator.objects.all()}
        said = sorted((row.worker, row.key, row.label) for row in given_responses(study, names) if row.counted)
        counted = Response.objects.counted_in(study).values_list("annotator_id", "question__instance__key", "choice")
        assert said == sorted((str(person), key, choice) for person, key, choice in counted)


def test_an_answer_that_was_on_its_way_when_somebody_withdrew_does_not_leave(pipeline: Project) -> None:
    Removal.objects.create(project=pipeline, annotator=annotator("ann"), why=Removal.Why.WITHDRAWN, at=NOON)
    study = pipeline.studies.get(slug="best-vase")
    assert {row.worker for row in given_responses(study, {annotator(name).pk: name for name in ("ann", "ben")})} == {
        "ben"
    }


def test_decisions_leave_in_the_words_of_outcomes(pipeline: Project, tmp_path: Path) -> None:
    wrong = Decision.objects.filter(study__slug="baseline")[0]
    Decision.objects.filter(pk=wrong.pk).update(winner="negative_caption", votes={"negative_caption": 1})
    step_3, step_4, baseline = (
        table(pipeline, "decisions", study, tmp_path) for study in ("best-vase", "step-4", "baseline")
    )
    assert step_3.groupby(["outcome", "progress"]).size().to_dict() == {
        ("accepted", "complete"): 5,
        ("rejected", "complete"): 1,
    }
    assert step_4["outcome"].value_counts().to_dict() == {"accepted": 4, "rejected": 1}
    # That people agree does not make them right, and a baseline accepts nothing.
    assert baseline["outcome"].tolist() == ["agreed"] * 8
    assert baseline["winner"].tolist().count("negative_caption") >= 1
    assert set(step_3["wanted"]) == {2}
    assert "state" not in step_3.columns


def test_what_was_drawn_from_an_acceptance_that_is_undone_says_so(pipeline: Project, tmp_path: Path) -> None:
    take_out(pipeline)
    step_3, step_4, baseline = (
        table(pipeline, "decisions", study, tmp_path) for study in ("best-vase", "step-4", "baseline")
    )
    assert step_3.groupby(["outcome", "progress", "answers", "wanted"]).size().to_dict() == {
        ("none yet", "open", 1, 2): 6
    }
    assert step_4.groupby(["outcome", "progress"]).size().to_dict() == {("undone", "complete"): 5}
    assert baseline.groupby(["outcome", "progress", "votes"]).size().to_dict() == {("undone", "unanswered", "{}"): 8}
    assert list(accepted_instances(pipeline.studies.get(slug="step-4"))) == []


def test_the_card_says_what_studies_are_for_and_what_is_not_in_the_data(pipeline: Project, tmp_path: Path) -> None:
    session = Session.objects.get(study__slug="step-4")
    failed = {"option": "original", "image": "0" * 64, "failed_loads": 3, "missing": False}
    # The second was reported instead of answered, and no image failed.
    for question, images in zip(session.study.questions.all()[:2], ([failed], []), strict=True):
        Skip.objects.create(
            study=session.study,
            question=question,
            session=session,
            annotator=session.annotator,
            at=NOON,
            images=images,
            file_missing=False,
        )
    take_out(pipeline)
    call_command("release", "vases", study="step-4", name="v1", format="jsonl", out=tmp_path)
    card = (tmp_path / "step-4-v1" / "README.md").read_text(encoding="utf-8").replace("\\", "")
    assert "People who withdrew from the project vases: 1. People whom researchers excluded: 1." in card
    assert "What the study step-4 accepts is the dataset." in card
    left = "5 instances left the study step-4 because the acceptance behind them was undone."
    assert left in card
    assert "Study best-vase (a filter, which accepts and rejects; best_of_n) asked 6 questions" in card
    assert "Study baseline (a human baseline, which accepts nothing; image_to_text, text_to_image)" in card
    assert "Questions skipped, because their images could not be shown: 1." in card
    protocol = report_of(project_facts(pipeline)).table("protocol")
    assert [column.title for column in protocol.columns][-1] == "Questions skipped"
    assert [row[-1] for row in protocol.rows] == [0, 1, 0]
    assert any("People who withdrew from the project vases: 1." in note for note in protocol.notes)


def play(study: str) -> None:
    """Let a program have given the answers of `study`."""
    Session.objects.filter(study__slug=study).update(provider_study_id="simulation-x")


def simulated_in(study: Study) -> tuple[list[bool | None], list[bool | None], list[bool | None]]:
    names = {person.pk: str(person.pk) for person in Annotator.objects.all()}
    return (
        [row.simulated for row in given_responses(study, names)],
        [row.simulated for row in decided_questions(study)],
        [row.simulated for row in accepted_instances(study)],
    )


def test_what_a_program_answered_is_marked_in_every_table_that_rests_on_it(pipeline: Project) -> None:
    for study in pipeline.studies.all():
        assert not any(value for values in simulated_in(study) for value in values)
    play("best-vase")
    step_3, step_4 = (pipeline.studies.get(slug=study) for study in ("best-vase", "step-4"))
    assert simulated_in(step_3) == ([True] * 12, [True] * 6, [True] * 5)
    # People answered in step 4, about what a program had accepted.
    assert simulated_in(step_4) == ([False] * 5, [False] * 5, [True] * 4)


def test_an_answer_of_a_program_that_does_not_count_marks_no_decision(pipeline: Project) -> None:
    Session.objects.filter(annotator=annotator("ben")).update(provider="replay")
    Response.objects.filter(annotator=annotator("ben")).update(left_out="excluded")
    answers, decisions, instances = simulated_in(pipeline.studies.get(slug="best-vase"))
    assert sorted(map(bool, answers)) == [False] * 6 + [True] * 6
    assert not any(decisions)
    assert not any(instances)


def test_what_another_project_says_of_the_same_pictures_is_in_no_file_and_on_no_page(
    client: Client, researcher: User, tmp_path: Path
) -> None:
    clinic, birds = make_project("clinic"), make_project("birds", members=[researcher])
    theirs, ours = draw_instance(clinic, 1), draw_instance(birds, 1)
    secret = {"source": "an-archive-of-patients", "licence": "not-for-anybody", "generator": "secret-model"}
    InstanceImage.objects.filter(instance=theirs).update(**secret)
    study = make_launched(make_study(birds))
    answer(sit_down(study, "ann"), questions(study)[0], "candidate-1")
    call_command("export", "birds", format="jsonl", out=tmp_path)
    call_command("release", "birds", study=study.slug, name="v1", format="csv", out=tmp_path)
    files = [
        path for path in tmp_path.rglob("*") if path.is_file() and path.suffix in (".jsonl", ".csv", ".json", ".md")
    ]
    assert len(files) >= 7
    texts = [path.read_text(encoding="utf-8") for path in files]
    texts.append(client.get(f"/projects/birds/instances/{ours.key}/").content.decode())
    assert "CC0" in texts[-1]
    assert not [text for text in texts for said in secret.values() if said in text]
