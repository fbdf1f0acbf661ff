"""Descriptions of image sets for exports, streamed: the accepted items of studies about descriptions.

A project without a declared dataset exports all imported descriptions, too.
"""

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import Any

from django.db.models import Count, QuerySet

from analytics.outcomes import WHOLE, Outcome
from annotation.models import Decision, Response
from annotation.models.outcomes import accepted_decisions, accepted_items, question_is
from annotation.models.responses import RESPONSE
from results.exporting.rows import DescribedImage
from results.queries.exports.task_names import question_name
from studies.actions.projects.datasets import dataset_studies, last_accepting
from studies.descriptions import (
    DESCRIPTION,
    TRAIN,
    TRAIN_WORKER,
    UNSEEN_WORKER,
    descriptions_of,
    role_of,
    source_description,
)
from studies.kinds import get_kind
from studies.models import Instance, InstanceImage, Project, Question, Study

CHUNK = 1000
# Ids of the instances to include (a query), None for all.
Among = QuerySet[Any] | None


@dataclass(frozen=True, slots=True)
class Text:
    """The description of an item.

    `target`: the position of its image in the set, from 0. `number`: its position among the imported descriptions of
    the set, from 1; None for one that a person wrote. `writer`: the annotator who wrote it.
    """

    text: str
    target: int
    number: int | None = None
    writer: int | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    """`imported`: the number of imported descriptions of the set. A written description has number 0 until numbered."""

    instance: int
    imported: int
    described: DescribedImage


def descriptions_of_studies(
    studies: Sequence[Study], workers: Mapping[int, str] | None = None, *, among: Among = None
) -> Iterator[DescribedImage]:
    """Yield the descriptions of the accepted items of `studies`, by set in import order.

    An item that several studies accepted belongs to the first. workers: annotator -> exported name of the writer.
    among: only these sets.
    """
    items = (accepted_items(study, except_in=studies[:n]) for n, study in enumerate(studies))
    yield from _by_set([_accepted_descriptions(each, workers or {}, among) for each in items])


def descriptions_of_project(project: Project) -> Iterator[DescribedImage]:
    """Yield the descriptions of the dataset of `project`, by set in import order.

    Without a declared dataset: all imported descriptions, whatever their outcome, and all that people wrote and the
    last studies of its pipelines accepted.
    """
    if declared := dataset_studies(project):
        yield from descriptions_of_studies(declared)
        return
    accepted = [_accepted_descriptions(accepted_decisions(study), {}, None) for study in last_accepting(project)]
    written = [(row for row in rows if not row.described.number) for rows in accepted]
    yield from _by_set([_imported_descriptions(project), *written])


def _by_set(streams: Iterable[Iterator[_Row]]) -> Iterator[DescribedImage]:
    """Merge the streams, each ordered by instance, and number the written descriptions."""
    rows = heapq.merge(*streams, key=lambda row: row.instance)
    for _, of_set in groupby(rows, key=lambda row: row.instance):
        written = 0
        for row in of_set:
            written += not row.described.number
            yield replace(row.described, number=row.described.number or row.imported + written)


def _imported_descriptions(project: Project) -> Iterator[_Row]:
    sets = Instance.objects.filter(project=project, captions__has_key=role_of(1)).order_by("pk")
    rows = sets.iterator(chunk_size=CHUNK)
    while chunk := list(islice(rows, CHUNK)):
        sizes = _set_sizes([instance.pk for instance in chunk])
        for instance in chunk:
            yield from _set_descriptions(instance, sizes.get(instance.pk, 1))


def _set_descriptions(instance: Instance, size: int, study: str = "") -> Iterator[_Row]:
    """Yield the imported descriptions of a set; `study` accepted the whole set, if any study did."""
    known = descriptions_of(instance.captions, instance.reference)
    for each in known:
        row = DescribedImage(instance.key, instance.split, each.number, each.text, each.target, each.author)
        row = replace(row, type=instance.type, paired=each.paired, study=study, set_size=size)
        row = replace(row, tags=each.tags, looked_for=each.looked_for)
        yield _Row(instance.pk, len(known), row)


def _accepted_descriptions(items: QuerySet[Decision], workers: Mapping[int, str], among: Among) -> Iterator[_Row]:
    """Yield the descriptions of accepted items by instance; for a whole set, the imported ones."""
    items = items if among is None else items.filter(question__instance__in=among)
    items = items.select_related("question__instance", "question__study").order_by("question__instance", "question")
    train_workers: set[int] | None = None
    rows = items.iterator(chunk_size=CHUNK)
    while chunk := list(islice(rows, CHUNK)):
        texts = texts_of(chunk)
        sizes = _set_sizes([decision.question.instance_id for decision in chunk])
        if texts and train_workers is None:
            train_workers = split_writers(TRAIN, project=chunk[0].question.study.project_id)
        for decision in chunk:
            question, size = decision.question, sizes.get(decision.question.instance_id, 1)
            if question.item == WHOLE:
                yield from _set_descriptions(question.instance, size, question.study.slug)
            elif said := texts.get(question.pk):
                yield _row(question, said, size, workers, train_workers or set())


def _row(question: Question, said: Text, size: int, workers: Mapping[int, str], train_workers: Collection[int]) -> _Row:
    instance = question.instance
    known = descriptions_of(instance.captions, instance.reference)
    shown = sum(1 for option in get_kind(question.kind).options(question.content) if option.picture)
    row = DescribedImage(
        instance.key,
        instance.split,
        said.number or 0,
        said.text,
        said.target,
        study=question.study.slug,
        task=question_name(question),
        # As many as the people who found it saw, even if the set changed since.
        set_size=shown or size,
        type=instance.type,
    )
    if said.writer is not None:
        author = author_of(said.writer, instance.split, train_workers)
        row = replace(row, author=author, worker=workers.get(said.writer, ""))
    for each in known:
        if each.number == said.number:
            row = replace(row, author=each.author, tags=each.tags, looked_for=each.looked_for, paired=each.paired)
    return _Row(instance.pk, len(known), row)


def texts_of(items: Sequence[Decision]) -> dict[int, Text]:
    """Return question id -> description of accepted items; `items` are read with their questions.

    If people were asked to describe: the latest description that others found or, if nobody was asked to find one, the
    latest. Items without a description are left out.
    """
    found: dict[int, Text] = {}
    sources: dict[int, int] = {}
    described: list[Question] = []
    for decision in items:
        question = decision.question
        if (said := source_description(question.source)) is None:
            described += [question] if get_kind(question.kind).asks_about_parts else []
        elif question.source_type == DESCRIPTION:
            found[question.pk] = Text(said.text, said.target, number=question.source_id)
        else:
            found[question.pk] = Text(said.text, said.target)
            sources[question.pk] = question.source_id
    writers = dict(Response.objects.filter(pk__in=sources.values()).values_list("pk", "annotator_id"))
    for pk, response in sources.items():
        found[pk] = replace(found[pk], writer=writers.get(response))
    return found | _written_descriptions(described)


def _written_descriptions(questions: Sequence[Question]) -> dict[int, Text]:
    """Return the exported description of each of `questions`, which asked for one."""
    if not questions:
        return {}
    by_id = {question.pk: question for question in questions}
    answers = list(Response.objects.counted().filter(question__in=by_id).order_by("pk"))
    ids = [answer.pk for answer in answers]
    asked = Decision.objects.filter(question__source_type=RESPONSE, question__source_id__in=ids)
    accepted = asked.filter(question_is(Outcome.ACCEPTED, accepts=True))
    passed = set(accepted.values_list("question__source_id", flat=True))
    found: dict[int, Text] = {}
    # The latest accepted one comes last.
    for answer in sorted(answers, key=lambda answer: (answer.pk in passed, answer.pk)):
        question = by_id[answer.question_id]
        handed = get_kind(question.kind).as_source(question.content, answer.whole_answer)
        if handed is not None and (said := source_description(handed)):
            found[question.pk] = Text(said.text, said.target, writer=answer.annotator_id)
    return found


def split_writers(split: str, *, project: int) -> set[int]:
    """Return the annotators whose counted descriptions, accepted or not, are about sets of a split."""
    asking = Study.objects.filter(project=project).exclude(fed_by=None).select_related("fed_by")
    collecting = [study.fed_by_id for study in asking if study.design.asks_about_answers]
    written = Response.objects.counted().filter(study__in=collecting, question__instance__split=split)
    return set(written.order_by().values_list("annotator_id", flat=True).distinct())


def author_of(writer: int, split: str, train_workers: Collection[int]) -> str:
    """Return whether a writer also wrote for the training split.

    "" for descriptions of the training split itself, and when the project collected none of it, so that it is unknown.
    """
    if split == TRAIN or not train_workers:
        return ""
    return TRAIN_WORKER if writer in train_workers else UNSEEN_WORKER


def _set_sizes(sets: Sequence[int]) -> dict[int, int]:
    """Return the number of images of each set, awaited ones included.

    Counts the role with the most images, as a study may name the role of its sets freely.
    """
    images = InstanceImage.objects.filter(instance__in=sets).order_by().values_list("instance_id", "role")
    found: dict[int, int] = {}
    for instance, _, n in images.annotate(n=Count("pk")):
        found[instance] = max(n, found.get(instance, 0))
    return found
