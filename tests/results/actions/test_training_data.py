"""Examples from accepted items: which are trained on, which validate, and which are left out."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.core.files.storage import default_storage

from background.models import JobState
from results.actions import training_data
from results.actions.training_data import check_trainable
from results.exporting.rows import AcceptedInstance, ExportedImage
from results.exporting.training_examples import example_of
from results.models import Release
from studies.models import Membership, Project
from tests.factories import NOON, make_instance, make_launched, make_member, make_project, make_study, redesign
from tests.jobs import run_now
from tests.training.site import PLAN, accepted_row
from training.actions.runs import ExamplesFile, TrainingData, Wanted, request_run
from training.errors import CannotTrain
from training.examples import Example
from training.models import TrainingRun
from training.splits import FOR_TRAINING, FOR_VALIDATION

pytestmark = pytest.mark.django_db


def prepared(project: Project, rows: Sequence[AcceptedInstance], monkeypatch: pytest.MonkeyPatch) -> TrainingRun:
    """Return a run on these accepted items after its job."""
    monkeypatch.setattr(training_data, "_rows", lambda run: rows)
    run, job = request_run(project=project, wanted=PLAN, by="test", now=NOON)
    run_now(job)
    run.refresh_from_db()
    return run


def examples(run: TrainingRun, part: str) -> list[str]:
    with default_storage.open(run.files[part]["file"]) as file:
        return [json.loads(line)["instance"] for line in file]


def test_splits_decide_what_is_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    splits = {"ant": "", "bee": "train", "cow": "Val", "dog": "test", "elk": "dev", "fox": "test-2"}
    run = prepared(make_project(), [accepted_row(key, split=split) for key, split in splits.items()], monkeypatch)
    assert (sorted(examples(run, "training")), examples(run, "validation")) == (["ant", "bee"], ["cow", "elk"])
    assert (run.count("training"), run.count("validation"), run.state) == (2, 2, "waiting")


def test_a_tenth_is_held_out_where_no_split_is_for_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    run = prepared(make_project(), [accepted_row(f"cat-{number}") for number in range(200)], monkeypatch)
    training, held_out = examples(run, "training"), examples(run, "validation")
    assert len(training) + len(held_out) == 200
    # Three standard deviations around 20 of 200.
    assert 8 <= len(held_out) <= 32
    again = prepared(make_project("birds"), [accepted_row(f"cat-{number}") for number in range(200)], monkeypatch)
    assert examples(again, "validation") == held_out
    assert again.files["training"]["sha256"] == run.files["training"]["sha256"]


def test_what_people_answer_for_evaluation_is_left_out_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project()
    make_instance(project, "bee")
    study = make_launched(make_study(project, "humans"))
    redesign(study, purpose="baseline")
    study.purpose = "baseline"
    study.save()
    tested = "A vase with two handles is full of fresh yellow flowers."
    make_instance(project, "of a test", split="test", captions={"caption": tested})
    rows = [accepted_row("ant"), accepted_row("bee"), accepted_row("cow", caption=tested.upper()), accepted_row("dog")]
    run = prepared(project, rows, monkeypatch)
    assert sorted(examples(run, "training")) == ["ant", "dog"]
    report = run.leaks["training"]
    assert (report["examples"], report["leaking"], report["protected"]) == (4, 2, 2)
    assert {(pair["kind"], pair["example"], pair["protected"]) for pair in report["pairs"]} == {
        ("same source", "bee", "vases/bee"),
        ("same caption", "cow", "vases/of a test"),
    }


def test_released_test_sets_of_all_projects_are_protected(monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = make_project(), make_project("birds")
    rows = {
        "own": [accepted_row("ant"), accepted_row("bee", split="test"), accepted_row("cow", split="valid")],
        "other": [accepted_row("dog"), accepted_row("elk", split="train"), accepted_row("fox", split="test")],
    }
    for project, name in ((own, "own"), (other, "other")):
        study = make_study(project, f"{name}-study")
        Release.objects.create(project=project, study=study, name=name, made_at=NOON, file="rows", sha256="0" * 64)
    monkeypatch.setattr(training_data, "frozen_rows", lambda release, sort: rows[release.name])
    held_out = {"release own: bee", "release own: cow"}
    items = list(training_data.released_items(own, FOR_TRAINING))
    others_names = {
        training_data.OTHER_TEST_SET,
        "the release other of birds, which has no splits and so is a test set",
    }
    assert {each.name for each in items} == held_out | others_names
    others = [each.sources[0] for each in items if each.name not in held_out]
    assert others == ["instance:birds/dog", "instance:birds/fox"]
    chosen_by = training_data.released_items(own, FOR_TRAINING | FOR_VALIDATION)
    assert [each.name for each in chosen_by if each.name in held_out] == ["release own: bee"]
    # A demo is no test set.
    Project.objects.filter(pk=other.pk).update(is_demo=True)
    assert {each.name for each in training_data.released_items(own, FOR_TRAINING)} == held_out


def test_a_release_without_splits_of_another_project_is_named_to_who_may_see_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, other = make_project(), make_project("birds")
    ann = make_member(own, "editor")
    rows = [accepted_row("ant"), accepted_row("bee")]
    Release.objects.create(
        project=other, study=make_study(other, "made"), name="v1.0", made_at=NOON, file="rows", sha256="0" * 64
    )
    monkeypatch.setattr(training_data, "frozen_rows", lambda release, sort: rows)
    run = prepared(own, rows, monkeypatch)
    begun = (
        "There is nothing to train on. Left out, because they would leak what people answer for evaluation or a test "
        "set: 2 of 2 accepted items. They are in "
    )
    ended = (
        ". A release without splits counts as a test set in every project but its own: train in the project of that "
        "release, or on other instances."
    )
    assert run.error == f"{begun}a release of another project{ended}"
    Membership.objects.create(project=other, user=ann, role="viewer")
    TrainingRun.objects.all().delete()
    assert prepared(own, rows, monkeypatch).error == f"{begun}the release v1.0 of birds{ended}"


def test_a_project_whose_dataset_was_taken_back_meanwhile() -> None:
    run, job = request_run(project=make_project(), wanted=PLAN, by="test", now=NOON)
    run_now(job)
    run.refresh_from_db()
    assert run.error == (
        "vases has no accepted items: no launched study defines its dataset. Launch a study that accepts instances, or "
        "choose the studies of the dataset on the project's page, or train on a release."
    )


def test_a_run_that_was_cancelled_meanwhile_leaves_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = []

    def store(run: TrainingRun, part: training_data.WrittenPart) -> ExamplesFile:
        TrainingRun.objects.update(state="cancelled", finished_at=NOON)
        stored.append(keep(run, part))
        return stored[-1]

    keep = training_data._store
    monkeypatch.setattr(training_data, "_store", store)
    assert prepared(make_project(), [accepted_row("ant")], monkeypatch).state == "cancelled"
    assert stored
    assert not default_storage.exists(stored[0].file)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([], "There are no accepted items yet. Wait until people accept some."),
        (
            [accepted_row("ant", images=0)],
            "Without a stored image or a caption: 1 of 1 accepted item. Import their images first.",
        ),
        (
            [accepted_row("ant", split="test"), accepted_row("bee", split="val")],
            "Of a split for validation or tests, which is never trained on: 2 of 2 accepted items.",
        ),
    ],
)
def test_nothing_to_train_on_fails_with_a_sentence(
    rows: list[AcceptedInstance], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = prepared(make_project(), rows, monkeypatch)
    assert run.state == "failed"
    assert run.error.startswith(f"There is nothing to train on. {why}")
    assert run.job is not None
    assert run.job.state == JobState.FAILED


@pytest.mark.parametrize(
    ("recipe", "why"),
    [
        ("trohn-img", "Without a stored image or a caption: 1 of 2 accepted items."),
        ("detector-image", "Without a stored image or a caption: 1 of 2 accepted items."),
        ("imagecode-temporal", "Without a stored image or a caption: 1 of 2 accepted items."),
    ],
)
def test_data_without_the_images_of_a_recipe_is_refused_before_a_job_starts(
    recipe: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project()
    rows = [accepted_row("ant", images=0), accepted_row("bee", images=1)]
    monkeypatch.setattr(training_data, "dataset_studies", lambda project: [None])
    monkeypatch.setattr(training_data, "instances_of_studies", lambda studies: iter(rows))
    wanted = Wanted(name="small-clip", recipe=recipe, base="open_clip:ViT-B-32/openai")
    with pytest.raises(CannotTrain) as refused:
        check_trainable(project, wanted)
    assert str(refused.value) == f"There is nothing to train on. {why} Import their images first."
    check_trainable(project, replace(wanted, recipe="negclip"))
    # Of so many items, the job looks at the rest.
    monkeypatch.setattr(training_data, "LOOKED_AT", 2)
    check_trainable(project, wanted)
    study = make_launched(make_study(project, "kept"))
    release = Release.objects.create(project=project, study=study, name="v1", made_at=NOON)
    monkeypatch.setattr(training_data, "frozen_rows", lambda release, sort: iter(rows[:1]))
    with pytest.raises(CannotTrain, match=r"1 of 1 accepted item. Import their images, make a new release, and train"):
        check_trainable(project, replace(wanted, data=TrainingData(release_id=release.pk)))


def test_a_description_is_an_example_with_its_set() -> None:
    images = [ExportedImage("set", place, f"img{place}.png", str(place) * 64) for place in range(10)]
    described: dict[str, Any] = {"captions": {"caption": "The cat looks up."}, "type": "video"}
    found = example_of(
        AcceptedInstance(
            **{name: getattr(accepted_row("set-1"), name) for name in AcceptedInstance.__slots__}
            | described
            | {"item": "set-3", "images": [ExportedImage("image", 0, "img3.png", "3" * 64), *reversed(images)]}
        )
    )
    assert found == Example(
        "set-1/set-3", tuple(str(place) * 64 for place in range(10)), ("The cat looks up.",), 3, "video", "obj", True
    )
    assert example_of(accepted_row("set-1", item="set-3")) is None
