"""Examples from accepted items: which are trained on, which validate, and which are left out."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from django.core.files.storage import default_storage

from background.models import JobState
from results.actions import training_data
from results.exporting.rows import AcceptedInstance, ExportedImage
from results.exporting.training_examples import example_of
from results.models import Release
from studies.models import Project
from tests.factories import NOON, make_instance, make_launched, make_project, make_study, redesign
from tests.jobs import run_now
from tests.training.site import PLAN
from training.actions.runs import ExamplesFile, request_run
from training.examples import Example
from training.models import TrainingRun
from training.splits import FOR_TRAINING, FOR_VALIDATION

pytestmark = pytest.mark.django_db


def row(key: str, *, split: str = "", caption: str = "", images: int = 1, item: str = "") -> AcceptedInstance:
    """Return an accepted pair whose captions and images are its own."""
    roles = ("image", "negative_image")[:images]
    caption = caption or f"A small {key} stands on the left of a large red table."
    return AcceptedInstance(
        task=key,
        key=key,
        type="swap",
        subtype="obj",
        split=split,
        captions={"caption": caption, "negative_caption": f"A red table stands on the left of a small {key}."},
        original_captions={},
        caption_rule="as-is-v1",
        images=[ExportedImage(role, 0, f"{key}.png", f"{key}-{role}".ljust(64, "0")) for role in roles],
        study="step-4",
        kind="ambiguity",
        decision="accepted",
        rule="chosen-v1",
        winner="",
        settled=False,
        answers=1,
        votes={},
        source_file="vases.csv",
        source_row=1,
        item=item,
    )


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
    run = prepared(make_project(), [row(key, split=split) for key, split in splits.items()], monkeypatch)
    assert (sorted(examples(run, "training")), examples(run, "validation")) == (["ant", "bee"], ["cow", "elk"])
    assert (run.count("training"), run.count("validation"), run.state) == (2, 2, "waiting")


def test_a_tenth_is_held_out_where_no_split_is_for_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    run = prepared(make_project(), [row(f"cat-{number}") for number in range(200)], monkeypatch)
    training, held_out = examples(run, "training"), examples(run, "validation")
    assert len(training) + len(held_out) == 200
    # Three standard deviations around 20 of 200.
    assert 8 <= len(held_out) <= 32
    again = prepared(make_project("birds"), [row(f"cat-{number}") for number in range(200)], monkeypatch)
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
    rows = [row("ant"), row("bee"), row("cow", caption=tested.upper()), row("dog")]
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
        "own": [row("ant"), row("bee", split="test"), row("cow", split="valid")],
        "other": [row("dog"), row("elk", split="train"), row("fox", split="test")],
    }
    for project, name in ((own, "own"), (other, "other")):
        study = make_study(project, f"{name}-study")
        Release.objects.create(project=project, study=study, name=name, made_at=NOON, file="rows", sha256="0" * 64)
    monkeypatch.setattr(training_data, "frozen_rows", lambda release, sort: rows[release.name])
    held_out = {"release own: bee", "release own: cow"}
    items = list(training_data.released_items(own, FOR_TRAINING))
    assert {each.name for each in items} == held_out | {training_data.OTHER_TEST_SET}
    others = [each.sources[0] for each in items if each.name not in held_out]
    assert others == ["instance:birds/dog", "instance:birds/fox"]
    chosen_by = training_data.released_items(own, FOR_TRAINING | FOR_VALIDATION)
    assert [each.name for each in chosen_by if each.name in held_out] == ["release own: bee"]
    # A demo is no test set.
    Project.objects.filter(pk=other.pk).update(is_demo=True)
    assert {each.name for each in training_data.released_items(own, FOR_TRAINING)} == held_out


def test_a_run_that_was_cancelled_meanwhile_leaves_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = []

    def store(run: TrainingRun, part: training_data.WrittenPart) -> ExamplesFile:
        TrainingRun.objects.update(state="cancelled", finished_at=NOON)
        stored.append(keep(run, part))
        return stored[-1]

    keep = training_data._store
    monkeypatch.setattr(training_data, "_store", store)
    assert prepared(make_project(), [row("ant")], monkeypatch).state == "cancelled"
    assert stored
    assert not default_storage.exists(stored[0].file)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([], "There are no accepted items yet. Wait until people accept some."),
        (
            [row("ant", images=0)],
            "Without a stored image or a caption: 1 of 1 accepted item. Import their images first.",
        ),
        ([row("ant", split="test")], "Of a split such as test, which is never trained on: 1 of 1 accepted item."),
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


def test_a_description_is_an_example_with_its_set() -> None:
    images = [ExportedImage("set", place, f"img{place}.png", str(place) * 64) for place in range(10)]
    described: dict[str, Any] = {"captions": {"caption": "The cat looks up."}, "type": "video"}
    found = example_of(
        AcceptedInstance(
            **{name: getattr(row("set-1"), name) for name in AcceptedInstance.__slots__}
            | described
            | {"item": "set-3", "images": [ExportedImage("image", 0, "img3.png", "3" * 64), *reversed(images)]}
        )
    )
    assert found == Example(
        "set-1/set-3", tuple(str(place) * 64 for place in range(10)), ("The cat looks up.",), 3, "video", "obj", True
    )
    assert example_of(row("set-1", item="set-3")) is None
