"""Texts that the questions of a study are about, and facts about their writers."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from annotation.models import Response
from annotation.models.responses import RESPONSE
from results.queries.exports.descriptions import author_of, descriptions_of_project, split_writers
from results.reports.facts import DescribedSets, DescriptionFacts, WrittenFacts
from studies.actions.questions import selected_instances
from studies.descriptions import DESCRIPTION, SET, TRAIN, descriptions_of, source_description
from studies.kinds import get_kind
from studies.models import Instance, Project, Question, Study

# Rows per fetch: each fetch is a round trip.
CHUNK = 1000


def described_sets(project: Project) -> dict[tuple[str, str], DescribedSets]:
    """Return the exported descriptions of `project`, imported and accepted, by split and type."""
    types = dict(Instance.objects.filter(project=project, images__role=SET).values_list("key", "type").distinct())
    if not types:
        return {}
    texts: dict[tuple[str, str], list[str]] = {}
    sets: dict[tuple[str, str], set[str]] = {}
    for row in descriptions_of_project(project):
        group = (row.split, types.get(row.key, ""))
        texts.setdefault(group, []).append(row.text)
        sets.setdefault(group, set()).add(row.key)
    return {group: DescribedSets(len(sets[group]), texts[group]) for group in sorted(texts)}


def was_pasted(writing: Mapping[str, Any] | None) -> bool | None:
    """Return whether letters were pasted into a text, from its writing record; None if that was not recorded.

    A paste without letters, of a picture for example, does not count. Only the first pastes of a text have a recorded
    length.
    """
    pastes, lengths = (writing or {}).get("pastes"), (writing or {}).get("pasted") or ()
    return None if pastes is None else pastes > len(lengths) or any(lengths)


def question_descriptions(study: Study) -> dict[int, DescriptionFacts]:
    """Return the description that each question of `study` asks about, by question id.

    Questions of other kinds in the study ask about no description, whatever their source.
    """
    if not study.design.asks_about_answers:
        return {}
    return dict(_imported_descriptions(study)) | dict(_written_descriptions(study))


def _derived_questions(study: Study, source: str) -> QuerySet[Question]:
    """Return the questions of `study` made from such a source and asking about it, in order."""
    kinds = [part.kind for part in study.design.parts if get_kind(part.kind).asks_about_answers]
    return Question.objects.filter(study=study, kind__in=kinds, source_type=source).order_by("pk")


def _imported_descriptions(study: Study) -> Iterator[tuple[int, DescriptionFacts]]:
    """Yield the imported descriptions that are asked about; each set is read once."""
    asked: dict[int, list[tuple[int, int]]] = {}
    questions = _derived_questions(study, DESCRIPTION)
    for pk, instance, number in questions.values_list("pk", "instance_id", "source_id").iterator(chunk_size=CHUNK):
        asked.setdefault(instance, []).append((pk, number))
    if not asked:
        return
    sets = Instance.objects.filter(questions__in=questions).order_by("pk").distinct()
    for instance, captions, reference in sets.values_list("pk", "captions", "reference").iterator(chunk_size=CHUNK):
        known = {each.number: each for each in descriptions_of(captions, reference)}
        for pk, number in asked[instance]:
            # A set may have lost a description since the question was asked.
            if (each := known.get(number)) is not None:
                yield pk, DescriptionFacts(each.text, None, each.author, tuple(each.tags), tuple(each.looked_for))


def _written_descriptions(study: Study) -> Iterator[tuple[int, DescriptionFacts]]:
    questions = _derived_questions(study, RESPONSE)
    asked_about = Response.objects.filter(pk__in=questions.order_by().values("source_id")).order_by()
    rows = asked_about.values_list("pk", "annotator_id", "writing")
    writers = {pk: (writer, writing) for pk, writer, writing in rows}
    if not writers:
        return
    train_workers = split_writers(TRAIN, project=study.project_id)
    asked = questions.values_list("pk", "source_id", "source", "instance__split")
    for pk, response, source, split in asked.iterator(chunk_size=CHUNK):
        said = source_description(source)
        if said is not None and response in writers:
            writer, writing = writers[response]
            author = author_of(writer, split, train_workers)
            yield pk, DescriptionFacts(said.text, writer, author, pasted=was_pasted(writing))


def written_for_study(study: Study) -> Mapping[str, WrittenFacts]:
    """Return the texts available to `study`, by type of the instances.

    Counted texts of its upstream study or, without one, the descriptions it was launched with.
    """
    if not study.design.asks_about_answers:
        return {}
    texts: Counter[str] = Counter()
    not_possible: Counter[str] = Counter()
    for type, is_text in _collected_descriptions(study, study.fed_by) if study.fed_by else _launch_descriptions(study):
        (texts if is_text else not_possible)[type] += 1
    return {type: WrittenFacts(texts[type], not_possible[type]) for type in sorted({*texts, *not_possible})}


def _collected_descriptions(study: Study, feeding: Study) -> Iterator[tuple[str, bool]]:
    chosen = selected_instances(study).order_by()
    given = Response.objects.counted_in(feeding).filter(question__instance__in=chosen).order_by("pk")
    about = ("question__instance__type", "question__kind", "question__content", "choice", "answer")
    for type, kind, content, label, answer in given.values_list(*about).iterator(chunk_size=CHUNK):
        handed = get_kind(kind).as_source(content, label if answer is None else answer)
        # Answers that others are not asked about are neither texts nor missing.
        if handed is None or source_description(handed) is not None:
            yield type, handed is not None


def _launch_descriptions(study: Study) -> Iterator[tuple[str, bool]]:
    asked = _derived_questions(study, DESCRIPTION).filter(taken_out_at=None)
    for type in asked.values_list("instance__type", flat=True).iterator(chunk_size=CHUNK):
        yield type, True
