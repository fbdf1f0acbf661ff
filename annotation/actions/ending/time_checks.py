"""Compare the times claimed by browsers with the server's clock (docs/decisions/0062-the-servers-own-clock.md)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from analytics.work.answer_times import TimedAnswer, claimed_seconds, least_seconds, possible_seconds, time_evidence
from analytics.work.working_time import SentAnswer
from annotation.actions.answering import answer_sql
from annotation.models import Response, Session
from annotation.recruitment import invite
from annotation.recruitment.prolific import entry as prolific
from studies.actions.events import Actor, What, record
from studies.kinds import Kind, get_kind
from studies.models import Question

# Number of questions that a page holds: the current one and those prefetched.
QUESTIONS_HELD = 4
# An answer that took this long is slow enough for any question.
SLOW_SECONDS = 10.0


def check_times(*, session: Session) -> None:
    """Store the evidence against the times of an ended session, and the possible time of implausible answers.

    Reads the content of questions only if an answer came quickly. Repeating it is safe; it runs again after a late
    answer.
    """
    begun = session.first_question_at
    # Sessions of other providers replay published answers.
    is_person = session.provider in (invite.PROVIDER, prolific.PROVIDER)
    if begun is None or not is_person or not settings.CHECK_TIMES:
        return
    first = Response.objects.filter(session=session, version=1).order_by("received_at", "pk")
    rows = list(first.values_list("pk", "question_id", "received_at", "send_ms", "hidden_ms", "possible_ms"))
    sent = [SentAnswer(at, send_ms, hidden_ms) for _, _, at, send_ms, hidden_ms, _ in rows]
    possible = possible_seconds(begun, sent, held=QUESTIONS_HELD)
    changed = [
        (at_most, pk)
        for (pk, *_, known), answer, seconds in zip(rows, sent, possible, strict=True)
        if (at_most := _possible_ms(answer, seconds)) != known
    ]
    answer_sql.store_possible_times(changed)
    is_slow = all(seconds >= SLOW_SECONDS for seconds in possible)
    least = {} if is_slow else _least_seconds([question for _, question, *_ in rows])
    evidence = time_evidence(
        TimedAnswer(claimed_seconds(answer), seconds, least.get(question, 0.0))
        for (_, question, *_), answer, seconds in zip(rows, sent, possible, strict=True)
    )
    Session.objects.filter(pk=session.pk).update(time_evidence=asdict(evidence) if evidence else None)


def possible_so_far(measured: Mapping[str, Any], *, begun: datetime | None, now: datetime) -> int | None:
    """Return the milliseconds since the session began its questions, if a new answer claims more; else None.

    Costs no query. How much the other answers leave of this time is computed at the end, by `check_times`.
    """
    if begun is None or not settings.CHECK_TIMES:
        return None
    answer = SentAnswer(now, measured.get("send_ms"), measured.get("hidden_ms"))
    return _possible_ms(answer, max((now - begun).total_seconds(), 0.0))


def _possible_ms(answer: SentAnswer, possible: float) -> int | None:
    """Return the possible milliseconds if the browser claims more, else None."""
    claimed = claimed_seconds(answer)
    return None if claimed is None or claimed <= possible else round(possible * 1000)


def _least_seconds(questions: list[int]) -> dict[int, float]:
    """Return the minimum time of each question in seconds, for anybody who answers them in this order.

    It is the time for its texts, one option and all its images. The shortest option counts, because an annotator who
    sees the right text need not read the others. Nobody reads a text twice.
    """
    rows = Question.with_checks.filter(pk__in=questions).values_list("pk", "kind", "content")
    asked = {pk: (kind, content) for pk, kind, content in rows}
    found: dict[int, float] = {}
    read: set[str] = set()
    for pk in questions:
        kind, content = asked[pk]
        reading = reading_of(get_kind(kind), content)
        found[pk] = least_seconds(words=reading.count_new_words(read), pictures=reading.pictures)
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """What a question shows: its texts, the texts of its options, and the number of its images."""

    texts: frozenset[str]
    choices: frozenset[str]
    pictures: int

    def count_new_words(self, read: set[str]) -> int:
        """Return how many words somebody must read who has read `read`, to which its texts are added.

        These are its texts and its shortest option.
        """
        words = sum(len(text.split()) for text in self.texts - read)
        words += min((0 if text in read else len(text.split()) for text in self.choices), default=0)
        read |= self.texts | self.choices
        return words


def reading_of(kind: Kind, content: Mapping[str, Any]) -> Reading:
    shown, options = kind.question_content(content), kind.options(content)
    return Reading(
        texts=frozenset(text.text for text in shown.texts),
        choices=frozenset(option.text for option in options if option.text),
        pictures=len(shown.pictures) + sum(option.picture is not None for option in options),
    )


@transaction.atomic
def accept_times(*, session: Session, by: Actor, now: datetime) -> bool:
    """Accept a session's times despite the evidence, so that it is paid as usual; return whether they were in doubt."""
    doubted = Session.objects.filter(pk=session.pk, time_evidence__isnull=False, times_accepted_at=None)
    if not doubted.update(times_accepted_at=now):
        return False
    study = session.study
    record(project=study.project, study=study, what=What.TIMES_ACCEPTED, by=by, now=now, session=session.pk)
    return True
