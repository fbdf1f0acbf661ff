"""The data of training runs: accepted items of a project or a release become files of examples, checked for leaks."""

import hashlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from background.errors import Cancelled, Failed
from background.models import Job, JobState
from background.work import RunningJob, Work
from results.actions.releases import check_frozen, check_offered, frozen_rows
from results.errors import CannotExport
from results.exporting.rows import AcceptedInstance
from results.exporting.training_examples import example_of, item_of
from results.models import Release
from results.queries.instances.accepted_items import instances_of_studies
from studies.actions.projects.datasets import dataset_studies
from studies.actions.stored_files import save_whole
from studies.models import Membership, Project
from studies.wording import format_count
from training.actions.examples import FOLDER, count_events
from training.actions.runs import ExamplesFile, TrainingData, Wanted, check, note_prepared, note_unprepared
from training.errors import NO_ROOM, CannotTrain
from training.examples import Example, to_line
from training.leaks import Item
from training.messages import TRAINING, VALIDATION
from training.models import TrainingRun
from training.queries.protected_items import instance_id, protect, protected_items
from training.recipes import Recipe, get_recipe
from training.splits import FOR_TRAINING, FOR_VALIDATION
from training.tasks import send_order

# Percent of the examples that are held out for validation where the data have no split for it.
HELD_OUT_PERCENT = 10
HELD_OUT = "held out"
REPORT_EVERY = 500
# Items that a request looks at before it starts a job.
LOOKED_AT = 20_000
OTHER_TEST_SET = "a released test set of another project"
WITHOUT_SPLITS = ", which has no splits and so is a test set"
OTHER_WITHOUT_SPLITS = f"a release of another project{WITHOUT_SPLITS}"


def find_training_data(project: Project, release: str) -> TrainingData:
    """Return the release of `project` of this name or, without a name, its accepted items. Raises CannotTrain."""
    if not release:
        if not dataset_studies(project):
            raise CannotTrain(_without_dataset(project))
        return TrainingData()
    found = Release.objects.filter(project=project, name=release).first()
    if found is None:
        names = ", ".join(Release.objects.filter(project=project).values_list("name", flat=True)) or "none"
        raise CannotTrain(f"{project.slug} has no release called {release!r}. Its releases: {names}.")
    _check(found)
    return TrainingData(release_id=found.pk, release_name=found.name, release_sha256=found.sha256)


def check_trainable(project: Project, wanted: Wanted) -> None:
    """Raise CannotTrain if a recipe can train on none of the first items of its data, for lack of images for instance.

    Of many items, the job that prepares them looks at the rest. What else is wrong, `request_run` tells.
    """
    try:
        recipe, data = check(wanted), wanted.data
    except CannotTrain:
        return
    release = None if data.release_id is None else Release.objects.get(pk=data.release_id)
    rows = _accepted_items(project) if release is None else frozen_rows(release, "instances")
    counts: Counter[str] = Counter()
    found = next(_examples(islice(rows, LOOKED_AT), recipe, FOR_TRAINING, counts), None)
    if found is None and counts["items"] < LOOKED_AT:
        raise CannotTrain(_nothing(counts, recipe, is_release=release is not None))


def _accepted_items(project: Project) -> Iterator[AcceptedInstance]:
    """Return the accepted items of the dataset of `project`. Raises CannotTrain if no study defines it."""
    if not (studies := dataset_studies(project)):
        raise CannotTrain(_without_dataset(project))
    return instances_of_studies(studies)


def _examples(
    rows: Iterable[AcceptedInstance], recipe: Recipe, splits: Collection[str], counts: Counter[str]
) -> Iterator[tuple[Example, AcceptedInstance]]:
    """Yield the examples of some splits that a recipe can train on; count all items, and why others are left out."""
    for row in rows:
        counts["items"] += 1
        split = row.split.lower()
        if split not in splits:
            counts["other splits"] += 1
        elif (example := example_of(row)) is None:
            counts["without pictures"] += 1
        elif not recipe.accepts(example):
            counts["refused"] += 1
        else:
            yield example, row


def _without_dataset(project: Project) -> str:
    return (
        f"{project.slug} has no accepted items: no launched study defines its dataset. Launch a study that accepts "
        "instances, or choose the studies of the dataset on the project's page, or train on a release."
    )


def _nothing(counts: Counter[str], recipe: Recipe, *, is_release: bool) -> str:
    """Return sentences about why there is nothing to train on."""
    begun, of = "There is nothing to train on.", f"of {format_count(counts['items'], 'accepted item')}"
    if not counts["items"]:
        return f"{begun} There are no accepted items yet. Wait until people accept some."
    if lacking := counts["without pictures"]:
        then = "Import their images, make a new release, and train on it" if is_release else "Import their images first"
        return f"{begun} Without a stored image or a caption: {lacking:,} {of}. {then}."
    if refused := counts["refused"]:
        return f"{begun} {recipe.title} needs {recipe.needs}. Without that: {refused:,} {of}. Use another recipe."
    if leaking := counts["leaking"]:
        leaks = "Left out, because they would leak what people answer for evaluation or a test set:"
        return f"{begun} {leaks} {leaking:,} {of}."
    return f"{begun} Of a split for validation or tests, which is never trained on: {counts['other splits']:,} {of}."


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
    events = count_events(run.project)
    try:
        with tempfile.TemporaryDirectory() as folder:
            parts = _Parts(run, get_recipe(run.recipe)(**run.options), Path(folder), job)
            files = {part: _store(run, file) for part, file in parts.write().items()}
    except CannotTrain as error:
        raise Failed(str(error)) from error
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise Failed(
            "The disk of the server is full, so the examples were not stored. Ask your administrator to make room, "
            "then resume."
        ) from error
    try:
        with transaction.atomic():
            job.check()
            is_noted = note_prepared(run=run, files=files, leaks=parts.leaks, events=events, now=timezone.now())
            if is_noted:
                send_order.delay_on_commit(run.pk)
    except Cancelled:
        _discard(files)
        raise
    if not is_noted:
        _discard(files)


def _discard(files: Mapping[str, ExamplesFile]) -> None:
    """Delete the files of a run that was cancelled meanwhile: they hold what people wrote."""
    for file in files.values():
        default_storage.delete(file.file)


def _rows(run: TrainingRun) -> Iterable[AcceptedInstance]:
    """Return the accepted items that a run is trained on. Raises CannotTrain."""
    if run.source == TrainingRun.Source.PROJECT:
        return _accepted_items(run.project)
    release = run.project.releases.filter(pk=run.release_id or 0, sha256=run.release_sha256).first()
    if release is None:
        raise CannotTrain(
            f"The release {run.release_name} was deleted or changed since this was requested. Train on another release "
            "under another name."
        )
    _check(release)
    return frozen_rows(release, "instances")


def released_items(project: Project, usable: Collection[str]) -> Iterator[Item]:
    """Yield the released items of this site that are of other splits than those `usable`. Raises CannotTrain.

    Items without a split are for tests, as exports name them, but in the releases of `project`. Members of `project`
    learn of another project only that it has a test set, and its name if all of them are members there too.
    """
    known = {project.pk: True}
    for release in (
        Release.objects.select_related("project").exclude(file="").exclude(project__is_demo=True).order_by("pk")
    ):
        is_own = release.project_id == project.pk
        named = f"the release {release.name}" if is_own else "a release of another project"
        slug = release.project.slug
        if release.project_id not in known:
            known[release.project_id] = _all_are_members(project, release.project)
        without_splits = OTHER_WITHOUT_SPLITS
        if known[release.project_id]:
            without_splits = f"the release {release.name} of {slug}{WITHOUT_SPLITS}"
        try:
            for row in frozen_rows(release, "instances"):
                split = row.split.lower()
                if split not in usable or not (split or is_own):
                    name = OTHER_TEST_SET if split else without_splits
                    name = f"release {release.name}: {row.name}" if is_own else name
                    yield item_of(row, name, instance_id(slug, row.key), slug)
        except OSError as error:
            raise CannotTrain(
                f"The storage has lost the rows of {named}, so nobody can tell whether its test set leaks. Restore the "
                "file from a backup."
            ) from error


def _all_are_members(project: Project, other: Project) -> bool:
    """Whether all members of `project` are members of another one."""
    there = Membership.objects.filter(project=other).values("user")
    return not Membership.objects.filter(project=project).exclude(user__in=there).exists()


class WrittenPart(NamedTuple):
    """A file of examples, and how many it has."""

    path: Path
    examples: int


class _Parts:
    """The examples of a run by part, while they are written into a folder. `leaks`: part -> report, as plain JSON.

    Splits such as test are left out, and so is what leaks. Without a split for validation, a tenth of the examples is
    held out, by a hash of their first image and the seed.
    """

    def __init__(self, run: TrainingRun, recipe: Recipe, folder: Path, job: RunningJob) -> None:
        self._run, self._recipe, self._folder, self._job = run, recipe, folder, job
        self._counts: Counter[str] = Counter()
        self.leaks: dict[str, Any] = {}

    def write(self) -> Mapping[str, WrittenPart]:
        """Write the examples by part. Raises CannotTrain if there is nothing to train on."""
        counts = self._counts
        paths = {part: self._folder / f"{part}.jsonl" for part in (TRAINING, VALIDATION, HELD_OUT)}
        with ExitStack() as files:
            out = {part: files.enter_context(path.open("wb")) for part, path in paths.items()}
            for part, splits in ((TRAINING, FOR_TRAINING), (VALIDATION, FOR_VALIDATION)):
                for example in self._without_leaks(part, splits):
                    place = HELD_OUT if part == TRAINING and self._is_held_out(example) else part
                    out[place].write(to_line(example))
                    counts[place] += 1
        if counts[HELD_OUT] and (counts[VALIDATION] or not counts[TRAINING]):
            # There is a split for validation, or next to nothing.
            with paths[TRAINING].open("ab") as training, paths[HELD_OUT].open("rb") as held_out:
                shutil.copyfileobj(held_out, training)
            counts[TRAINING] += counts.pop(HELD_OUT)
        if not counts[TRAINING]:
            is_release = self._run.source == TrainingRun.Source.RELEASE
            raise CannotTrain(_nothing(counts, self._recipe, is_release=is_release) + self._without_splits())
        validation = VALIDATION if counts[VALIDATION] else HELD_OUT
        parts = {TRAINING: TRAINING, VALIDATION: validation}
        return {part: WrittenPart(paths[name], counts[name]) for part, name in parts.items() if counts[name]}

    def _without_leaks(self, part: str, splits: Collection[str]) -> Iterator[Example]:
        """Yield the examples of some splits that do not leak; the report follows."""
        examples = self._examples(part, splits)
        first = next(examples, None)
        if first is None:
            return
        # A model may be chosen, but not trained, by what is for validation.
        is_validation = part == VALIDATION
        usable = FOR_TRAINING | FOR_VALIDATION if is_validation else FOR_TRAINING
        project = self._run.project
        of_project = protected_items(Project.objects.filter(pk=project.pk), for_validation=is_validation)
        check = protect(chain(of_project, released_items(project, usable)), progress=self._job.advance)
        for example, _ in check.without_leaks(chain([first], examples), lambda each: each[1]):
            yield example
        report = check.report()
        self._counts["leaking"] += 0 if is_validation else report.leaking
        self.leaks[part] = report.to_plain()

    def _examples(self, part: str, splits: Collection[str]) -> Iterator[tuple[Example, Item]]:
        project = self._run.project.slug
        counts = self._counts if part == TRAINING else Counter()
        for example, row in _examples(self._read(), self._recipe, splits, counts):
            yield example, item_of(row, row.name, instance_id(project, row.key), project)

    def _read(self) -> Iterator[AcceptedInstance]:
        """Yield the accepted items, and report how many were read."""
        for number, row in enumerate(_rows(self._run), start=1):
            if number % REPORT_EVERY == 0:
                self._job.advance(done=number)
            yield row

    def _is_held_out(self, example: Example) -> bool:
        digest = hashlib.sha256(f"{self._run.seed}/{example.images[0]}".encode()).digest()
        return int.from_bytes(digest[:4], "big") % 100 < HELD_OUT_PERCENT

    def _without_splits(self) -> str:
        """Return a sentence about releases of other projects that are test sets because they have no splits."""
        pairs = (pair for report in self.leaks.values() for pair in report["pairs"])
        names = dict.fromkeys(pair["protected"] for pair in pairs if pair["protected"].endswith(WITHOUT_SPLITS))
        if not names:
            return ""
        of = " and ".join(name.removesuffix(WITHOUT_SPLITS) for name in names)
        return (
            f" They are in {of}. A release without splits counts as a test set in every project but its own: train in "
            "the project of that release, or on other instances."
        )


def _store(run: TrainingRun, part: WrittenPart) -> ExamplesFile:
    with part.path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        name = save_whole(f"{FOLDER}/{run.pk}/{digest}.jsonl", File(file))
    return ExamplesFile(name, digest, part.examples)


def _note_end(job: Job) -> None:
    error = job.error if job.state == JobState.FAILED else ""
    note_unprepared(run_id=job.arguments["run"], job=job, error=error, now=timezone.now())


TRAINING_DATA = Work(
    run=_prepare, trouble="The examples could not be prepared.", unit="items", minutes=60, ended=_note_end
)
