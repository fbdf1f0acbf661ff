"""Train a model by a recipe, from the last checkpoint if there is one. Pure.

Importing this module does not import torch.
"""

import json
import os
import random
import resource
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from pydantic import ValidationError

from predictions.feeder import OpenPicture
from predictions.scorers.base import CannotLoad, require_library
from predictions.scorers.batches import in_batches
from predictions.scorers.torch_models import digest_of_weights, report_short_memory, usual_batch
from training.batches import Batch, LoadedBatch, read_batches
from training.checkpoints import BEST, CHECKPOINT, RESULT, read_file, remove_file, write_file, write_json
from training.errors import CannotTrain, TrainingCancelled
from training.examples import Example, digest_of
from training.plan import CurvePoint, Plan, Progress, Result
from training.processes import Processes, processes_here
from training.recipes import RECIPES, get_recipe
from training.recipes.base import Recipe, Trainable
from training.steps import Stepper

__all__ = ["CannotTrain", "CurvePoint", "Plan", "Progress", "Result", "TrainingCancelled", "recipe_of", "train"]

# Between two reports, unless there is something new to say.
REPORT_SECONDS = 5.0
# Writing checkpoints takes at most this share of the time where a disk is slow.
SHARE_OF_CHECKPOINTS = 0.1
# Points of the curve of losses.
MOST_POINTS = 1000
# Of fewer examples, a score says little about which model is the best.
FEW = 5
# The base's weights may change under its name.
BASE_WEIGHTS = "base weights"
LIBRARIES = ("torch", "open_clip_torch", "transformers", "torchvision", "Pillow", "numpy")


def recipe_of(plan: Plan) -> Recipe:
    """Return the recipe of a plan with its options. Raises CannotTrain, with a sentence for each wrong option."""
    if plan.recipe not in RECIPES:
        raise CannotTrain(f"The recipe {plan.recipe!r} is unknown. Use one of {', '.join(RECIPES)}.")
    recipe = get_recipe(plan.recipe)
    try:
        return recipe.model_validate(dict(plan.options))
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, each['loc'])) or plan.recipe}: {each['msg']}" for each in error.errors()]
        unknown = any(each["type"] == "extra_forbidden" for each in error.errors())
        known = f" Its options are {', '.join(recipe.model_fields)}." if unknown else ""
        raise CannotTrain(f"The options of {plan.recipe} are wrong. {'; '.join(problems)}.{known}") from error


def train(
    plan: Plan,
    examples: Sequence[Example],
    validation: Sequence[Example],
    open_picture: OpenPicture,
    folder: Path,
    report: Callable[[Progress], None],
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Result:
    """Train the model of a plan in `folder`, and return it; again, it returns the same result.

    examples, validation: all that the recipe accepts are used; a `training.examples.ExampleFile` is read as needed.
    Validation may be empty: then the model after the last step is the result. `report` is called often, from this
    thread. What an interrupted training left in `folder` is taken up. Raises CannotTrain, TrainingCancelled,
    OutOfMemory, and errors of the source of images; the last checkpoint stays.
    """
    recipe = recipe_of(plan)
    if not plan.name or Path(plan.name).name != plan.name:
        raise CannotTrain(f"{plan.name!r} cannot name a file. Choose a name without / in it.")
    _check_examples(recipe, examples, validation)
    identity = _identity(plan, recipe, examples, validation)
    if (done := _finished(folder, identity)) is not None:
        return done
    _check_torch()
    with _same_from(plan.seed), report_short_memory():
        here, device = processes_here()
        trainable = recipe.load(plan.base, plan.seed, plan.device or device)
        identity[BASE_WEIGHTS] = trainable.towers.identity.weights
        run = _Run(plan, recipe, trainable, examples, validation, open_picture, folder, identity, here)
        run.report_to, run.is_cancelled = report, is_cancelled
        return run.finish()


@dataclass
class _State:
    """What a training has come to. `curve`: [step, losses, score]; `validated`: the last step that has a score."""

    step: int = 0
    validated: int = 0
    curve: list[list[Any]] = field(default_factory=list)
    score: float | None = None
    best: float | None = None
    best_step: int = 0
    bad_epochs: int = 0
    sentences: list[str] = field(default_factory=list)


class _Run:
    """A training in this process; of several processes the main one writes and reports."""

    report_to: Callable[[Progress], None]
    is_cancelled: Callable[[], bool]

    def __init__(
        self,
        plan: Plan,
        recipe: Recipe,
        trainable: Trainable,
        examples: Sequence[Example],
        validation: Sequence[Example],
        open_picture: OpenPicture,
        folder: Path,
        identity: Mapping[str, Any],
        processes: Processes,
    ) -> None:
        self.plan, self.recipe, self.trainable, self.folder = plan, recipe, trainable, folder
        self.examples, self.validation, self.open_picture = examples, validation, trainable.opener(open_picture)
        self._identity, self.processes = identity, processes
        self.steps_per_epoch = _steps_per_epoch(len(examples), recipe)
        self.steps = recipe.epochs * self.steps_per_epoch
        self.stepper = Stepper(recipe, trainable, self.steps, processes)
        self.state = _State()
        self._losses: Mapping[str, float] = {}
        self._begun, self._begun_at, self._reported = monotonic(), 0, -REPORT_SECONDS
        self._told, self._phase = 0, ""
        self._checkpointed, self._checkpointed_at, self._writing = monotonic(), 0, 0.0

    def finish(self) -> Result:
        """Train to the end; return the result."""
        kept = self._kept()
        # By the base model, before the weights of a checkpoint replace it.
        self.trainable.prepare(self.examples, self.open_picture, self._tell)
        self._resume(*kept)
        self._begun = self._checkpointed = monotonic()
        self._report()
        self._validate_if_due()
        while self.state.step < self.steps and not self._is_stopped():
            self._epoch()
        if self.processes.is_main:
            self._write_result()
        self.processes.wait()
        return _read_result(self.folder / RESULT, self._identity)

    def _write_result(self) -> None:
        best = read_file(self.folder / BEST) if self.validation else None
        if best is not None:
            self._load_modules(best["modules"])
        self._check_weights()
        saved = self.trainable.save(self.folder, self.plan.name)
        state = self.state
        result = Result(
            path=str(saved.path),
            spec=saved.spec,
            weights=digest_of_weights(self.trainable.weights()),
            score=state.best,
            best_step=state.best_step if best is not None else state.step,
            steps=state.step,
            curve=[CurvePoint(step, losses, score) for step, losses, score in state.curve],
            recipe_version=self.recipe.version,
            options=self.recipe.model_dump(mode="json"),
            libraries={library: version(library) for library in LIBRARIES},
            hardware=_hardware(self.stepper.device),
            seed=self.plan.seed,
            sentences=list(state.sentences),
            base_weights=self._identity[BASE_WEIGHTS],
        )
        self._report(at_once=True)
        write_json(self.folder / RESULT, {"identity": self._identity, "result": asdict(result)})
        for name in (CHECKPOINT, BEST):
            remove_file(self.folder / name)

    def _epoch(self) -> None:
        """Train to the end of the epoch, and validate there."""
        epoch, done = divmod(self.state.step, self.steps_per_epoch)
        with closing(
            read_batches(self._batches(epoch, done), self.trainable.towers, self.open_picture, self.processes)
        ) as loaded:
            for one in loaded:
                self._stop_if_cancelled()
                self._losses = self.stepper.step(self.state.step, one)
                self.state.step += 1
                self._note_losses()
                is_last = self.state.step % self.steps_per_epoch == 0
                self._validate_if_due()
                if self._is_checkpoint_due():
                    self._checkpoint()
                self._report(at_once=is_last)

    def _stop_if_cancelled(self) -> None:
        if self.processes.agree(self.is_cancelled()):
            if self.state.step:
                self._checkpoint()
            raise TrainingCancelled(f"The training was cancelled after step {self.state.step:,}.")

    def _tell(self, what: str, done: int, total: int, unit: str) -> None:
        """Report what is done between steps. Raises TrainingCancelled."""
        self._phase = f"{what}, {done:,} of {total:,} {unit}"
        self._report()
        self._phase = ""
        self._stop_if_cancelled()

    def _read(self, batches: Iterable[Batch]) -> Generator[LoadedBatch]:
        return read_batches(batches, self.trainable.towers, self.open_picture, self.processes)

    def _batches(self, epoch: int, done: int) -> Iterator[Batch]:
        """Yield the batches of an epoch from number `done` on, the same in each run."""
        size, seed = self.recipe.batch, self.plan.seed
        order = np.random.default_rng([seed, epoch]).permutation(len(self.examples))
        for number in range(done, self.steps_per_epoch):
            chosen = [self.examples[int(place)] for place in order[number * size : (number + 1) * size]]
            yield self.trainable.batch(chosen, random.Random(f"{seed}|{epoch}|{number}"))  # noqa: S311 (no secret)

    def _validate_if_due(self) -> None:
        """Validate after the last step of an epoch, unless that was done before an interruption."""
        state = self.state
        if self.validation and state.step > state.validated and state.step % self.steps_per_epoch == 0:
            self._validate()

    def _validate(self) -> None:
        """Score the validation set; keep the model if none before was better. Raises CannotTrain, TrainingCancelled."""
        self._check_weights()
        right = total = read = 0
        size = usual_batch(self.stepper.device)
        batches = (self.trainable.validation_batch(some) for some in in_batches(self.validation, size))
        with closing(self._read(batches)) as loaded:
            for one in loaded:
                outcomes = self.stepper.outcomes(one)
                right, total, read = right + sum(outcomes), total + len(outcomes), read + len(one.batch.examples)
                if self._is_checkpoint_due():
                    self._checkpoint()
                self._tell("validating", read, len(self.validation), "examples")
        state = self.state
        state.score, state.validated = right / total, state.step
        state.curve.append([state.step, {}, state.score])
        is_best = state.best is None or state.score > state.best
        if is_best:
            state.best, state.best_step = state.score, state.step
        # The best one may be of a later step, known from before an interruption: until then, training did not stop.
        state.bad_epochs = 0 if state.step <= state.best_step else state.bad_epochs + 1
        if is_best and self.processes.is_main:
            known = {"identity": dict(self._identity), "step": state.step, "score": state.score}
            write_file(self.folder / BEST, {**known, "modules": self._modules()})

    def _is_stopped(self) -> bool:
        """Tell whether the validation score has not risen for too long."""
        patience, state = self.recipe.patience, self.state
        if not (self.validation and patience and state.bad_epochs >= patience):
            return False
        self._say(
            f"Stopped after step {state.step:,}: the validation score has not risen for {patience} "
            f"{'epoch' if patience == 1 else 'epochs'}. The best is of step {state.best_step:,}."
        )
        return True

    def _note_losses(self) -> None:
        every = -(-self.steps // MOST_POINTS)
        if self.state.step % every == 0 or self.state.step == self.steps:
            self.state.curve.append([self.state.step, dict(self._losses), None])

    def _is_checkpoint_due(self) -> bool:
        seconds, steps = monotonic() - self._checkpointed, self.state.step - self._checkpointed_at
        is_long_ago = steps >= self.plan.checkpoint_steps or seconds >= 60 * self.plan.checkpoint_minutes
        return is_long_ago and seconds >= self._writing / SHARE_OF_CHECKPOINTS

    def _check_weights(self) -> None:
        """Raise CannotTrain if the last step left weights that are no numbers; a file of them would be of no use."""
        import torch

        tensors = [each for module in self.trainable.modules.values() for each in module.state_dict().values()]
        if all(bool(torch.isfinite(each).all()) for each in tensors if each.is_floating_point()):
            return
        kept = " The last checkpoint stays." if (self.folder / CHECKPOINT).is_file() else ""
        raise CannotTrain(
            f"After step {self.state.step:,} weights of the model are not numbers, though the loss still was one. "
            f"Train again with a lower learning_rate than {self.recipe.learning_rate:g}.{kept}"
        )

    def _checkpoint(self) -> None:
        import torch

        self._check_weights()
        begun = monotonic()
        cuda = [torch.cuda.get_rng_state(self.stepper.device)] if self.stepper.device.type == "cuda" else []
        self._collect_sentences()
        self._checkpointed, self._checkpointed_at = begun, self.state.step
        if not self.processes.is_main:
            return
        write_file(
            self.folder / CHECKPOINT,
            {
                "identity": dict(self._identity),
                "state": asdict(self.state),
                "parts": self.stepper.parts,
                "modules": self._modules(),
                "optimizer": self.stepper.optimizer.state_dict(),
                "scaler": self.stepper.scaler.state_dict(),
                "random": [torch.get_rng_state(), *cuda],
            },
        )
        self._checkpointed = monotonic()
        self._writing = self._checkpointed - begun

    def _kept(self) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
        """Return the last checkpoint and the best model in the folder. Raises CannotTrain if they are another's."""
        kept, best = (read_file(self.folder / name) for name in (CHECKPOINT, BEST))
        for each in filter(None, (kept, best)):
            _check_same(self.folder, each["identity"], self._identity)
        return kept, best

    def _resume(self, kept: Mapping[str, Any] | None, best: Mapping[str, Any] | None) -> None:
        if kept is not None:
            self._go_on(kept)
        elif 0 < len(self.validation) < FEW:
            counted = "1 example" if len(self.validation) == 1 else f"{len(self.validation)} examples"
            self._say(
                f"The validation set has only {counted}, so its score says little, also about which model is the best. "
                "Use more data, or a larger split for validation."
            )
        if kept is None and self.steps < self.recipe.warmup_steps:
            self._say(
                f"This training has {self.steps:,} steps, fewer than the {self.recipe.warmup_steps:,} of warmup_steps: "
                f"its highest learning rate is {self.stepper.rate_of(self.steps - 1):.2g}, and not "
                f"{self.recipe.learning_rate:.2g}, as in OpenCLIP. Choose fewer warmup_steps, or more epochs."
            )
        # It may come from after the last checkpoint.
        if best is not None and (self.state.best is None or best["score"] > self.state.best):
            self.state.best, self.state.best_step = best["score"], best["step"]

    def _go_on(self, kept: Mapping[str, Any]) -> None:
        import torch

        self.state, self.stepper.parts = _State(**kept["state"]), kept["parts"]
        self._load_modules(kept["modules"])
        self.stepper.optimizer.load_state_dict(kept["optimizer"])
        self.stepper.scaler.load_state_dict(kept["scaler"])
        torch.set_rng_state(kept["random"][0])
        if self.stepper.device.type == "cuda" and len(kept["random"]) > 1:
            torch.cuda.set_rng_state(kept["random"][1], self.stepper.device)
        self.stepper.sentences.clear()
        self._begun_at = self._checkpointed_at = self.state.step
        self._say(f"The training goes on from step {self.state.step:,}.")

    def _modules(self) -> dict[str, Any]:
        return {name: module.state_dict() for name, module in self.trainable.modules.items()}

    def _load_modules(self, states: Mapping[str, Any]) -> None:
        for name, module in self.trainable.modules.items():
            module.load_state_dict(states[name])

    def _say(self, sentence: str) -> None:
        self.state.sentences.append(sentence)

    def _collect_sentences(self) -> None:
        self.state.sentences += self.stepper.sentences + self.trainable.sentences
        self.stepper.sentences.clear()
        self.trainable.sentences.clear()

    def _report(self, *, at_once: bool = False) -> None:
        self._collect_sentences()
        state, now = self.state, monotonic()
        news = state.sentences[self._told :]
        if not (at_once or news or now - self._reported >= REPORT_SECONDS) or not self.processes.is_main:
            return
        self._reported, self._told = now, len(state.sentences)
        done = state.step - self._begun_at
        left = (now - self._begun) / done * (self.steps - state.step) if done else None
        self.report_to(
            Progress(
                step=state.step,
                steps=self.steps,
                losses=dict(self._losses),
                score=state.score,
                best=state.best,
                seconds_left=left,
                peak_memory=_peak_memory(self.stepper.device),
                batch=self.recipe.batch,
                parts=self.stepper.parts,
                sentences=news,
                phase=self._phase,
            )
        )


def _check_examples(recipe: Recipe, examples: Sequence[Example], validation: Sequence[Example]) -> None:
    """Raise CannotTrain if there are no examples, or one that the recipe cannot use."""
    if not examples:
        raise CannotTrain("There is nothing to train on. Choose a release, or a project with accepted instances.")
    for which, some in (("training", examples), ("validation", validation)):
        unfit = [example.instance for example in some if not recipe.accepts(example)]
        if unfit:
            raise CannotTrain(
                f"{len(unfit):,} of {len(some):,} {which} examples do not fit; the first is "
                f"{unfit[0]}. {recipe.title} needs {recipe.needs}."
            )


def _steps_per_epoch(examples: int, recipe: Recipe) -> int:
    whole, rest = divmod(examples, recipe.batch)
    return whole + 1 if rest and (recipe.keeps_small_batch or not whole) else whole


def _identity(plan: Plan, recipe: Recipe, examples: Sequence[Example], validation: Sequence[Example]) -> dict[str, Any]:
    """Return what must be the same for a training to go on."""
    return {
        "recipe": plan.recipe,
        "version": recipe.version,
        "options": json.dumps(recipe.model_dump(mode="json"), sort_keys=True),
        "base": plan.base,
        "seed": plan.seed,
        "name": plan.name,
        "examples": digest_of(examples),
        "validation": digest_of(validation),
    }


def _finished(folder: Path, identity: Mapping[str, Any]) -> Result | None:
    """Return the result that is in the folder already, None if there is none. Raises CannotTrain if it is another's."""
    return _read_result(folder / RESULT, identity) if (folder / RESULT).is_file() else None


def _read_result(path: Path, identity: Mapping[str, Any]) -> Result:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        curve = [CurvePoint(**point) for point in kept["result"].pop("curve")]
        result, known = Result(curve=curve, **kept["result"]), dict(kept["identity"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CannotTrain(f"{path} is damaged. Delete it to train again.") from error
    _check_same(path.parent, known, identity)
    return result


def _check_same(folder: Path, kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise CannotTrain if a training in the folder is another one; earlier versions did not keep all of it."""
    differ = [name for name in wanted if kept.get(name, wanted[name]) != wanted[name]]
    if differ == [BASE_WEIGHTS]:
        raise CannotTrain(
            f"The base model {wanted['base']} is no longer what this training began with: its weights were "
            f"{kept[BASE_WEIGHTS][:12]}, and are {wanted[BASE_WEIGHTS][:12]}. Put the earlier weights back and resume, "
            "or train from the new ones under another name."
        )
    if differ:
        raise CannotTrain(
            f"The folder {folder} has another training ({', '.join(differ)} differ). Choose another folder."
        )


def _check_torch() -> None:
    """Raise CannotTrain on a worker that can load no model."""
    try:
        with require_library("torch"):
            import torch  # noqa: F401
    except CannotLoad as error:
        raise CannotTrain(str(error)) from error


@contextmanager
def _same_from(seed: int) -> Iterator[None]:
    """Let torch compute the same from the same seed in the block, where it can."""
    import torch

    # Read when cuBLAS is first used.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


def _hardware(device: Any) -> str:
    import platform

    import torch

    return f"{platform.machine()} CPU" if device.type == "cpu" else torch.cuda.get_device_name(device)


def _peak_memory(device: Any) -> int:
    """Return the most memory in use so far, in bytes: of a GPU by torch, else of this process."""
    import torch

    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    # Linux counts in kibibytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
