"""The descriptions of image sets that leave, streamed: those that came with an import, and after them those of the same
set that people wrote and others accepted.

A description that was written is accepted by what became of the questions that studies asked about it: one of them has
accepted it, and none has rejected it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from analytics.outcomes import Outcome, State
from annotation.models import Decision, Response
from annotation.models.outcomes import question_is
from annotation.models.responses import RESPONSE
from results.exporting.rows import DescribedImage
from results.queries.tasks import task_name
from studies.descriptions import (
    DESCRIPTION,
    TRAIN,
    TRAIN_WORKER,
    UNSEEN_WORKER,
    descriptions_of,
    handed_on,
    role_of,
)
from studies.kinds import get_kind
from studies.models import Instance, InstanceImage, Project, Question, Study, StudyState

CHUNK = 1000
# The instances that rows are about (a query for their ids), None for all.
Among = QuerySet[Any] | None


def descriptions_of_study(
    study: Study, workers: Mapping[int, str] | None = None, *, among: Among = None
) -> Iterator[DescribedImage]:
    """Yield the descriptions of the sets that `study` asks about, in the order of their import; `among`: of these.

    Those that were written for it, or that it asks about, as far as they are accepted; of imported ones those that it
    accepted where it asks about them, else all. workers: annotator -> the name that a writer leaves under.
    """
    asked = Question.objects.filter(study=study, instance=OuterRef("pk"))
    sets = Instance.objects.filter(Exists(asked), project=study.project_id)
    sets = sets if among is None else sets.filter(pk__in=among)
    chosen = study if study.accepts and _questions_about_imported([study]).exists() else None
    return _descriptions(sets, [study, *study.feeds.all()], chosen, workers or {})


def descriptions_of_project(project: Project) -> Iterator[DescribedImage]:
    """Yield the descriptions of all sets of `project`, in the order of their import: all that were imported, whatever
    became of them, and those that its studies accepted."""
    studies = Study.objects.filter(project=project).exclude(state=StudyState.DRAFT)
    return _descriptions(Instance.objects.filter(project=project), studies, None, {})


def written_for(split: str, *, project: int) -> set[int]:
    """Return the annotators who wrote descriptions, accepted or not, for the sets of a split, as far as their answers
    count."""
    asking = Study.objects.filter(project=project).exclude(fed_by=None).select_related("fed_by")
    collecting = [study.fed_by_id for study in asking if study.design.asks_about_answers]
    written = Response.objects.counted().filter(study__in=collecting, question__instance__split=split)
    return set(written.order_by().values_list("annotator_id", flat=True).distinct())


def _questions_about_imported(studies: Collection[Study]) -> QuerySet[Question]:
    return Question.objects.filter(study__in=studies, source_type=DESCRIPTION)


def _descriptions(
    sets: QuerySet[Instance], studies: Collection[Study], chosen: Study | None, workers: Mapping[int, str]
) -> Iterator[DescribedImage]:
    """Yield the descriptions of `sets`; `chosen`: the study whose acceptance the imported ones need."""
    deciding = [study for study in studies if study.accepts]
    about_written = Question.objects.filter(study__in=deciding, source_type=RESPONSE, instance=OuterRef("pk"))
    described = sets.filter(Q(captions__has_key=role_of(1)) | Exists(about_written)).order_by("id")
    rows = described.values_list("pk", "key", "split", "captions", "reference").iterator(chunk_size=CHUNK)
    train_workers: set[int] | None = None
    while chunk := list(islice(rows, CHUNK)):
        ids = [pk for pk, *_ in chunk]
        written = _written(ids, deciding)
        accepted = _accepted_of_import(ids, chosen) if chosen else {}
        sizes = _set_sizes(ids)
        if written and train_workers is None:
            train_workers = written_for(TRAIN, project=deciding[0].project_id)
        for pk, key, split, captions, reference in chunk:
            imported = descriptions_of(captions, reference)
            for each in imported:
                task = accepted.get((pk, each.number), "")
                if task or chosen is None:
                    row = DescribedImage(key, split, each.number, each.text, each.target, each.author)
                    yield replace(
                        row,
                        tags=each.tags,
                        looked_for=each.looked_for,
                        study=chosen.slug if chosen else "",
                        task=task,
                        set_size=sizes.get(pk, 1),
                    )
            for number, (row, writer) in enumerate(written.get(pk, ()), start=len(imported) + 1):
                author = author_of(writer, split, train_workers or set())
                yield replace(row, key=key, split=split, number=number, author=author, worker=workers.get(writer, ""))


def author_of(writer: int, split: str, train_workers: Collection[int]) -> str:
    """Return whether a writer also wrote for the training split; "" for what stands in it, and where the project has
    collected none of it, so that nobody knows."""
    if split == TRAIN or not train_workers:
        return ""
    return TRAIN_WORKER if writer in train_workers else UNSEEN_WORKER


def _set_sizes(sets: Sequence[int]) -> dict[int, int]:
    """Return how many images each of `sets` has, those that are still awaited among them: in the role that has most,
    since a study may call the role of its sets as it likes."""
    images = InstanceImage.objects.filter(instance__in=sets).order_by().values_list("instance_id", "role")
    found: dict[int, int] = {}
    for instance, _, n in images.annotate(n=Count("pk")):
        found[instance] = max(n, found.get(instance, 0))
    return found


_FIELDS = (
    "question__instance_id",
    "question__source_id",
    "question__source",
    "question__kind",
    "question__variant",
    "question__instance__key",
    "state",
)


def _written(sets: Sequence[int], deciding: Collection[Study]) -> dict[int, list[tuple[DescribedImage, int]]]:
    """Return the accepted descriptions that were written of each of `sets`, in the order in which they came, each with
    its writer; without what only its set and its place there tell."""
    by_id = {study.pk: study for study in deciding}
    decided = Decision.objects.filter(study__in=by_id, question__instance__in=sets, question__source_type=RESPONSE)
    decided = decided.filter(_is(Outcome.ACCEPTED) | _is(Outcome.REJECTED)).order_by("question_id")
    rejected: set[int] = set()
    accepted: dict[int, tuple[int, DescribedImage]] = {}
    rows = decided.values_list("study_id", *_FIELDS, "question__content").iterator(chunk_size=CHUNK)
    for study, instance, response, source, kind, variant, key, state, content in rows:
        said = handed_on(source)
        if state == State.REJECTED:
            rejected.add(response)
        elif said is not None and response not in accepted:
            task = task_name(by_id[study], key, kind, variant, source=(RESPONSE, response))
            images = sum(1 for option in get_kind(kind).options(content) if option.picture)
            row = DescribedImage(key, "", 0, said.text, said.target, study=by_id[study].slug, task=task)
            row = replace(row, set_size=max(1, images))
            accepted[response] = (instance, row)
    kept = sorted(set(accepted) - rejected)
    writers = dict(Response.objects.counted().filter(pk__in=kept).values_list("pk", "annotator_id"))
    found: dict[int, list[tuple[DescribedImage, int]]] = {}
    for response in kept:
        if response in writers:
            instance, row = accepted[response]
            found.setdefault(instance, []).append((row, writers[response]))
    return found


def _accepted_of_import(sets: Sequence[int], chosen: Study) -> dict[tuple[int, int], str]:
    """Return which question accepted the imported descriptions of `sets` that a study accepted, by set and number."""
    decided = Decision.objects.filter(_is(Outcome.ACCEPTED), study=chosen, question__instance__in=sets)
    rows = decided.filter(question__source_type=DESCRIPTION).values_list(*_FIELDS)
    return {
        (instance, number): task_name(chosen, key, kind, variant, source=(DESCRIPTION, number))
        for instance, number, _, kind, variant, key, _ in rows
    }


def _is(outcome: Outcome) -> Q:
    return question_is(outcome, accepts=True)
