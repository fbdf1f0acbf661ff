"""The data of training runs: accepted items of a project or a release become files of examples, checked for leaks."""

import hashlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from background.errors import Failed
from background.models import Job, JobState
from background.work import RunningJob, Work
from results.actions.releases import check_frozen, check_offered, frozen_rows
from results.errors import CannotExport
from results.exporting.rows import AcceptedInstance
from results.exporting.training_examples import FOR_TRAINING, FOR_VALIDATION, example_of
from results.models import Release
from results.queries.instances.accepted_items import instances_of_studies
from studies.actions.projects.datasets import dataset_studies
from studies.models import Project
from studies.wording import format_count
from training.actions.runs import ExamplesFile, TrainingData, note_prepared, note_unprepared
from training.errors import CannotTrain
from training.examples import Example, to_line
from training.messages import TRAINING, VALIDATION
from training.models import TrainingRun
from training.recipes import Recipe, get_recipe
from training.tasks import send_order

# Percent of the examples that are held out for validation where the data have no split for it.
HELD_OUT_PERCENT = 10
HELD_OUT = "held out"
REPORT_EVERY = 500


def find_training_data(project: Project, release: str) -> TrainingData:
    """Return the release of `project` of this name or, without a name, its accepted items. Raises CannotTrain."""
    if not release:
        if not dataset_studies(project):
            raise CannotTrain(
                f"{project.slug} has no accepted items: no launched study defines its dataset. Choose the studies of "
                "the dataset on the project's page, or train on a release."
            )
        return TrainingData()
    found = Release.objects.filter(project=project, name=release).first()
    if found is None:
        names = ", ".join(Release.objects.filter(project=project).values_list("name", flat=True)) or "none"
        raise CannotTrain(f"{project.slug} has no release called {release!r}. Its releases: {names}.")
    _check(found)
    return TrainingData(release_id=found.pk, release_name=found.name, release_sha256=found.sha256)


def _check(release: Release) -> None:
    """Raise CannotTrain if a release is not what was frozen, or no longer available."""
    try:
        check_offered(release)
        check_frozen(release)
    except CannotExport as error:
        raise CannotTrain(str(error)) from error


def _prepare(job: RunningJob) -> None:
    found = TrainingRun.objects.filter(pk=job.arguments["run"], state=TrainingRun.State.PREPARING)
    run = found.select_related("project").first()
    if run is None:
        return
    try:
        with tempfile.TemporaryDirectory() as folder:
            files = write_parts(_rows(run), get_recipe(run.recipe)(**run.options), run.seed, Path(folder), job)
            stored = {part: _store(run, file) for part, file in files.items()}
    except CannotTrain as error:
        raise Failed(str(error)) from error
    with transaction.atomic():
        job.check()
        if note_prepared(run=run, files=stored, leaks={}):
            send_order.delay_on_commit(run.pk)


def _rows(run: TrainingRun) -> Iterable[AcceptedInstance]:
    """Return the accepted items that a run is trained on. Raises CannotTrain."""
    if run.source == TrainingRun.Source.PROJECT:
        return instances_of_studies(dataset_studies(run.project))
    release = Release.objects.filter(pk=run.release_id, sha256=run.release_sha256).first()
    if release is None:
        raise CannotTrain(
            f"The release {run.release_name} was deleted or changed since this was requested. Train on another release "
            "under another name."
        )
    _check(release)
    return frozen_rows(release, "instances")


class WrittenPart(NamedTuple):
    """A file of examples, and how many it has."""

    path: Path
    examples: int


def write_parts(
    rows: Iterable[AcceptedInstance], recipe: Recipe, seed: int, folder: Path, job: RunningJob
) -> Mapping[str, WrittenPart]:
    """Write the examples of `rows` by part. Raises CannotTrain if there is nothing to train on.

    Splits such as test are left out. Without a split for validation, a tenth of the examples is held out, by a hash of
    their first image and the seed.
    """
    counts: Counter[str] = Counter()
    with ExitStack() as files:
        paths = {part: folder / f"{part}.jsonl" for part in (TRAINING, VALIDATION, HELD_OUT)}
        out = {part: files.enter_context(path.open("wb")) for part, path in paths.items()}
        for part, example in _parts(rows, recipe, seed, counts, job):
            out[part].write(to_line(example))
            counts[part] += 1
    if counts[HELD_OUT] and (counts[VALIDATION] or not counts[TRAINING]):
        # There is a split for validation, or next to nothing.
        with paths[TRAINING].open("ab") as training, paths[HELD_OUT].open("rb") as held_out:
            shutil.copyfileobj(held_out, training)
        counts[TRAINING] += counts.pop(HELD_OUT)
    if not counts[TRAINING]:
        raise CannotTrain(f"There is nothing to train on. {_why_nothing(counts, recipe)}")
    validation = VALIDATION if counts[VALIDATION] else HELD_OUT
    parts = {TRAINING: TRAINING, VALIDATION: validation}
    return {part: WrittenPart(paths[name], counts[name]) for part, name in parts.items() if counts[name]}


def _parts(
    rows: Iterable[AcceptedInstance], recipe: Recipe, seed: int, counts: Counter[str], job: RunningJob
) -> Iterator[tuple[str, Example]]:
    for number, row in enumerate(rows, start=1):
        if number % REPORT_EVERY == 0:
            job.advance(done=number)
        counts["items"] += 1
        split = row.split.lower()
        if split not in FOR_TRAINING | FOR_VALIDATION:
            counts["other splits"] += 1
        elif (example := example_of(row)) is None:
            counts["without pictures"] += 1
        elif not recipe.accepts(example):
            counts["refused"] += 1
        elif split in FOR_VALIDATION:
            yield VALIDATION, example
        else:
            yield HELD_OUT if _is_held_out(example, seed) else TRAINING, example


def _is_held_out(example: Example, seed: int) -> bool:
    digest = hashlib.sha256(f"{seed}/{example.images[0]}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % 100 < HELD_OUT_PERCENT


def _why_nothing(counts: Counter[str], recipe: Recipe) -> str:
    items = format_count(counts["items"], "accepted item")
    if not counts["items"]:
        return "There are no accepted items yet. Wait until people accept some."
    if lacking := counts["without pictures"]:
        return f"Of {items}, {lacking:,} have no stored image or no caption. Import their images first."
    if refused := counts["refused"]:
        return f"{recipe.title} needs {recipe.needs}. Of {items}, {refused:,} lack that. Use another recipe."
    return f"Of {items}, {counts['other splits']:,} are of other splits, such as test. Only others are trained on."


def _store(run: TrainingRun, part: WrittenPart) -> ExamplesFile:
    with part.path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        name = f"training/{run.pk}/{digest}.jsonl"
        if not default_storage.exists(name):
            file.seek(0)
            name = default_storage.save(name, File(file))
    return ExamplesFile(name, digest, part.examples)


def _note_end(job: Job) -> None:
    error = job.error if job.state == JobState.FAILED else ""
    note_unprepared(run_id=job.arguments["run"], error=error, now=timezone.now())


TRAINING_DATA = Work(
    run=_prepare, trouble="The examples could not be prepared.", unit="items", minutes=60, ended=_note_end
)
