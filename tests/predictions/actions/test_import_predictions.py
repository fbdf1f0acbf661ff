from pathlib import Path
from typing import Any

import pytest

from predictions.actions.import_predictions import ModelName, Summary, import_predictions
from predictions.errors import PredictionsRefused
from predictions.importing import FORMATS
from predictions.models import Model, Prediction
from studies.kinds import ImageFacts, InstanceFacts, get_kind
from studies.models import InstanceImage, Project, Question, Study, StudyState
from tests.factories import NOON, TESTS, make_project, make_study
from tests.predictions.result_files import add_instance, result, write_results
from tests.studies.source_files import json_lines

pytestmark = pytest.mark.django_db
CLIP = ModelName("CLIP", "ViT-B-32", "openai")


@pytest.fixture
def project() -> Project:
    project = make_project("birds")
    for number in (1, 2, 3):
        add_instance(project, number)
    return project


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_results(tmp_path / "BiVLC_CLIP.csv", result(2, "1011"), result(1, "0000"))


def bring_in(project: Project, file: Path, **options: Any) -> Summary:
    format = "scores" if file.name == "scores.jsonl" else "bivlc-results"
    given: dict[str, Any] = {
        "project": project,
        "file": file,
        "format": format,
        "model": CLIP,
        "by": TESTS,
        "now": NOON,
    }
    return import_predictions(**given | options)


def refusal(project: Project, file: Path, **options: Any) -> list[str]:
    before = Prediction.objects.count()
    with pytest.raises(PredictionsRefused) as refused:
        bring_in(project, file, **options)
    assert Prediction.objects.count() == before
    return refused.value.problems


def write_scores(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    file = tmp_path / "scores.jsonl"
    file.write_bytes(json_lines(*({"kind": "image_to_text", "variant": "image", **row} for row in rows)))
    return file


def add_third_caption(project: Project) -> None:
    for instance in project.instances.all():
        instance.captions |= {"third": "A cat in the air"}
        instance.save()


def test_every_row_becomes_four_predictions_with_their_source(project: Project, file: Path) -> None:
    assert bring_in(project, file, dry_run=True).added == 8
    assert not Prediction.objects.exists()
    assert not Model.objects.exists()
    summary = bring_in(project, file)
    assert str(summary) == "2 rows of CLIP ViT-B-32 (openai): 8 predictions added, 0 already there."
    columns = ("kind", "variant", "is_right", "scores", "source_row")
    assert list(Prediction.objects.filter(instance__key="2").values_list(*columns)) == [
        ("image_to_text", "image", True, None, 1),
        ("image_to_text", "negative_image", False, None, 1),
        ("text_to_image", "caption", True, None, 1),
        ("text_to_image", "negative_caption", True, None, 1),
    ]
    assert set(Prediction.objects.values_list("source_file", "created_at")) == {("BiVLC_CLIP.csv", NOON)}
    assert list(Model.objects.values_list("name", "version", "weights")) == [("CLIP", "ViT-B-32", "openai")]


def test_a_rerun_changes_nothing_and_adds_only_what_is_missing(project: Project, file: Path) -> None:
    bring_in(project, file)
    before = list(Prediction.objects.values())
    assert (bring_in(project, file).added, list(Prediction.objects.values())) == (0, before)
    write_results(file, result(2, "1011"), result(1, "0000"), result(3, "1111"))
    summary = bring_in(project, file)
    assert (summary.added, summary.already_there) == (4, 8)
    assert list(Prediction.objects.order_by("id").values())[:8] == before


def test_another_answer_to_the_same_question_is_refused(project: Project, file: Path) -> None:
    bring_in(project, file)
    write_results(file, result(2, "1111"), result(3))
    assert refusal(project, file) == [
        "Record 1: CLIP ViT-B-32 (openai) already has another answer to image_to_text negative_image of 2, "
        "captions bivlc-release-v1.",
        "Import other answers under another version of the model.",
    ]
    assert bring_in(project, file, model=ModelName("CLIP", "ViT-B-32", "laion2b")).added == 8
    assert Model.objects.count() == 2


def test_rows_about_no_instance_refuse_the_file_or_are_left_out(project: Project, tmp_path: Path) -> None:
    file = write_results(tmp_path / "results.csv", result(1), result(8), result(2), result(9))
    problems = refusal(project, file)
    assert [problem.split(":")[0] for problem in problems] == ["Record 2", "Record 4"]
    assert "'A cat on 8 roofs.' and 'A cat under 8 roofs.', type replace, subtype rel" in problems[0]
    assert not Model.objects.exists()
    # Not even then where all are.
    assert refusal(make_project("fish"), file, skip_unknown=True) == [
        "No record is about an instance of the project. Check the project and the file."
    ]
    summary = bring_in(project, file, skip_unknown=True)
    assert (summary.added, summary.left_out) == (8, tuple(problems))
    assert str(summary).endswith("2 rows left out.")
    file.write_text(file.read_text().splitlines()[0] + "\n")
    assert refusal(project, file) == ["results.csv has no records."]


def test_rows_that_join_twice_are_refused_whatever_is_left_out(project: Project, tmp_path: Path) -> None:
    file = write_results(tmp_path / "results.csv", result(1), result(2), result(1))
    for skip_unknown in (False, True):
        problems = refusal(project, file, skip_unknown=skip_unknown)
        assert [problem.split(" are identical")[0] for problem in problems] == [
            "Record 1: The records 1, 3",
            "Record 3: The records 1, 3",
        ]


def test_a_key_and_captions_cannot_answer_for_the_same_instance_twice(project: Project, tmp_path: Path) -> None:
    file = write_results(tmp_path / "results.csv", result(1, key=""), result(2, key="1"))
    assert refusal(project, file)[0] == ("Record 2: It answers the same question (image_to_text image) as record 1.")


def test_twins_are_joined_in_the_order_of_their_import(project: Project, tmp_path: Path) -> None:
    captions = {"caption": "A cat on 2 roofs.", "negative_caption": "A cat under 2 roofs."}
    add_instance(project, 20, original_captions=captions)
    bring_in(project, write_results(tmp_path / "results.csv", result(2, "1111"), result(2, "0000")))
    first, second = (Prediction.objects.filter(instance__key=key) for key in ("2", "20"))
    assert set(first.values_list("is_right", flat=True)) == {True}
    assert set(second.values_list("is_right", flat=True)) == {False}


def test_the_photo_of_a_sugarcrepe_result_tells_twins_apart(project: Project, tmp_path: Path) -> None:
    captions = {"caption": "A cat on 2 roofs.", "negative_caption": "A cat under 2 roofs."}
    add_instance(project, 20, original_captions=captions, reference={"coco": "20.jpg"})
    add_instance(project, 21, original_captions=captions, reference={"coco": "21.jpg"})
    project.instances.filter(key="2").delete()
    row = {name: value for name, value in result(2).items() if "score" not in name}
    file = write_results(tmp_path / "correct.csv", row | {"filename": "21.jpg", "correct": "1"})
    bring_in(project, file, format="sugarcrepe-results")
    assert list(Prediction.objects.values_list("instance__key", "kind", "variant", "is_right")) == [
        ("21", "image_to_text", "image", True)
    ]


def test_scores_are_stored_and_compared_on_a_rerun(project: Project, tmp_path: Path) -> None:
    scores = {"image": 0.1 + 0.2, "negative_image": 0.3}
    row = {"key": "1", "kind": "text_to_image", "variant": "caption", "scores": scores}
    bring_in(project, write_scores(tmp_path, row))
    assert bring_in(project, write_scores(tmp_path, row)).already_there == 1
    prediction = Prediction.objects.get()
    assert (prediction.scores, prediction.is_right) == ({"image": 0.30000000000000004, "negative_image": 0.3}, True)
    assert len(refusal(project, write_scores(tmp_path, row | {"scores": scores | {"image": 0.4}}))) == 2
    # An older version stored no outcome where it did not know the right option.
    Prediction.objects.update(is_right=None)
    assert bring_in(project, write_scores(tmp_path, row)).already_there == 1


def test_scores_are_about_the_captions_as_people_read_them(project: Project, tmp_path: Path) -> None:
    add_instance(project, 4, caption_rule="keep-case-v1")
    row = {"key": "4", "scores": {"caption": 1, "negative_caption": 2}}
    bring_in(project, write_scores(tmp_path, row, row | {"caption_rule": "bivlc-release-v1"}))
    assert list(Prediction.objects.values_list("caption_rule", flat=True)) == ["keep-case-v1", "bivlc-release-v1"]


def test_the_right_option_must_beat_all_others(project: Project, tmp_path: Path) -> None:
    answers: list[tuple[str, str, str, dict[str, float], bool]] = [
        ("1", "image_to_text", "image", {"caption": 0.31, "negative_caption": 0.3}, True),
        ("2", "image_to_text", "image", {"negative_caption": 0.31, "caption": 0.3}, False),
        ("1", "image_to_text", "negative_image", {"caption": -2, "negative_caption": 1}, True),
        ("1", "text_to_image", "caption", {"image": 0.5, "negative_image": 0.5}, False),
        ("1", "text_to_image", "negative_caption", {"image": 0.4, "negative_image": 0.5}, True),
    ]
    names = ("key", "kind", "variant", "scores")
    bring_in(project, write_scores(tmp_path, *(dict(zip(names, each, strict=False)) for each in answers)))
    found = Prediction.objects.order_by("source_row").values_list("is_right", flat=True)
    assert list(found) == [each[-1] for each in answers]


def test_other_options_than_those_of_the_question_are_refused_row_by_row(project: Project, tmp_path: Path) -> None:
    good = {"caption": 0.1, "negative_caption": 0.2}
    file = write_scores(
        tmp_path,
        {"key": "1", "scores": {"caption": 0.1, "zz": 0.0}},
        {"key": "2", "scores": good},
        {"key": "2", "variant": "negative_image", "scores": {"captoin": 0.1, "negative_caption": 0.2}},
        {"key": "3", "variant": "third", "scores": good},
        {"key": "1", "kind": "best_of_n", "variant": "", "scores": {"a": 1, "b": 2}},
    )
    options = "(its options: caption, negative_caption)."
    assert refusal(project, file) == [
        f"Record 1: image_to_text image of 1: the scores lack negative_caption; zz is not an option {options}",
        f"Record 3: image_to_text negative_image of 2: the scores lack caption; captoin is not an option {options}",
        "Record 4: image_to_text third of 3: nothing asks this variant of image_to_text; use one of 'image', "
        "'negative_image'.",
        "Record 5: best_of_n of 1: Instance 1 has 0 images in the role candidate; best_of_n needs 2 to 9.",
    ]


@pytest.mark.parametrize("none", [{}, {"none": 0.5}])
def test_images_that_are_awaited_are_options_and_none_may_be_left_out(
    project: Project, none: dict[str, float], tmp_path: Path
) -> None:
    instance = project.instances.get(key="1")
    for place in range(2):
        InstanceImage.objects.create(instance=instance, role="candidate", position=place, filename=f"{place}.png")
    scores = {"candidate-0": 0.5, "candidate-1": 0.6, **none}
    bring_in(project, write_scores(tmp_path, {"key": "1", "kind": "best_of_n", "variant": "", "scores": scores}))
    assert Prediction.objects.get().is_right is None


def ask_with(captions: list[str], images: list[str]) -> dict[str, Any]:
    ask = {"captions": captions, "images": images}
    return {"parts": [{"kind": "image_to_text", "ask": ask, "instructions": "Choose."}]}


def launch(project: Project, slug: str, captions: list[str], images: list[str]) -> Study:
    """Return a launched study that asks about every instance of the project, whose images are placeholders."""
    study = make_study(project, slug, **ask_with(captions, images))
    study.state, study.launched_at = StudyState.OPEN, NOON
    study.save()
    kind, picture = get_kind("image_to_text"), ImageFacts("0" * 64, 8, 6)
    for instance in project.instances.all():
        facts = InstanceFacts(instance.key, instance.captions, {role: [picture] for role in images})
        for built in kind.questions(facts, study.design.parts[0].ask, seed=""):
            fields = {"variant": built.variant, "content": built.content, "right": built.right, "answers_wanted": 1}
            Question.objects.create(study=study, instance=instance, kind=kind.name, **fields)
    return study


def test_the_options_are_those_of_the_studies_that_ask(project: Project, file: Path, tmp_path: Path) -> None:
    """One study asks with two captions, one with three; a third caption is right for its own image."""
    add_third_caption(project)
    two, three = ["caption", "negative_caption"], ["caption", "negative_caption", "third"]
    launch(project, "two", two, ["image"])
    launch(project, "three", three, ["image", "negative_image", "other_image"])
    scores = {"caption": 1.0, "negative_caption": 2.0, "third": 3.0}
    of_two = {role: scores[role] for role in two}
    rows = [{"key": "1", "scores": scores}, {"key": "2", "scores": of_two}]
    rows += [{"key": "3", "variant": "other_image", "scores": scores}]
    bring_in(project, write_scores(tmp_path, *rows))
    found = Prediction.objects.order_by("source_row").values_list("instance__key", "variant", "is_right")
    assert list(found) == [("1", "image", False), ("2", "image", False), ("3", "other_image", True)]
    lack = "the scores lack third (its options: caption, negative_caption, third)."
    only_three = write_scores(tmp_path, {"key": "1", "variant": "negative_image", "scores": of_two})
    assert refusal(project, only_three) == [f"Record 1: image_to_text negative_image of 1: {lack}"]
    # Outcomes are about the default options: whether a model chose right among two says nothing about three.
    assert refusal(project, file) == [
        f"Record {record}: image_to_text negative_image of {key}: {lack}" for record, key in ((1, 2), (2, 1))
    ]


def test_a_draft_says_what_will_be_asked(project: Project, tmp_path: Path) -> None:
    add_third_caption(project)
    make_study(project, "draft", **ask_with(["caption", "third"], ["image"]))
    bring_in(project, write_scores(tmp_path, {"key": "1", "scores": {"caption": 1.0, "third": 0.5}}))
    assert Prediction.objects.get().is_right is True


def test_the_corrected_row_replaces_a_mismatched_one(project: Project, tmp_path: Path) -> None:
    file = write_scores(tmp_path, {"key": "1", "scores": {"caption": 1.0, "negative_caption": 2.0}})
    bring_in(project, file)
    Prediction.objects.update(problem="the scores lack caption", scores={"zz": 1}, is_right=True)
    assert bring_in(project, file).added == 1
    prediction = Prediction.objects.get()
    assert (prediction.problem, prediction.is_right) == ("", False)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"format": "csv"}, f"The format 'csv' is unknown. Use one of {', '.join(FORMATS)}"),
        ({"model": ModelName(" ")}, "The model has no name. Give the name for tables."),
        ({"model": ModelName("x" * 101)}, "The model's name has 101 characters; at most 100 fit."),
        ({"model": ModelName("x", "1\x00")}, "The model's version '1\\x00' cannot be used. Its character 2 (U+0000)"),
        ({"file": Path("nowhere.csv")}, "nowhere.csv cannot be read (No such file or directory). Check the na"),
        ({"file": Path("/")}, "/ cannot be read (Is a directory). Check the name."),
        ({"format": "sugarcrepe-results"}, "The file has no column correct; it has caption,"),
    ],
    ids=["format", "no name", "long name", "NUL", "no file", "folder", "other form"],
)
def test_what_cannot_be_imported_is_refused_with_a_sentence(
    options: dict[str, Any], sentence: str, project: Project, file: Path
) -> None:
    (problem,) = refusal(project, **{"file": file, **options})
    assert problem.startswith(sentence)


def test_of_many_problems_the_first_hundred_are_shown() -> None:
    shown = str(PredictionsRefused([f"Record {number}: Wrong." for number in range(1, 131)])).splitlines()
    assert shown[-2:] == ["Record 100: Wrong.", "... and 30 more problems."]
