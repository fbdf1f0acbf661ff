"""Store the answers of workers. An answer may come twice, late or after the run has ended; it is stored once."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from django.db import transaction
from django.db.models import F

from evaluation.blind.cases import case_of
from predictions.actions.mismatched_predictions import delete_mismatched
from predictions.actions.runs import (
    RunQuestion,
    change,
    fail,
    finish_if_over,
    lock,
    lock_open_chunk,
    note_reachable,
    pause,
    questions_of,
)
from predictions.blind_baselines import fitted_baseline, part_seen
from predictions.errors import MOST_PROBLEMS
from predictions.models import LONGEST, Chunk, Conditions, Model, Prediction, Run
from predictions.options import Options, is_right, options_of
from studies.kinds import get_kind, matches
from studies.models import Instance
from studies.wording import format_count

# Target duration of a chunk by the worker's own speed, without the time to fetch its images.
SECONDS_PER_CHUNK = 20
# Keeps a message below a megabyte or two.
MOST_PER_CHUNK = 2_000
BATCH = 2_000
# Divides questions into lists of chunk items, and names what to score first.
Divided = Callable[[Sequence[RunQuestion]], Sequence[Sequence[dict[str, Any]]]]
NOT_FOR_MODELS = "{count} of {kind} do not ask which text and image belong together, so models cannot answer them."
NOT_FOR_BLIND = (
    "{count} of {kind} cannot be answered by a blind baseline: the right option is unknown, or has nothing that the "
    "baseline sees."
)
CHANGED = "The question has changed or was deleted since the run began. Resume the run to score it again."
NOT_A_NUMBER = "The worker gave no finite score for two options or more. Check its log and the model's weights."
OTHER_WEIGHTS = (
    "The worker has other weights under this name than when the run began, so its scores are no longer stored. Resume "
    "the run to score the rest as another model."
)


@transaction.atomic
def note_begun(*, run_id: int, chunk_id: int) -> None:
    """Record that a worker has started a chunk or, without a chunk, to load the model."""
    if chunk_id:
        Chunk.objects.filter(pk=chunk_id, run=run_id, stored_at=None).update(begun=F("begun") + 1)
    else:
        Run.objects.filter(pk=run_id, state=Run.State.LOADING).update(begun=F("begun") + 1)


@transaction.atomic
def note_unreachable(*, run_id: int, chunk_id: int, why: str, now: datetime) -> timedelta | None:
    """Take back a chunk whose images are unreachable and pause its run; return the length of the pause.

    Returns None and does nothing if the chunk is stored or the run has ended.
    """
    run, chunk = lock(run_id), lock_open_chunk(run_id, chunk_id)
    if run is None or run.state != Run.State.RUNNING or chunk is None:
        return None
    # The worker is still there, so this attempt does not count.
    change(chunk, sent_at=None, begun=0)
    pause(run, why, now)
    return run.paused_until - now if run.paused_until is not None else None


def plan(
    *,
    run_id: int,
    answer: Mapping[str, Any],
    now: datetime,
    divided: Divided | None = None,
    embedding: dict[str, Any] | None = None,
) -> None:
    """Divide the missing questions of a run into chunks, sized by the worker's speed or as `divided` says.

    Called once a worker has said which model it has loaded. embedding: the model whose image embeddings the run sees,
    if any.
    """
    run = Run.objects.select_related("project", "study").filter(pk=run_id, state=Run.State.LOADING).first()
    if run is None:
        return
    if "error" in answer:
        with transaction.atomic():
            if (locked := lock(run_id)) is not None and locked.state == Run.State.LOADING:
                fail(locked, str(answer["error"]), now)
        return
    model = Model.objects.get_or_create_computed(run.project, now=now, **_shorten_names(answer["identity"]))
    missing, there, left_out = _missing_questions(run, model)
    chunks = _chunk_items(missing, float(answer["pictures_per_second"])) if divided is None else divided(missing)
    with transaction.atomic():
        locked = lock(run_id)
        if locked is None or locked.state != Run.State.LOADING:
            return
        # These chunks are from before the run was resumed; the new chunks include their open questions.
        locked.chunks.filter(stored_at=None).delete()
        last = locked.chunks.order_by("-number").values_list("number", flat=True).first() or 0
        Chunk.objects.bulk_create(
            Chunk(run=locked, number=number, items=list(chunk)) for number, chunk in enumerate(chunks, start=last + 1)
        )
        if locked.model != model:
            # The model row may have been deleted or replaced since, so count what is stored now.
            locked.stored = 0
        locked.model, locked.state, locked.started_at = model, Run.State.RUNNING, now
        locked.embedding = embedding
        locked.total, locked.wrong = locked.stored + len(missing), 0
        locked.already_there = there - locked.stored if there > locked.stored else 0
        locked.left_out, locked.why_left_out = sum(left_out.values()), list(left_out)[:MOST_PROBLEMS]
        locked.save()
        finish_if_over(locked, now)


def _can_be_asked(spec: str, asked: RunQuestion) -> bool:
    kind, part = get_kind(asked.kind), part_seen(spec)
    if part is not None and case_of(kind, asked.content, asked.right, instance=asked.instance, part=part) is None:
        return False
    return fitted_baseline(spec) is not None or bool(matches(kind, asked.content))


def _chunk_items(missing: Sequence[RunQuestion], pictures_per_second: float) -> Sequence[Sequence[dict[str, Any]]]:
    size = per_chunk(pictures_per_second / _pictures_per_question(missing))
    return [items_of(missing[start : start + size]) for start in range(0, len(missing), size)]


def per_chunk(per_second: float, *, most: int = MOST_PER_CHUNK) -> int:
    """Return the number of items per chunk for a worker that does `per_second` of them."""
    return max(1, min(most, int(per_second * SECONDS_PER_CHUNK)))


def items_of(questions: Sequence[RunQuestion]) -> list[dict[str, Any]]:
    """Return the references to the questions of a chunk."""
    return [
        {
            "instance": asked.instance,
            "kind": asked.kind,
            "variant": asked.variant,
            "content": asked.hash,
            "question": asked.question,
            "right": asked.right,
            "options": sorted(options_of(get_kind(asked.kind), asked.content).needed),
        }
        for asked in questions
    ]


def _shorten_names(identity: Mapping[str, str]) -> dict[str, str]:
    """Truncate a model's name, version and weights to the widths of their columns."""
    return {field: str(identity[field])[:longest] for field, longest in LONGEST.items()}


def _missing_questions(run: Run, model: Model) -> tuple[list[RunQuestion], int, Counter[str]]:
    """Return the questions that have no prediction yet, how many have one, and why others are left out -> how many."""
    known = set(
        model.predictions.counted()
        .order_by()
        .exclude(content_hash="")
        .values_list("instance_id", "kind", "variant", "content_hash")
    )
    missing: dict[tuple[int, str, str, str], RunQuestion] = {}
    there: set[tuple[int, str, str, str]] = set()
    left_out: Counter[str] = Counter()
    silent: Counter[str] = Counter()
    for asked in questions_of(run):
        if isinstance(asked, str):
            left_out[asked] += 1
            continue
        if not _can_be_asked(run.spec, asked):
            silent[asked.kind] += 1
            continue
        name = (asked.instance, asked.kind, asked.variant, asked.hash)
        if name in known:
            there.add(name)
        else:
            missing.setdefault(name, asked)
    sentence = NOT_FOR_MODELS if part_seen(run.spec) is None else NOT_FOR_BLIND
    for kind, count in silent.items():
        left_out[sentence.format(count=format_count(count, "question"), kind=kind)] += count
    return list(missing.values()), len(there), left_out


def _pictures_per_question(asked: Sequence[RunQuestion]) -> float:
    pictures = sum(len({m.picture for m in matches(get_kind(one.kind), one.content).values()}) for one in asked)
    return max(1.0, pictures / max(1, len(asked)))


@transaction.atomic
def store(*, run_id: int, chunk_id: int, answer: Mapping[str, Any], now: datetime) -> None:
    """Store the scores of a chunk once; a second answer changes nothing."""
    run, chunk = lock(run_id), lock_open_chunk(run_id, chunk_id)
    if run is None or run.model is None or chunk is None:
        return
    note_reachable(run)
    if "error" in answer:
        made, problems = 0, [str(answer["error"])] * len(chunk.items)
    elif _shorten_names(answer["identity"]) != run.model.identity:
        made, problems = 0, [OTHER_WEIGHTS] * len(chunk.items)
    else:
        made, problems = _store_scores(run, run.model, chunk, answer, now)
    change(chunk, stored=made, problems=problems, stored_at=now)
    change(run, stored=run.stored + made, wrong=run.wrong + len(problems))
    finish_if_over(run, now)


def _store_scores(
    run: Run, model: Model, chunk: Chunk, answer: Mapping[str, Any], now: datetime
) -> tuple[int, list[str]]:
    conditions = _conditions_by_content(answer, [item["content"] for item in chunk.items])
    said = {each["content"]: each for each in answer["results"]}
    instances = Instance.objects.in_bulk({item["instance"] for item in chunk.items})
    rows, problems = [], []
    for item in chunk.items:
        instance, result = instances.get(item["instance"]), said.get(item["content"])
        problem = _problem(result, item) if instance is not None else CHANGED
        if instance is None or result is None or problem:
            problems.append(f"{instance.key if instance else item['instance']}: {problem}")
            continue
        scores = {option: float(score) for option, score in result["scores"].items()}
        rows.append(
            Prediction(
                model=model,
                instance=instance,
                kind=item["kind"],
                variant=item["variant"],
                caption_rule=instance.caption_rule,
                content_hash=item["content"],
                scores=scores,
                is_right=is_right(scores, item["right"]),
                conditions=conditions[item["content"]],
                source_row=0,
                created_at=now,
            )
        )
    identities = ((row.instance_id, row.kind, row.variant, row.caption_rule, row.content_hash) for row in rows)
    delete_mismatched(model=model, replaced_by=identities)
    # Another run may have stored these predictions in the meantime; keep those.
    Prediction.objects.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)
    return len(rows), problems


def _problem(result: Mapping[str, Any] | None, item: Mapping[str, Any]) -> str:
    """Return why the worker's answer to a question has no usable scores, "" if it has."""
    if result is None:
        return CHANGED
    if "error" in result:
        return str(result["error"])
    scores = result.get("scores")
    if not isinstance(scores, dict) or len(scores) < 2 or not all(_is_number(score) for score in scores.values()):
        return NOT_A_NUMBER
    # Chunks planned by an earlier version do not list their options.
    asked = frozenset(item.get("options", scores))
    if problem := Options(asked, asked).problem(frozenset(scores)):
        return f"The worker did not answer the question: {problem}. Check that worker and site have the same version."
    return ""


def _is_number(score: Any) -> bool:
    return isinstance(score, int | float) and not isinstance(score, bool) and isfinite(score)


def _conditions_by_content(answer: Mapping[str, Any], contents: Sequence[str]) -> Mapping[str, Conditions]:
    """Return the conditions of each content's scores; scores computed again may have other conditions."""
    found = dict.fromkeys(contents, _conditions(answer["conditions"]))
    if "again" in answer:
        found |= dict.fromkeys(answer["again"]["contents"], _conditions(answer["again"]["conditions"]))
    return found


def _conditions(details: Mapping[str, Any]) -> Conditions:
    canonical = json.dumps(details, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return Conditions.objects.get_or_create(digest=digest, defaults={"details": dict(details)})[0]
