"""The loop: seeds, checkpoints, memory, early stop, and what cannot be trained."""

import json
import math
import os
import re
import resource
import signal
import socket
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from predictions.feeder import NoPicture
from predictions.scorers import OutOfMemory, scorer_of
from predictions.scorers.torch_models import digest_of_weights
from tests.models.test_hf import save_clip, save_siglip
from tests.models.test_open_clip import save_open_clip
from tests.models.training.conftest import drawn
from training.__main__ import main
from training.checkpoints import BEST, CHECKPOINT, read_file, write_file, write_folder
from training.examples import Example, ExampleFile, write_examples
from training.loop import CannotTrain, Plan, Progress, Result, TrainingCancelled, train
from training.recipes.negclip import NearestImages
from training.steps import Stepper
from training.towers import OpenClipTowers

# Two epochs of two steps.
OPTIONS = {"batch": 4, "epochs": 2, "learning_rate": 1e-3, "warmup_steps": 1, "nearest": 1, "precision": "float32"}
# Adam divides gradients by their size, which hides it; not with so large an epsilon.
LINEAR = {"epsilon": 1.0, "learning_rate": 0.1, "beta1": 0.1, "beta2": 0.1}
EXAMPLES, PICTURES = drawn(2)
SOME = EXAMPLES[:8]


def plan(base: str, **options: Any) -> Plan:
    return Plan("negclip", base, "tiny", OPTIONS | options, device="cpu", checkpoint_steps=1)


def run(plan: Plan, folder: Path, validation: int = 0, **given: Any) -> tuple[Result, list[Progress]]:
    """Train, and return the result with the reports of steps."""
    reports: list[Progress] = []
    result = train(plan, SOME, EXAMPLES[:validation], PICTURES.__getitem__, folder, reports.append, **given)
    return result, [each for each in reports if not each.phase]


TAKEN: list[int] = []


@pytest.fixture(autouse=True)
def _checkpoints_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of a tiny model take less time than ten times the writing of its checkpoint."""
    monkeypatch.setattr("training.loop.SHARE_OF_CHECKPOINTS", math.inf)


@pytest.fixture(autouse=True)
def _count_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    step = Stepper.step

    def count(self: Stepper, number: int, loaded: Any) -> Any:
        TAKEN.append(number)
        return step(self, number, loaded)

    monkeypatch.setattr(Stepper, "step", count)


def after(steps: int, act: Callable[[], bool]) -> Callable[[], bool]:
    """Return an `is_cancelled` that acts once so many steps were taken from now on."""
    begun = len(TAKEN)
    return lambda: len(TAKEN) >= begun + steps and act()


def assert_same_weights(one: Result, other: Result, base: str) -> None:
    first, second, start = (
        torch.load(path, weights_only=True)["state_dict"] for path in (one.path, other.path, base.partition("/")[2])
    )
    assert max(float((first[name] - second[name]).abs().max()) for name in first) < 1e-5
    for name in ("logit_scale", "visual.conv1.weight", "text_projection"):
        moved, apart = (float((first[name] - than[name]).abs().max()) for than in (start, second))
        assert apart < 1e-3 * moved


def test_the_same_seed_gives_the_same_weights(base: str, tmp_path: Path) -> None:
    one, _ = run(plan(base), tmp_path / "one")
    again, _ = run(plan(base), tmp_path / "again")
    other, _ = run(replace(plan(base), seed=1), tmp_path / "other")
    assert one.weights == again.weights
    assert [point.losses for point in one.curve] == [point.losses for point in again.curve]
    assert one.weights != other.weights


def in_child(work: Callable[[], Any]) -> int:
    """Do something in a process of its own; return its id."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        # Whatever it is, the test is the parent's.
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
            os._exit(1)
    return child


def exit_code_of(child: int) -> int:
    """Wait for a process to end; return its exit code, or the number of the signal that ended it, negative."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_it_goes_on_after_kill_9_and_ends_with_the_same_weights(base: str, folder: Path, tmp_path: Path) -> None:
    whole, _ = run(plan(base), tmp_path / "whole", validation=8)
    seldom = replace(plan(base), checkpoint_steps=2)

    def kill() -> bool:
        os.kill(os.getpid(), signal.SIGKILL)
        return True

    child = in_child(lambda: run(seldom, folder, validation=8, is_cancelled=after(3, kill)))
    assert exit_code_of(child) == -signal.SIGKILL
    resumed, reports = run(seldom, folder, validation=8)
    # Of three steps one is lost.
    assert reports[0].sentences == ["The training goes on from step 2."]
    assert (resumed.weights, resumed.score) == (whole.weights, whole.score)
    assert [(point.step, point.losses, point.score) for point in resumed.curve] == [
        (point.step, point.losses, point.score) for point in whole.curve
    ]
    # What only a training that goes on needs is gone.
    assert sorted(path.name for path in folder.iterdir()) == ["result.json", "tiny.pt"]


def test_examples_of_a_file_train_as_those_in_memory_do(base: str, tmp_path: Path) -> None:
    write_examples(SOME, tmp_path / "examples.jsonl")
    one, _ = run(plan(base, epochs=1), tmp_path / "one")
    file = ExampleFile(tmp_path / "examples.jsonl")
    # The folder has it already: for a file of the same examples it is the same training.
    again = train(plan(base, epochs=1), file, [], PICTURES.__getitem__, tmp_path / "one", lambda progress: None)
    other = train(plan(base, epochs=1), file, [], PICTURES.__getitem__, tmp_path / "two", lambda progress: None)
    assert one.weights == again.weights == other.weights


def test_products_of_matrices_in_16_bits(base: str, folder: Path, tmp_path: Path) -> None:
    whole, _ = run(plan(base), tmp_path / "whole")
    half, _ = run(plan(base, precision="bfloat16"), folder)
    assert half.sentences == []
    for one, other in zip(whole.curve, half.curve, strict=True):
        assert other.losses == pytest.approx(one.losses, rel=0.05)
        assert other.losses != one.losses
    assert {numbers.dtype for numbers in torch.load(half.path, weights_only=True)["state_dict"].values()} == {
        torch.float32
    }
    told, _ = run(plan(base, precision="float16"), tmp_path / "told")
    assert (told.weights, told.sentences) == (whole.weights, ["The CPU computes in float32; float16 is for GPUs."])


def test_a_best_model_from_after_the_last_checkpoint_stays_the_best(base: str, folder: Path, tmp_path: Path) -> None:
    seldom = replace(plan(base, epochs=3, patience=2), checkpoint_steps=1000)
    whole, _ = run(seldom, tmp_path / "whole", validation=8)

    def fail() -> bool:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        run(seldom, folder, validation=8, is_cancelled=after(3, fail))
    assert [path.name for path in folder.iterdir()] == [BEST]
    with pytest.raises(CannotTrain, match="has another training"):
        run(plan(base), folder, validation=8)
    again, reports = run(seldom, folder, validation=8)
    assert reports[0].best is not None
    assert (again.weights, again.best_step, again.curve) == (whole.weights, whole.best_step, whole.curve)


FOUND = "finding nearest images, 8 of 8 images"


class CancelIn:
    """A `report` and an `is_cancelled` that cancel a training while it does something between steps."""

    def __init__(self, phase: str) -> None:
        self.phase, self.seen = phase, list[str]()

    def report(self, progress: Progress) -> None:
        self.seen.append(progress.phase)

    def is_cancelled(self) -> bool:
        return any(phase.startswith(self.phase) for phase in self.seen)


def test_a_training_is_cancelled_while_it_searches_the_nearest_images(
    base: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.loop.REPORT_SECONDS", 0)
    monkeypatch.setattr("training.batches.usual_batch", lambda device: 3)
    for phase, seen in (
        ("embedding", ["embedding images, 3 of 8 images"]),
        ("finding", [*(f"embedding images, {done} of 8 images" for done in (3, 6, 8)), FOUND]),
    ):
        cancel = CancelIn(phase)
        with pytest.raises(TrainingCancelled, match="cancelled after step 0"):
            train(plan(base), SOME, [], PICTURES.__getitem__, folder, cancel.report, cancel.is_cancelled)
        assert cancel.seen == seen
    assert not folder.exists()


def test_a_training_that_is_cancelled_while_it_validates_validates_when_it_goes_on(
    base: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.loop.REPORT_SECONDS", 0)
    monkeypatch.setattr("training.loop.usual_batch", lambda device: 3)
    seldom = replace(plan(base), checkpoint_steps=1000)
    whole, _ = run(seldom, tmp_path / "whole", validation=8)
    cancel = CancelIn("validating")
    given = (seldom, SOME, EXAMPLES[:8], PICTURES.__getitem__, folder)
    with pytest.raises(TrainingCancelled, match="cancelled after step 2"):
        train(*given, cancel.report, cancel.is_cancelled)
    assert cancel.seen[-1] == "validating, 3 of 8 examples"
    resumed, _ = run(seldom, folder, validation=8)
    assert (resumed.weights, resumed.score, resumed.curve) == (whole.weights, whole.score, whole.curve)


def test_a_slow_training_has_checkpoints_by_time(base: str, folder: Path) -> None:
    for minutes, step in ((60, None), (0, 3)):
        seldom = replace(plan(base), checkpoint_steps=1000, checkpoint_minutes=minutes)

        def fail() -> bool:
            raise ConnectionError

        with pytest.raises(ConnectionError):
            run(seldom, folder, validation=8, is_cancelled=after(3, fail))
        kept = read_file(folder / CHECKPOINT)
        assert (None if kept is None else kept["state"]["step"]) == step


@pytest.mark.parametrize(
    ("steps", "minutes", "expected"),
    [
        # The first is due at once; 10 seconds after it, three steps have passed.
        (1000, 0, [1, 4, 7]),
        (1, 60, [1, 4, 7]),
        (2, 60, [2, 5, 8]),
        (3, 60, [3, 6]),
        (4, 60, [4, 8]),
        (1000, 60, []),
    ],
)
def test_checkpoints_take_a_tenth_of_the_time_at_most(
    steps: int, minutes: int, expected: list[int], base: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing one takes a second here by the clock, a step four, and nothing else takes time."""
    monkeypatch.setattr("training.loop.SHARE_OF_CHECKPOINTS", 0.1)
    clock, written = [0.0], list[int]()
    monkeypatch.setattr("training.loop.monotonic", lambda: clock[0])

    def write(path: Path, content: Any) -> None:
        clock[0] += 1
        written.append(content["state"]["step"])

    def pass_time() -> bool:
        clock[0] += 4
        return False

    monkeypatch.setattr("training.loop.write_file", write)
    often = replace(plan(base, epochs=4, nearest=0), checkpoint_steps=steps, checkpoint_minutes=minutes)
    run(often, folder, is_cancelled=pass_time)
    assert written == expected


def test_a_base_that_changed_under_its_name_is_refused(tmp_path: Path) -> None:
    file = save_open_clip(tmp_path / "base")
    base = f"open_clip:tiny-test/{file}"
    before = scorer_of(base).identity.weights
    folder = tmp_path / "trained"
    with pytest.raises(TrainingCancelled):
        run(plan(base), folder, is_cancelled=after(1, lambda: True))
    saved = torch.load(file, weights_only=True)
    halved = {name: numbers / 2 for name, numbers in saved["state_dict"].items()}
    torch.save(saved | {"state_dict": halved}, file)
    after_all = scorer_of(base).identity.weights
    with pytest.raises(CannotTrain) as refused:
        run(plan(base), folder)
    assert str(refused.value) == (
        f"The base model {base} is no longer what this training began with: its weights were {before[:12]}, and are "
        f"{after_all[:12]}. Put the earlier weights back and resume, or train from the new ones under another name."
    )
    torch.save(saved, file)
    assert run(plan(base), folder)[0].base_weights == before


def test_a_checkpoint_of_an_earlier_version_does_not_tell_the_weights_of_its_base(base: str, folder: Path) -> None:
    with pytest.raises(TrainingCancelled):
        run(plan(base), folder, is_cancelled=after(1, lambda: True))
    kept = read_file(folder / CHECKPOINT)
    assert kept is not None
    del kept["identity"]["base weights"], kept["state"]["validated"]
    write_file(folder / CHECKPOINT, kept)
    assert run(plan(base), folder)[1][0].sentences == ["The training goes on from step 1."]


def test_a_training_shorter_than_its_warm_up_says_so_before_the_first_step(base: str, folder: Path) -> None:
    """Four steps of sixteen: a quarter of the rate."""
    result, reports = run(plan(base, warmup_steps=16, nearest=0), folder)
    assert (reports[0].step, reports[0].sentences) == (0, result.sentences)
    assert result.sentences == [
        "This training has 4 steps, fewer than the 16 of warmup_steps: its highest learning rate is 0.00025, and not "
        "0.001, as in OpenCLIP. Choose fewer warmup_steps, or more epochs."
    ]


def test_a_cancelled_training_loses_no_step(base: str, folder: Path, tmp_path: Path) -> None:
    seldom = replace(plan(base), checkpoint_steps=1000)
    whole, _ = run(seldom, tmp_path / "whole")
    with pytest.raises(TrainingCancelled, match="cancelled after step 3"):
        run(seldom, folder, is_cancelled=after(3, lambda: True))
    assert run(seldom, folder)[0].weights == whole.weights


def test_the_folder_of_another_training_is_refused(base: str, folder: Path) -> None:
    with pytest.raises(TrainingCancelled):
        run(plan(base), folder, is_cancelled=after(1, lambda: True))
    with pytest.raises(CannotTrain, match=r"has another training \(options differ\)\. Choose another folder"):
        run(plan(base, batch=2), folder)
    run(plan(base), folder)
    with pytest.raises(CannotTrain, match=r"has another training \(seed differ\)"):
        run(replace(plan(base), seed=1), folder)


# As torch raises them: on a GPU; on a CPU its allocator on Linux and on Windows, C++, oneDNN, and Python.
SHORT_MEMORY = (
    torch.cuda.OutOfMemoryError(),
    RuntimeError(
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
        "allocate 6576668672 bytes. Error code 12 (Cannot allocate memory)"
    ),
    RuntimeError(
        "[enforce fail at alloc_cpu.cpp:80] data. DefaultCPUAllocator: not enough memory: you tried to allocate "
        "6576668672 bytes."
    ),
    RuntimeError("std::bad_alloc"),
    MemoryError("std::bad_alloc"),
    RuntimeError("could not create a primitive"),
    RuntimeError("could not create a memory object"),
    MemoryError(),
)


@pytest.mark.parametrize("error", SHORT_MEMORY, ids=lambda error: str(error)[-30:])
def test_a_batch_that_does_not_fit_is_halved_with_the_same_loss(
    error: Exception, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linear = plan(base, **LINEAR)
    whole, _ = run(linear, tmp_path / "whole", validation=8)
    embed, seen = OpenClipTowers.embed_images, []

    def short_of_memory(self: OpenClipTowers, pixels: Any) -> Any:
        seen.append(len(pixels))
        if len(pixels) > 2:
            raise error
        return embed(self, pixels)

    monkeypatch.setattr(OpenClipTowers, "embed_images", short_of_memory)
    halved, reports = run(linear, tmp_path / "halved", validation=8)
    assert halved.sentences == [
        "A batch of 4 did not fit into the memory of the device; it is trained as 2 x 2, with the same loss.",
        "A batch of 4 did not fit into the memory of the device; it is trained as 4 x 1, with the same loss.",
    ]
    assert (reports[0].batch, reports[0].parts, reports[0].sentences) == (4, 4, halved.sentences)
    for one, other in zip(whole.curve, halved.curve, strict=True):
        assert other.losses == pytest.approx(one.losses, rel=1e-4)
        assert other.score == one.score
    monkeypatch.undo()
    assert_same_weights(whole, halved, base)


def test_a_device_too_small_for_one_image(base: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pebibyte fits into no address space, so torch's own error is raised."""
    monkeypatch.setattr(OpenClipTowers, "embed_images", lambda self, pixels: torch.empty(2**50))
    with pytest.raises(CannotTrain, match="too small for a single image or text"):
        run(plan(base, nearest=0), folder)


@pytest.mark.parametrize("error", SHORT_MEMORY, ids=lambda error: str(error)[-30:])
@pytest.mark.parametrize("where", ["open_clip.create_model_and_transforms", "torch.nn.Module.to"])
def test_a_base_model_that_does_not_fit(
    where: str, error: Exception, base: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While its weights are read, and while they are moved to the device."""

    def short_of_memory(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(where, short_of_memory)
    with pytest.raises(CannotTrain, match=r"too small to load open_clip:tiny-test/.*\. Use a larger device"):
        run(plan(base), folder)


def test_an_operation_that_the_device_cannot_do_is_no_lack_of_memory(
    base: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "could not create a primitive descriptor for a matmul primitive"

    def refuse(self: OpenClipTowers, pixels: Any) -> Any:
        raise RuntimeError(sentence)

    monkeypatch.setattr(OpenClipTowers, "embed_images", refuse)
    with pytest.raises(RuntimeError, match=sentence):
        run(plan(base, nearest=0), folder)


def test_a_loss_that_is_no_number_stops_and_keeps_the_last_checkpoint(
    base: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed, calls = OpenClipTowers.embed_texts, iter(range(2))

    def broken(self: OpenClipTowers, tokens: Any) -> Any:
        return embed(self, tokens) * (1 if next(calls, None) is not None else torch.nan)

    monkeypatch.setattr(OpenClipTowers, "embed_texts", broken)
    sentence = (
        r"The loss of step 3 is not a number \(contrastive nan, loss nan\)\. Train again with a lower learning_rate "
        r"than [0-9.e-]+\. The last checkpoint stays\."
    )
    with pytest.raises(CannotTrain, match=sentence):
        run(plan(base), folder)
    kept = read_file(folder / CHECKPOINT)
    assert kept is not None
    assert kept["state"]["step"] == 2
    assert all(bool(torch.isfinite(numbers).all()) for numbers in kept["modules"]["towers"].values())


def test_weights_that_are_no_numbers_are_never_saved(base: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As gradients that overflow leave them, after a loss that is a number."""

    def overflow(self: NearestImages) -> None:
        self.towers.model.text_projection.data[0, 0] = math.inf

    monkeypatch.setattr(NearestImages, "after_step", overflow)
    sentence = (
        r"After step 1 weights of the model are not numbers, though the loss still was one\. Train again with a lower "
        r"learning_rate than 0\.001\.$"
    )
    # As a checkpoint after the first of two steps, and as the model after the only one.
    for batch, checkpoints in ((4, 1), (8, 1000)):
        with pytest.raises(CannotTrain, match=sentence):
            run(replace(plan(base, batch=batch, epochs=1), checkpoint_steps=checkpoints), folder)
        assert not list(folder.glob("*"))
    # Nor as the best model so far, whose score is no worse than none.
    with pytest.raises(CannotTrain, match="After step 1 weights of the model are not numbers"):
        run(plan(base, batch=8, epochs=2), folder, validation=4)
    assert not list(folder.glob("*"))


@pytest.mark.parametrize("error", SHORT_MEMORY, ids=lambda error: str(error)[-30:])
def test_a_validation_that_does_not_fit_is_a_lack_of_memory(
    error: Exception, base: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short_of_memory(*_: Any) -> Any:
        raise error

    monkeypatch.setattr("training.steps.Stepper.outcomes", short_of_memory)
    with pytest.raises(OutOfMemory):
        run(plan(base, batch=8, epochs=1), folder, validation=4)


def test_kill_9_while_a_checkpoint_is_written_leaves_the_one_before(
    base: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = run(plan(base), tmp_path / "whole")
    save, calls = torch.save, iter(range(2))

    def save_half(content: Any, stream: Any) -> None:
        if next(calls, None) is not None:
            save(content, stream)
            return
        stream.write(b"PK\x03\x04 half of the third one")
        stream.flush()
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr("torch.save", save_half)
    child = in_child(lambda: run(plan(base), folder))
    assert exit_code_of(child) == -signal.SIGKILL
    assert sorted(path.name for path in folder.iterdir()) == [CHECKPOINT, f"{CHECKPOINT}.part"]
    monkeypatch.setattr("torch.save", save)
    # It writes no further checkpoint, over the part of one.
    resumed, reports = run(replace(plan(base), checkpoint_steps=1000), folder)
    assert reports[0].sentences == ["The training goes on from step 2."]
    assert resumed.weights == whole.weights
    assert sorted(path.name for path in folder.iterdir()) == ["result.json", "tiny.pt"]


@pytest.mark.parametrize(("examples", "counted"), [(1, "1 example"), (4, "4 examples"), (5, None), (0, None)])
def test_a_tiny_validation_set_is_said(examples: int, counted: str | None, base: str, folder: Path) -> None:
    result, reports = run(plan(base, epochs=1, nearest=0), folder, validation=examples)
    sentences = [
        f"The validation set has only {counted}, so its score says little, also about which model is the best. Use "
        "more data, or a larger split for validation."
    ]
    assert result.sentences == reports[0].sentences == (sentences if counted else [])


@contextmanager
def disk_of(size: int) -> Iterator[None]:
    """Let no file grow beyond so many bytes."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def test_a_full_disk_leaves_the_last_checkpoint(base: str, folder: Path, tmp_path: Path) -> None:
    whole, _ = run(plan(base), tmp_path / "whole")
    with pytest.raises(TrainingCancelled):
        run(plan(base), folder, is_cancelled=after(2, lambda: True))
    with disk_of(100_000), pytest.raises(CannotTrain, match=r"checkpoint\.pt cannot be written to .* Free space there"):
        run(plan(base), folder)
    assert [path.name for path in folder.iterdir()] == [CHECKPOINT]
    assert run(plan(base), folder)[0].weights == whole.weights


def test_a_full_disk_has_no_part_of_a_model_of_transformers(tmp_path: Path) -> None:
    path = tmp_path / "trained" / "clip"

    def write(folder: Path) -> None:
        save_clip(folder)

    with disk_of(10_000), pytest.raises(CannotTrain, match=r"clip cannot be written to .*\(File too large\)\. Free"):
        write_folder(path, write)
    assert not list(path.parent.iterdir())


def test_a_damaged_checkpoint(base: str, folder: Path) -> None:
    folder.mkdir()
    (folder / CHECKPOINT).write_bytes(b"PK\x03\x04 half of it")
    with pytest.raises(CannotTrain, match=r"checkpoint\.pt is damaged\. Delete it"):
        run(plan(base), folder)


def test_a_damaged_result(base: str, folder: Path) -> None:
    for written in ("", "[]", '{"identity": {}, "result": {"curve": []}}'):
        folder.mkdir(exist_ok=True)
        (folder / "result.json").write_text(written, encoding="utf-8")
        with pytest.raises(CannotTrain, match=r"result\.json is damaged\. Delete it to train again"):
            run(plan(base), folder)


def test_a_disk_that_refuses_is_not_full(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CannotTrain, match=r"a\.pt cannot be written to .*Not a directory\)\. Let the process write"):
        write_file(tmp_path / "file" / "deeper" / "a.pt", {"numbers": torch.ones(3)})


def test_an_error_while_a_file_is_written_leaves_the_old_one(tmp_path: Path) -> None:
    write_file(tmp_path / "a.pt", {"numbers": torch.ones(3)})
    with disk_of(100), pytest.raises(CannotTrain, match="File too large"):
        write_file(tmp_path / "a.pt", {"numbers": torch.zeros(1000)})
    kept = read_file(tmp_path / "a.pt")
    assert kept is not None
    assert kept["numbers"].tolist() == [1, 1, 1]
    assert len(list(tmp_path.iterdir())) == 1


def test_it_stops_when_the_score_has_not_risen_and_returns_the_best_model(
    base: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scores of the epochs are given: 50, 75, 75 and 25 %."""
    rights = iter([[True, False] * 4, [True] * 6 + [False] * 2, [True] * 6 + [False] * 2, [True] * 2 + [False] * 6])
    monkeypatch.setattr("training.recipes.contrastive.TwoTowers.outcomes", lambda *given: next(rights))
    states: dict[int, Mapping[str, Any]] = {}

    def keep(progress: Progress) -> None:
        kept = read_file(folder / CHECKPOINT)
        states[progress.step] = {} if kept is None else kept["modules"]["towers"]

    stopping = plan(base, epochs=9, patience=2)
    result = train(stopping, SOME, EXAMPLES[:8], PICTURES.__getitem__, folder, keep)
    assert (result.score, result.best_step, result.steps) == (0.75, 4, 8)
    assert [point.score for point in result.curve if point.score is not None] == [0.5, 0.75, 0.75, 0.25]
    assert result.sentences == [
        "Stopped after step 8: the validation score has not risen for 2 epochs. The best is of step 4."
    ]
    assert result.weights == digest_of_weights(states[4])
    assert result.weights == scorer_of(result.spec).identity.weights


def test_a_training_that_goes_on_does_not_stop_before_the_best_step_that_it_knows(
    base: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scores of the epochs are given: 50, 75 and 75 %. It is interrupted after the second, without a checkpoint."""
    half, more = [True, False] * 4, [True] * 6 + [False] * 2
    stopping = replace(plan(base, epochs=9, patience=1), checkpoint_steps=1000)

    def score(rights: list[list[bool]]) -> None:
        given = iter(rights)
        monkeypatch.setattr("training.recipes.contrastive.TwoTowers.outcomes", lambda *_: next(given))

    def fail() -> bool:
        raise ConnectionError

    score([half, more])
    with pytest.raises(ConnectionError):
        run(stopping, folder, validation=8, is_cancelled=after(5, fail))
    score([half, more, more])
    result, _ = run(stopping, folder, validation=8)
    assert (result.score, result.best_step, result.steps) == (0.75, 4, 6)


def test_clip_of_transformers(tmp_path: Path) -> None:
    base = f"hf:{save_clip(tmp_path / 'base')}"
    result, _ = run(plan(base), tmp_path / "trained")
    scorer = scorer_of(result.spec)
    assert result.spec == f"hf:{tmp_path / 'trained' / 'tiny'}"
    assert scorer.identity.weights == result.weights != scorer_of(base).identity.weights


def test_weights_with_quick_gelu_are_loaded_with_it(base: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tag implies the activation, as openai of ViT-B-32 does; the trained file cannot."""
    import open_clip

    tag = {"file": base.partition("/")[2], "quick_gelu": True}
    monkeypatch.setitem(open_clip.pretrained._PRETRAINED, "tiny-test", {"openai": tag})
    result, _ = run(plan("open_clip:tiny-test/openai", epochs=1), folder)
    assert result.spec == f"open_clip:tiny-test-quickgelu/{folder / 'tiny.pt'}"


def test_images_that_a_tag_prepares_in_its_own_way(base: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import open_clip

    tag = {"file": base.partition("/")[2], "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}
    monkeypatch.setitem(open_clip.pretrained._PRETRAINED, "tiny-test", {"other": tag})
    with pytest.raises(CannotTrain, match=r"prepares images in its own way \(mean, std\)"):
        run(plan("open_clip:tiny-test/other"), folder)


def missing(name: str) -> Image.Image:
    if name == SOME[3].images[0]:
        raise NoPicture("The file is not there.")
    return PICTURES[name]


def test_a_missing_image_is_named(base: str, folder: Path) -> None:
    sentence = f"The image {SOME[3].images[0]} of the instance {SOME[3].instance} cannot be used: The file is not there"
    with pytest.raises(CannotTrain, match=sentence):
        train(plan(base, nearest=0), SOME, [], missing, folder, lambda progress: None)


@pytest.mark.parametrize(
    ("recipe", "options", "sentence"),
    [
        ("negclap", {}, "The recipe 'negclap' is unknown. Use one of negclip"),
        (
            "negclip",
            {"batch": 0, "rate": 1},
            r"batch: Input should be greater than .*; rate: Extra inputs .*\. Its options are batch, .*nearest\.",
        ),
        ("negclip", {"learning_rate": "fast"}, r"wrong\. learning_rate: Input should be a valid number[^.]*\.$"),
        ("negclip", {"learning_rate": 1e300}, r"wrong\. learning_rate: Input should be at most 1e\+30\.$"),
        ("imagecode-temporal", {"layers": 10**9}, r"layers: Input should be less than or equal to 100"),
    ],
)
def test_a_wrong_recipe_or_option(recipe: str, options: dict[str, Any], sentence: str, folder: Path) -> None:
    with pytest.raises(CannotTrain, match=sentence):
        run(Plan(recipe, "open_clip:tiny-test/x", "a", options), folder)


@pytest.mark.parametrize(
    ("base", "sentence"),
    [
        ("tiny", "does not name a model"),
        ("text-only:ngrams", "is of the family 'text-only'; this recipe trains those of open_clip, hf"),
        ("open_clip:tiny-test/no-such-file", "neither a file on the worker's machine nor a tag"),
    ],
)
def test_a_base_model_of_another_kind(base: str, sentence: str, folder: Path) -> None:
    with pytest.raises(CannotTrain, match=sentence):
        run(plan(base), folder)


@pytest.mark.parametrize("device", ["gpu", "cuda:99"])
def test_a_device_that_is_not_there(device: str, base: str, folder: Path) -> None:
    with pytest.raises(CannotTrain, match=rf"This machine has no device '{device}' \(.+\)\. Use cpu, or cuda:0"):
        run(replace(plan(base), device=device), folder)


def test_a_siglip_of_openclip_is_no_clip(base: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its loss has a bias, which CLIP's has not."""
    import open_clip

    create = open_clip.create_model_and_transforms

    def with_bias(*given: Any, **named: Any) -> Any:
        model, *rest = create(*given, **named)
        model.logit_bias = torch.nn.Parameter(torch.tensor(-10.0))
        return model, *rest

    monkeypatch.setattr("open_clip.create_model_and_transforms", with_bias)
    with pytest.raises(CannotTrain, match="is no CLIP"):
        run(plan(base), folder)


@pytest.mark.parametrize("name", ["", "../tiny", "a/b"])
def test_a_name_that_no_file_can_have(name: str, base: str, folder: Path) -> None:
    with pytest.raises(CannotTrain, match="cannot name a file"):
        run(replace(plan(base), name=name), folder)


def test_a_siglip_is_no_clip(tmp_path: Path) -> None:
    with pytest.raises(CannotTrain, match="is no CLIP"):
        run(plan(f"hf:{save_siglip(tmp_path / 'siglip')}"), tmp_path / "trained")


@pytest.mark.parametrize(
    ("examples", "sentence"),
    [
        ([], "There is nothing to train on"),
        (
            [*SOME, Example("x", (), ("a", "b"))],
            "1 of 9 training examples do not fit; the first is x. NegCLIP needs an",
        ),
    ],
)
def test_examples_that_do_not_fit(examples: list[Example], sentence: str, base: str, folder: Path) -> None:
    with pytest.raises(CannotTrain, match=sentence):
        train(plan(base), examples, [], PICTURES.__getitem__, folder, lambda progress: None)


def test_several_processes_train_as_one_does(
    base: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the launcher starts them, here on CPUs; 8 images and 16 texts of a batch are in shares of 4 and of 8.

    The last validation batch has one image, which only one of them embeds.
    """
    monkeypatch.setattr("training.loop.usual_batch", lambda device: 8)
    linear = plan(base, **LINEAR)
    alone, _ = run(linear, tmp_path / "alone", validation=9)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def work(rank: int) -> None:
        here = {"WORLD_SIZE": "2", "RANK": str(rank), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2"}
        os.environ.update(here | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)})
        result, reports = run(linear, folder, validation=9)
        assert bool(reports) == (rank == 0)
        assert result.spec == f"open_clip:tiny-test/{folder / 'tiny.pt'}"

    children = [in_child(partial(work, rank)) for rank in range(2)]
    assert [exit_code_of(child) for child in children] == [0, 0]
    both, _ = run(linear, folder, validation=9)
    assert both.score == alone.score
    for one, other in zip(alone.curve, both.curve, strict=True):
        assert other.losses == pytest.approx(one.losses, rel=1e-4)
    assert_same_weights(alone, both, base)


def test_it_trains_by_hand(
    base: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["training", str(folder), "--images", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"has no plan and examples to train by"):
        main()
    folder.mkdir()
    for written, problem in (
        ("", "Invalid JSON"),
        ("[1]", "Input should be"),
        ('{"recipe": "negclip", "base": "x", "seed": "one", "epochs": 1}', r"name: Field required; seed: .*; epochs: "),
    ):
        (folder / "plan.json").write_text(written, encoding="utf-8")
        with pytest.raises(SystemExit, match=rf"plan\.json is no plan to train by\. .*{problem}"):
            main()
    (folder / "plan.json").write_text(json.dumps(asdict(plan(base, epochs=1))), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"has no plan and examples to train by \(.*examples\.jsonl"):
        main()
    named = [replace(one, images=tuple(f"{name}.png" for name in one.images)) for one in SOME]
    for name in ("examples", "validation"):
        write_examples(named, folder / f"{name}.jsonl")
    with pytest.raises(SystemExit, match=r"The image .*\.png cannot be used"):
        main()
    for name, picture in PICTURES.items():
        picture.save(tmp_path / f"{name}.png")
    main()
    *steps, spec = capsys.readouterr().out.splitlines()
    assert spec == f"open_clip:tiny-test/{folder / 'tiny.pt'}"
    assert re.match(r"step 2 of 2, contrastive \d\.\d+, loss \d\.\d+, score \d+\.\d%, 0 s left", steps[-1])
