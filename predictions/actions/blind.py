"""Plan and score runs of fitted blind baselines; a chunk is one fold, or all folds.

Fitting needs the right answers, so only the site's own workers compute these runs. Otherwise they are like any other
run: planned once, stored once, and cancelled or resumed between chunks.

A baseline that sees a model's image embeddings also needs a worker with that model. Its first chunks hold only images.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage

from evaluation.blind.cases import Case, case_of, digest_of, merge_cases
from evaluation.blind.logistic_regression import FOLDS, STRENGTH, CannotFit, folds_of, scores_of_fold
from predictions.actions import store_scores, vectors
from predictions.actions.runs import RunQuestion, questions_of
from predictions.blind_baselines import NAME_WITH_VECTORS, FittedBaseline, fitted_baseline
from predictions.messages import Identity, ScoredQuestion
from predictions.models import PICTURE, Chunk, Run
from predictions.pictures import Pictures
from predictions.scorers import NoPicture
from predictions.scorers.batches import in_batches
from predictions.scoring import NO_VECTORS
from studies.actions.images import original_name
from studies.kinds import get_kind

CHANGED = "The questions or their right answers have changed since the run began. Run the baseline again."
# 800 vectors of 1,024 numbers make a message of about two megabytes.
MOST_PICTURES = 800


def begin(*, run_id: int, now: datetime) -> None:
    """Divide a run of a blind baseline into folds, if it is waiting for that."""
    if (waiting := _waiting_run(run_id)) is not None:
        store_scores.note_begun(run_id=run_id, chunk_id=0)
        _plan(*waiting, embedding=None, before=lambda cases: [], now=now)


def begin_with_vectors(*, run_id: int, answer: Mapping[str, Any], now: datetime) -> None:
    """Divide a run of a blind baseline that sees image embeddings into chunks, once a worker has loaded the model.

    First come chunks of images to embed, then one of all questions. Does nothing for a run that is not waiting for it.
    """
    if (waiting := _waiting_run(run_id)) is None:
        return
    if "error" in answer or not answer.get("embeds"):
        store_scores.plan(run_id=run_id, answer={"error": answer.get("error", NO_VECTORS)}, now=now)
        return
    embedding = {"identity": answer["identity"], "conditions": answer["conditions"]}

    def before(cases: Sequence[Case]) -> list[list[dict[str, Any]]]:
        names = dict.fromkeys(option for case in cases for option in case.options.values())
        known = vectors.stored_vectors(embedding, list(names))
        items = [{PICTURE: name} for name in names if name not in known]
        size = store_scores.per_chunk(float(answer["pictures_per_second"]), most=MOST_PICTURES)
        return list(in_batches(items, size))

    _plan(*waiting, embedding=embedding, before=before, now=now)


def _waiting_run(run_id: int) -> tuple[Run, FittedBaseline] | None:
    """Return a run that waits to be divided, with its baseline; None for any other."""
    run = Run.objects.select_related("project", "study").filter(pk=run_id, state=Run.State.LOADING).first()
    baseline = fitted_baseline(run.spec) if run is not None else None
    return (run, baseline) if run is not None and baseline is not None else None


def _plan(
    run: Run,
    baseline: FittedBaseline,
    *,
    embedding: dict[str, Any] | None,
    before: Callable[[Sequence[Case]], list[list[dict[str, Any]]]],
    now: datetime,
) -> None:
    cases = _cases(run, baseline)
    try:
        folds = dict(zip((case.name for case in cases), folds_of(cases) if cases else [], strict=True))
    except CannotFit as error:
        store_scores.plan(run_id=run.pk, answer={"error": str(error)}, now=now)
        return

    def divide(missing: Sequence[RunQuestion]) -> list[list[dict[str, Any]]]:
        if not missing:
            return []
        if baseline.at_once:
            return [*before(cases), store_scores.items_of(missing)]
        # A question added during the query has no fold. It is reported as changed when it is scored.
        by_fold = [[asked for asked in missing if folds.get(asked.hash, 0) == fold] for fold in range(FOLDS)]
        return [store_scores.items_of(fold) for fold in by_fold if fold]

    answer = {"identity": _identity(baseline, cases, embedding)}
    store_scores.plan(run_id=run.pk, answer=answer, now=now, divided=divide, embedding=embedding)


def score(*, chunk_id: int, now: datetime) -> None:
    """Score a chunk of a fitted blind baseline by cross-fitting, and store the scores.

    Each question is scored by a model fitted without its fold. Does nothing if the chunk is stored or deleted.
    """
    chunk = Chunk.objects.select_related("run__project", "run__study").filter(pk=chunk_id, stored_at=None).first()
    baseline = None if chunk is None else fitted_baseline(chunk.run.spec)
    if chunk is None or baseline is None:
        return
    store_scores.note_begun(run_id=chunk.run_id, chunk_id=chunk_id)
    answer = _score_chunk(chunk, baseline)
    store_scores.store(run_id=chunk.run_id, chunk_id=chunk_id, answer=answer, now=now)


def _score_chunk(chunk: Chunk, baseline: FittedBaseline) -> Mapping[str, Any]:
    cases, embedding = _cases(chunk.run, baseline), chunk.run.embedding
    identity = _identity(baseline, cases, embedding)
    if chunk.run.model is None or identity["weights"] != chunk.run.model.weights:
        return {"error": CHANGED}
    here = baseline.source(Pictures(_bytes, max_pixels=settings.IMAGE_MAX_PIXELS))
    features = baseline.features(here if embedding is None else vectors.kept_source(chunk.run, embedding))
    missing = features.missing(option for case in cases for option in case.options.values())
    results: list[ScoredQuestion] = []
    seen: list[tuple[Case, int]] = []
    for case, fold in zip(cases, folds_of(cases), strict=True):
        if gone := next((missing[option] for option in case.options.values() if option in missing), None):
            results.append(ScoredQuestion(content=case.name, error=str(gone)))
        else:
            seen.append((case, fold))
    known, folds = [case for case, _ in seen], [fold for _, fold in seen]
    wanted = {item["content"] for item in chunk.items}
    for fold in sorted({fold for case, fold in seen if case.name in wanted}):
        found = scores_of_fold(known, folds, fold, features)
        results += [ScoredQuestion(content=known[place].name, scores=scores) for place, scores in found.items()]
    conditions = {
        "blind_baseline": baseline.version,
        "folds": FOLDS,
        "strength": STRENGTH,
        "questions": len(cases),
        **features.conditions(),
        "libraries": {library: version(library) for library in ("numpy", "scipy", "scikit-learn", "Pillow")},
    }
    return {"identity": identity, "conditions": conditions, "results": results}


def _identity(baseline: FittedBaseline, cases: Sequence[Case], embedding: Mapping[str, Any] | None) -> Identity:
    """Return the identity of the fitted model, a hash of everything that it was fitted to.

    Other questions give another model, and so do vectors of another embedding model.
    """
    learnt = digest_of(cases)
    if embedding is None:
        return Identity(name=baseline.name, version=baseline.version, weights=learnt)
    seen = embedding["identity"]
    name = f"{NAME_WITH_VECTORS}, {' '.join(filter(None, (seen['name'], seen['version'])))}"
    both = hashlib.sha256(f"{learnt}|{vectors.space_of(embedding)}|{seen['weights']}".encode()).hexdigest()
    return Identity(name=name, version=baseline.version, weights=both)


def _cases(run: Run, baseline: FittedBaseline) -> list[Case]:
    """Return the questions of a run as the baseline sees them, each once."""
    found = (
        case_of(get_kind(each.kind), each.content, each.right, instance=each.instance, part=baseline.part)
        for each in questions_of(run)
        if isinstance(each, RunQuestion)
    )
    return merge_cases(case for case in found if case is not None)


def _bytes(sha256: str) -> bytes:
    try:
        with default_storage.open(original_name(sha256)) as file:
            content: bytes = file.read()
            return content
    except OSError as error:
        raise NoPicture(f"The image {sha256[:12]} cannot be read. Import it again.") from error
