"""The answers of a study as flag rules read them, by a fixed number of queries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import OuterRef, Subquery

from analytics.flags import AnswerRecord, WritingRecord
from analytics.session_comparison import SentRecord
from analytics.work.answer_times import claimed_seconds, possible_seconds
from analytics.work.working_time import SentAnswer
from annotation.actions.ending.time_checks import QUESTIONS_HELD, Reading, reading_of
from annotation.check_results import checked_answers
from annotation.forms import PASTED, WRITING
from annotation.models import Response, Session
from annotation.recruitment import invite
from annotation.recruitment.prolific import entry as prolific
from annotation.simulation_ids import is_simulated
from studies.kinds import Kind, get_kind
from studies.models import Instance, Question, Study

CHUNK = 10_000


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question. shuffled: keys of the options at random places. options: how many are shown."""

    kind: Kind
    instance: int
    options: int
    shuffled: frozenset[str]
    reading: Reading
    shown_texts: Sequence[str]
    check: str


class _Timed(NamedTuple):
    """The times of an answer in seconds, as in `AnswerRecord`."""

    claimed: float | None
    possible: float | None
    hidden: float | None


_UNTIMED = _Timed(None, None, None)


def sent_records(study: Study) -> tuple[list[SentRecord], dict[int, list[str]]]:
    """Return the counted answers of `study` and those to checks, by session and in its order, and captions.

    The captions are those of the images that people wrote about, by question.
    """
    asked = _questions(study)
    sent = list(_sent_records(study, asked, _times(study)))
    return sent, _captions(study, asked, sent)


def _questions(study: Study) -> dict[int, _Asked]:
    rows = (
        Question.with_checks.filter(study=study)
        .order_by()
        .values_list("pk", "kind", "instance", "content", "check_type")
    )
    found = {}
    for pk, name, instance, content, check in rows.iterator(chunk_size=CHUNK):
        kind = get_kind(name)
        options, reading = kind.options(content), reading_of(kind, content)
        is_at_random = not kind.fixed_order(content)
        shuffled = frozenset(option.key for option in options if option.shuffled and is_at_random)
        texts = sorted(reading.texts | reading.choices) if kind.is_written else ()
        found[pk] = _Asked(kind, instance, len(options), shuffled, reading, texts, check)
    return found


def _times(study: Study) -> dict[tuple[int, int], _Timed]:
    """Return (session, question) -> the times of its first version, by the clock of each session of a person.

    Programs that simulate people answer at once, which says nothing about them.
    """
    people = Session.objects.filter(study=study, provider__in=(invite.PROVIDER, prolific.PROVIDER))
    begun = dict(people.exclude(is_simulated()).order_by().values_list("pk", "first_question_at"))
    first = Response.objects.filter(study=study, version=1).order_by("session", "received_at", "pk")
    rows = first.values_list("session", "question", "received_at", "send_ms", "hidden_ms")
    found: dict[tuple[int, int], _Timed] = {}
    for session, answers in groupby(rows.iterator(chunk_size=CHUNK), key=lambda row: row[0]):
        start = begun.get(session)
        if start is None:
            continue
        given = list(answers)
        sent = [SentAnswer(at, send_ms, hidden_ms) for _, _, at, send_ms, hidden_ms in given]
        possible = possible_seconds(start, sent, held=QUESTIONS_HELD)
        for (_, question, _, _, hidden_ms), answer, seconds in zip(given, sent, possible, strict=True):
            hidden = None if hidden_ms is None else hidden_ms / 1000
            found[session, question] = _Timed(claimed_seconds(answer), seconds, hidden)
    return found


def _sent_records(
    study: Study, asked: Mapping[int, _Asked], times: Mapping[tuple[int, int], _Timed]
) -> Iterator[SentRecord]:
    standing = Response.objects.standing().filter(study=study)
    passed = {each.response: each.passed for each in checked_answers(standing)}
    # In the order of the first versions: an edit does not move an answer to the end.
    first = Response.objects.filter(session=OuterRef("session"), question=OuterRef("question"), version=1)
    dated = standing.annotate(
        first_at=Subquery(first.values("received_at")), first_version=Subquery(first.values("pk"))
    )
    answers = dated.order_by("session", "first_at", "first_version", "pk")
    columns = ("pk", "session", "question", "choice", "answer", "shown_order", "received_at", "writing")
    before, number, read = 0, 0, set[str]()
    for pk, session, question, choice, answer, order, at, writing in answers.values_list(*columns).iterator(
        chunk_size=CHUNK
    ):
        if session != before:
            before, number, read = session, 0, set()
        number += 1
        about, time = asked[question], times.get((session, question), _UNTIMED)
        record = AnswerRecord(
            question=question,
            number=number,
            kind=about.kind.name,
            label=choice or None,
            place=_place(choice, order, about.shuffled),
            places=about.options,
            words=about.reading.count_new_words(read),
            pictures=about.reading.pictures,
            claimed_seconds=time.claimed,
            possible_seconds=time.possible,
            hidden_seconds=time.hidden,
            text=about.kind.answer_text(answer) if about.kind.is_written and answer is not None else "",
            shown_texts=about.shown_texts,
            writing=_writing(writing),
            check=about.check,
            is_right=passed.get(pk),
            shuffled=len(about.shuffled),
        )
        yield SentRecord(session, at, record)


def _place(choice: str, order: Sequence[str], shuffled: frozenset[str]) -> int | None:
    """Return the place of the chosen option among the shuffled ones, from 0."""
    if choice not in shuffled or choice not in order:
        return None
    return [key for key in order if key in shuffled].index(choice)


def _writing(measured: Mapping[str, Any] | None) -> WritingRecord | None:
    if measured is None:
        return None
    return WritingRecord(pasted=measured.get(PASTED, ()), **{name: measured.get(name) for name in WRITING})


def _captions(study: Study, asked: Mapping[int, _Asked], sent: Sequence[SentRecord]) -> dict[int, list[str]]:
    """Return question -> the captions of its instance, of questions that people wrote about."""
    about = {each.answer.question: asked[each.answer.question].instance for each in sent if each.answer.text}
    if not about:
        return {}
    rows = Instance.objects.filter(pk__in=study.questions.order_by().values("instance")).order_by()
    captions = {pk: [str(text) for text in found.values()] for pk, found in rows.values_list("pk", "captions")}
    return {question: captions.get(instance, []) for question, instance in about.items()}
