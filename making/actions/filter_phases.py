"""The filters that candidates of a stage wait for, one after another, and what becomes of those that pass."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from django.conf import settings
from django.db import transaction

from background.errors import Failed
from background.work import RunningJob
from making.actions.batches import worker_is_done
from making.actions.progress import KEPT, phase_of, phases_of, read_after, step_of
from making.actions.stages import BATCH, StageRun, note_verdicts, run_stage, save_verdicts
from making.errors import CannotMake
from making.filters import Filter, ModelFilter, StageContext, StageFilter
from making.models import Candidate, KnownText, Pipeline
from making.pipeline_file import START, PipelineFile
from making.texts import digest_of_words
from predictions.actions.duplicates import open_small
from predictions.image_sets.embeddings import Embedding, Vectors
from predictions.image_sets.known_test_sets import known_texts
from predictions.queries.vectors import vectors_of
from predictions.scorers.batches import in_batches
from studies.models import Image

DIGESTS_AT_ONCE = 5_000


def run_phase(job: RunningJob, run: StageRun, phase: str) -> bool:
    """Run a phase of a stage; return False if it goes on when workers have answered."""
    _, _, part = phase.partition("/")
    if not part:
        if run.stage.maker.on_worker:
            return worker_is_done(job, run)
        run_stage(job, run)
    elif part == KEPT:
        with transaction.atomic():
            job.advance(step=step_of(job, phase))
            run.waiting().update(state=Candidate.State.KEPT)
    else:
        return _run_filter(job, run, int(part))
    return True


def _run_filter(job: RunningJob, run: StageRun, number: int) -> bool:
    _, judge = run.filters[number - 1]
    if isinstance(judge, ModelFilter):
        return worker_is_done(job, run, number)
    if isinstance(judge, StageFilter):
        _judge_stage(job, run, number, judge)
    elif isinstance(judge, Filter):
        _judge_batches(job, run, number, judge)
    return True


def _judge_batches(job: RunningJob, run: StageRun, number: int, judge: Filter) -> None:
    """Let a filter judge the candidates that wait, in batches."""
    name, _ = run.filters[number - 1]
    run.note_filter(number, judge.version)
    phase = phase_of(run.stage, number)
    waiting, after = run.waiting(), read_after(job, phase)
    while batch := list(waiting.filter(pk__gt=after).select_related("parent")[:BATCH]):
        run.judge_texts(name, judge, batch)
        after = batch[-1].pk
        with transaction.atomic():
            save_verdicts(batch)
            job.advance(step=step_of(job, phase, after))


def _judge_stage(job: RunningJob, run: StageRun, number: int, judge: StageFilter) -> None:
    """Let a filter judge all candidates that wait, at once and once."""
    name, _ = run.filters[number - 1]
    phases = phases_of(run.stage)
    following = phases[phases.index(phase_of(run.stage, number)) + 1]
    waiting = list(run.waiting().select_related("parent", "start"))
    starts = dict(run.pipeline.candidates.filter(stage=START).values_list("start_key", "text").iterator())
    job.show(f"{run.stage.name}: {name}", 0, len(waiting))
    try:
        found = judge.judge_stage(run.inputs(waiting, starts=starts), _context(run.pipeline))
    except CannotMake as error:
        raise Failed(f"The filter {name} of the stage {run.stage.name} cannot judge. {error}") from error
    with transaction.atomic():
        job.check()
        run.note_filter(number, judge.version, note=found.note)
        note_verdicts(name, waiting, found.verdicts)
        save_verdicts(waiting)
        if not found.stop:
            job.advance(step=step_of(job, following))
    if found.stop:
        raise Failed(found.stop)


def note_known_texts(job: RunningJob, pipeline: Pipeline, wanted: PipelineFile) -> None:
    """Note the words of the project's captions once, so that each batch asks only for its own texts."""
    reads = any(
        isinstance(each, Filter) and each.reads_known for stage in wanted.stages for _, each in stage.checked_filters
    )
    if pipeline.texts_known_at is not None or not reads:
        return
    digests = (digest_of_words(text) for text in _captions(pipeline))
    with transaction.atomic():
        job.check()
        for some in in_batches(digests, DIGESTS_AT_ONCE):
            rows = [KnownText(pipeline=pipeline, digest=digest) for digest in dict.fromkeys(some)]
            KnownText.objects.bulk_create(rows, ignore_conflicts=True)
        pipeline.texts_known_at = job.now()
        pipeline.save(update_fields=["texts_known_at"])


def _captions(pipeline: Pipeline) -> Iterator[str]:
    captions = pipeline.project.instances.values_list("captions", flat=True)
    return (text for each in captions.iterator() for text in each.values())


def _context(pipeline: Pipeline) -> StageContext:
    def known_vectors(embedding: Embedding) -> Iterator[tuple[Sequence[str], Vectors]]:
        images = Image.objects.filter(uses__instance__project=pipeline.project).distinct().order_by("pk")
        return vectors_of(images.values_list("pk", flat=True).iterator(), embedding)

    return StageContext(lambda: _captions(pipeline), _known_set, open_small, known_vectors)


def _known_set(name: str) -> Iterator[str]:
    """Yield the lines of NAME.txt in the folder of known test sets. Raises CannotMake."""
    folder = settings.KNOWN_SETS_DIR
    if not folder:
        raise CannotMake("The site has no folder of known test sets. Its operator sets KNOWN_SETS_DIR.")
    file = Path(folder) / f"{name}.txt"
    try:
        yield from known_texts(file)
    except (OSError, UnicodeDecodeError) as error:
        there = sorted(path.stem for path in Path(folder).glob("*.txt"))
        known = f"It has {', '.join(there)}." if there else "It has none."
        raise CannotMake(
            f"The site has no readable texts of a test set called {name}: {name}.txt in UTF-8, a text a line. {known}"
        ) from error
