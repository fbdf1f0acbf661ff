"""Request, plan, cancel and resume model runs, and select the messages due for workers. Pass the time in."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from predictions.actions.solvability import note
from predictions.blind_baselines import fitted_baseline, part_seen, problem_with
from predictions.errors import CannotPredict
from predictions.messages import Item
from predictions.models import PICTURE, Chunk, Prediction, Run, TrainedWeights
from predictions.scorers import problem_with_spec
from studies.actions.events import Actor, What, name_of, person, record
from studies.actions.questions import asked_by_kind
from studies.actions.studies import draft_questions
from studies.actions.table_statistics import refresh_statistics
from studies.errors import StudyError
from studies.kinds import KINDS, CannotAsk, content_hash, get_kind, matches, usual_ask
from studies.models import Instance, Project, Question, Study, StudyState

# A message without an answer for this long is sent again; its worker or broker lost it. Ten times the time of a chunk,
# and longer than any model takes to load.
LOST_AFTER = timedelta(minutes=10)
# Chunks sent at once: enough to keep several workers busy, few enough for a quick cancel.
WINDOW = 4
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=5), timedelta(minutes=5)
MOST_PAUSES = 16
NOT_WAITING = {"unreachable_since": None, "unreachable": "", "paused_until": None, "pauses": 0}
# A chunk that was begun this often without an answer may crash its workers, so it is not sent again.
MOST_BEGUN = 5
LOST_TOO_OFTEN = (
    f"A worker began this {MOST_BEGUN} times and was lost each time. Check its log; its machine may be short of memory."
)
BATCH = 500


@dataclass(frozen=True)
class RunQuestion:
    """A question for a model: its instance, its content, and the right option ("" if unknown).

    `question`: the id of the study's question, 0 for a kind without a study.
    """

    instance: int
    kind: str
    variant: str
    content: Mapping[str, Any]
    right: str
    question: int = 0

    @property
    def hash(self) -> str:
        return content_hash(get_kind(self.kind), self.content)


@dataclass(frozen=True)
class Due:
    """What to send to a worker now: load a model, or score chunks."""

    load: Run | None = None
    chunks: list[Chunk] = field(default_factory=list)


@transaction.atomic
def request_run(
    *,
    project: Project,
    spec: str,
    by: Actor,
    now: datetime,
    study: Study | None = None,
    kind: str = "",
    variant: str = "",
) -> Run:
    """Request a model's scores for the questions of `study`, or for those of `kind` about all instances.

    Returns the existing run if the same one has not ended. Raises CannotPredict.
    """
    _refuse(spec, study, kind, variant, now)
    wanted = {"project": project, "spec": spec.strip(), "study": study, "kind": kind, "variant": variant}
    same = Run.objects.unfinished().filter(**wanted)
    if (found := same.first()) is not None:
        return found
    run = Run.objects.create(**wanted, requested_by=person(by), by_name=name_of(by), requested_at=now)
    record(project=project, study=study, what=What.PREDICTIONS_REQUESTED, by=by, now=now, **_event_details(run))
    return run


def request_offered_run(
    *,
    project: Project,
    spec: str,
    by: Actor,
    now: datetime,
    study: Study | None = None,
    kind: str = "",
    variant: str = "",
) -> Run:
    """Call `request_run` for pages and scripts, with a model that this site offers. Raises CannotPredict."""
    offered = models_offered(project)
    if spec.strip() not in offered:
        named = f"does not offer the model {spec.strip()!r}" if spec.strip() else "needs the name of a model"
        raise CannotPredict(
            f"This site {named}. It offers {', '.join(offered) or 'none'}. Your administrator can offer others with "
            "MODELS_OFFERED, or run them on the server with `predict`."
        )
    return request_run(project=project, spec=spec, by=by, now=now, study=study, kind=kind, variant=variant)


def models_offered(project: Project) -> list[str]:
    """Return the models that pages and scripts may run: those of the site, and those trained on the project."""
    trained = TrainedWeights.objects.filter(project=project, deleted_at=None).values_list("spec", flat=True)
    return [*settings.MODELS_OFFERED, *trained]


def _refuse(spec: str, study: Study | None, kind: str, variant: str, now: datetime) -> None:
    if problem := problem_with_spec(spec) or problem_with(spec):
        raise CannotPredict(problem)
    longest = Run._meta.get_field("spec").max_length
    if longest is not None and len(spec) > longest:
        raise CannotPredict(f"The model's name has {len(spec):,} characters; at most {longest} fit.")
    if (study is None) == (not kind):
        raise CannotPredict("Name either a study or a kind of question.")
    if study is not None and study.state == StudyState.DRAFT:
        _refuse_draft(spec, study, now)
    if kind:
        if kind not in KINDS:
            raise CannotPredict(f"The kind {kind!r} is unknown. Use one of {', '.join(KINDS)}.")
        variants = get_kind(kind).variants(usual_ask(get_kind(kind)))
        if variant and variant not in variants:
            raise CannotPredict(f"{kind} has no variant {variant!r}. Use one of {', '.join(variants)}.")


def _refuse_draft(spec: str, study: Study, now: datetime) -> None:
    """Drafts accept blind baselines only, which their launch may depend on; other models wait for the launch."""
    if part_seen(spec) is None:
        raise CannotPredict(f"{study.slug} has no questions before it is launched.")
    if study.fed_by_id is not None and study.design.instances.sample is None:
        raise CannotPredict(
            f"{study.slug} gets its questions from another study after its launch, so there are none to answer yet."
        )
    try:
        next(draft_questions(study, (), now=now), None)
    except StudyError as error:
        raise CannotPredict(f"Models cannot answer {study.slug} yet. {error}") from error


@transaction.atomic
def cancel_run(*, run: Run, by: Actor, now: datetime) -> None:
    """Stop sending chunks of `run`; sent chunks are still stored. Raises CannotPredict if the run has ended."""
    stopped = Run.objects.unfinished().filter(pk=run.pk).update(state=Run.State.CANCELLED, finished_at=now)
    if not stopped:
        raise CannotPredict("This run has already ended, so there was nothing to cancel.")
    record(project=run.project, study=run.study, what=What.PREDICTIONS_CANCELLED, by=by, now=now, **_event_details(run))


@transaction.atomic
def resume_run(*, run: Run, by: Actor, now: datetime) -> None:
    """Resume a run that was cancelled, failed or skipped questions, for what is missing. Raises CannotPredict."""
    begun_anew = {"state": Run.State.LOADING, "error": "", "sent_at": None, "begun": 0, "finished_at": None}
    begun_anew |= NOT_WAITING
    over = Q(state__in=(Run.State.CANCELLED, Run.State.FAILED)) | Q(state=Run.State.DONE, wrong__gt=0)
    if not Run.objects.filter(over, pk=run.pk).update(**begun_anew):
        raise CannotPredict("There is nothing to resume: the run has not ended, or nothing is missing.")
    record(project=run.project, study=run.study, what=What.PREDICTIONS_RESUMED, by=by, now=now, **_event_details(run))


def _event_details(run: Run) -> dict[str, str]:
    return {"model": run.spec, "kind": f"{run.kind} {run.variant}".strip()}


@transaction.atomic
def due(*, run_id: int, now: datetime) -> Due:
    """Return what to send now, new or lost before, and record that it is sent.

    While the images are unreachable, nothing is sent until the pause is over; then one chunk is sent to try them.
    """
    run = lock(run_id)
    if run is None or not run.is_unfinished or (run.paused_until is not None and now < run.paused_until):
        return Due()
    if run.state == Run.State.LOADING:
        return _due_load(run, now)
    open_chunks = run.chunks.filter(stored_at=None).order_by("number")
    # Fitting needs the vectors of all images first.
    if run.embedding is not None and (of_pictures := open_chunks.of_pictures()).exists():
        open_chunks = of_pictures
    lost = list(open_chunks.filter(sent_at__lt=now - LOST_AFTER, begun__lt=MOST_BEGUN))
    _give_up(run, open_chunks.filter(sent_at__lt=now - LOST_AFTER, begun__gte=MOST_BEGUN), now)
    with_workers = open_chunks.filter(sent_at__isnull=False).count()
    window = WINDOW if run.unreachable_since is None else 1
    fresh = list(open_chunks.filter(sent_at=None)[: max(0, window - with_workers)])
    if fresh and fitted_baseline(run.spec) is not None and not fresh[0].pictures:
        # A run that the site computes itself must not occupy all of the site's workers.
        fresh = fresh[: max(0, 1 - with_workers)]
    Chunk.objects.filter(pk__in=[chunk.pk for chunk in lost + fresh]).update(sent_at=now)
    return Due(chunks=lost + fresh)


def _due_load(run: Run, now: datetime) -> Due:
    if run.sent_at is not None and run.sent_at >= now - LOST_AFTER:
        return Due()
    if run.begun >= MOST_BEGUN:
        fail(run, LOST_TOO_OFTEN, now)
        return Due()
    change(run, sent_at=now)
    return Due(load=run)


def change(row: Run | Chunk, **values: Any) -> None:
    """Set fields of a locked run."""
    for name, value in values.items():
        setattr(row, name, value)
    row.save(update_fields=list(values))


def pause(run: Run, why: str, now: datetime) -> None:
    """Record on a locked run that its images are unreachable, and when to try again.

    Chunks sent at the same time report it again during the same pause; they do not prolong it.
    """
    if run.paused_until is None or now >= run.paused_until:
        run.paused_until = now + min(FIRST_PAUSE * 2**run.pauses, LONGEST_PAUSE)
        run.pauses = min(run.pauses + 1, MOST_PAUSES)
    run.unreachable_since, run.unreachable = run.unreachable_since or now, why
    run.save(update_fields=list(NOT_WAITING))


def note_reachable(run: Run) -> None:
    """Record on a locked run that its images can be reached."""
    if run.unreachable_since is not None:
        change(run, **NOT_WAITING)


def _give_up(run: Run, chunks: QuerySet[Chunk], now: datetime) -> None:
    """Record on chunks that their workers were lost too often."""
    for chunk in chunks:
        if chunk.pictures:
            note_embedded(chunk, dict.fromkeys(chunk.pictures, LOST_TOO_OFTEN), now)
            continue
        change(chunk, problems=[LOST_TOO_OFTEN] * len(chunk.items), stored_at=now)
        change(run, wrong=run.wrong + len(chunk.items))
    finish_if_over(run, now)


def note_embedded(chunk: Chunk, missing: Mapping[str, str], now: datetime) -> None:
    """Record that a chunk of images is done, and why each of the `missing` images has no vector."""
    items = [{PICTURE: name} | ({"error": missing[name]} if name in missing else {}) for name in chunk.pictures]
    change(chunk, items=items, stored_at=now)


def lock(run_id: int) -> Run | None:
    """Lock a run until the end of the transaction and return it; None if it was deleted."""
    return Run.objects.select_for_update(of=("self",)).filter(pk=run_id).first()


def lock_open_chunk(run_id: int, chunk_id: int) -> Chunk | None:
    """Lock a chunk until the end of the transaction and return it; None if it is stored or was deleted."""
    return Chunk.objects.select_for_update().filter(pk=chunk_id, run=run_id, stored_at=None).first()


def fail(run: Run, error: str, now: datetime) -> None:
    """Record on a locked run why it failed."""
    change(run, state=Run.State.FAILED, error=error, finished_at=now)


def finish_if_over(run: Run, now: datetime) -> None:
    """Record on a locked run that it is done, if all of its chunks are stored."""
    if run.state != Run.State.RUNNING or run.chunks.filter(stored_at=None).exists():
        return
    change(run, state=Run.State.DONE, finished_at=now)
    told = {"model": str(run.model), "predictions": run.stored, "wrong": run.wrong}
    by = run.requested_by or run.by_name
    record(project=run.project, study=run.study, what=What.PREDICTIONS_COMPUTED, by=by, now=now, **told)
    note(run=run, now=now)
    refresh_statistics(Prediction)


def overdue_runs(*, now: datetime) -> QuerySet[Run]:
    """Return the runs with something to send, because a message or its sender was lost."""
    lost = Q(sent_at=None) | Q(sent_at__lt=now - LOST_AFTER)
    loading = Run.objects.filter(lost, state=Run.State.LOADING, requested_at__lt=now - timedelta(minutes=1))
    running = Run.objects.filter(
        Q(chunks__sent_at=None) | Q(chunks__sent_at__lt=now - LOST_AFTER),
        state=Run.State.RUNNING,
        chunks__stored_at=None,
    )
    return Run.objects.filter(Q(pk__in=loading.values("pk")) | Q(pk__in=running.values("pk"))).order_by("pk")


def questions_of(run: Run) -> Iterator[RunQuestion | str]:
    """Yield every question of a run, or a sentence for one that cannot be asked."""
    return _questions(run, run.project.instances.order_by("pk"), Question.objects.filter(study=run.study))


def _questions(
    run: Run, instances: QuerySet[Instance], asked: QuerySet[Question], of_draft: Collection[int] | None = None
) -> Iterator[RunQuestion | str]:
    """Yield the questions of a run: the study's, or those that the kind asks about `instances`.

    For a draft: its questions about the instances `of_draft` (None: all). For a launched study: its questions `asked`.
    """
    if run.study is None:
        for instance, built in asked_by_kind(get_kind(run.kind), instances):
            if isinstance(built, CannotAsk):
                yield str(built)
            elif run.variant in ("", built.variant):
                yield RunQuestion(instance.pk, run.kind, built.variant, built.content, built.right_option)
        return
    questions: Iterable[Question | CannotAsk]
    if run.study.state == StudyState.DRAFT:
        # One snapshot, however long the run takes.
        questions = draft_questions(run.study, of_draft, now=run.requested_at)
    else:
        questions = asked.filter(taken_out_at=None).order_by("instance_id", "pk").iterator(chunk_size=BATCH)
    for each in questions:
        if isinstance(each, CannotAsk):
            yield str(each)
        else:
            yield RunQuestion(each.instance_id, each.kind, each.variant, each.content, each.right, each.pk or 0)


def items_of(*, chunk: Chunk) -> list[Item]:
    """Return the message for a worker about a chunk: the current content of its questions, each once.

    Questions that were deleted or whose content has changed since the plan are skipped.
    """
    planned = {item["content"] for item in chunk.items}
    about = {item["instance"] for item in chunk.items}
    instances = Instance.objects.filter(pk__in=about).order_by("pk")
    asked_in = Question.objects.filter(pk__in=[item["question"] for item in chunk.items])
    questions = _questions(chunk.run, instances, asked_in, about)
    found = {asked.hash: asked for asked in questions if isinstance(asked, RunQuestion)}
    return [
        Item(
            content=content,
            matches={
                option: (match.text, match.picture)
                for option, match in matches(get_kind(asked.kind), asked.content).items()
            },
        )
        for content, asked in found.items()
        if content in planned
    ]
