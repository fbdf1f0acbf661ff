"""Practice: questions with feedback before the survey; failing every round ends the session.

Only answers pass it. A question is skipped only if its image files are missing on the server, and then fewer right
answers are needed. If images fail in the browser only, the session ends without failing (docs/decisions/0013).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.utils.translation import gettext

from annotation.actions import sessions
from annotation.actions.answering import advance_session, practice_rounds
from annotation.actions.answering.responses import read_answer
from annotation.errors import BadAnswer
from annotation.models import PracticeAnswer, Session, SessionState
from studies.kinds import get_kind, shown_order
from studies.models import PracticeQuestion


class Terms(NamedTuple):
    """What the practice requires: `needed` right answers out of `questions`, 0 for none, in `rounds` tries."""

    questions: int
    needed: int
    rounds: int


class RoundResult(NamedTuple):
    """The result of a practice round: `right` of `shown` questions; `needed` right answers pass."""

    right: int
    shown: int
    needed: int

    @property
    def is_passed(self) -> bool:
        return self.right >= self.needed


def terms(*, session: Session) -> Terms | None:
    """Return what the practice requires; None if no practice is ahead."""
    if not practice_rounds.is_required(study=session.study, annotator=session.annotator):
        return None
    asked = session.study.design.practice
    return Terms(PracticeQuestion.objects.filter(study=session.study_id).count(), asked.needed, asked.rounds)


def previous_round(*, session: Session) -> RoundResult | None:
    """Return the result of the previous round; None in the first round."""
    done = practice_rounds.begun_rounds(study=session.study, annotator=session.annotator) - {session.practice_round}
    return _result(session=session, number=max(done)) if done else None


def completed_round(*, session: Session, given: PracticeAnswer) -> RoundResult | None:
    """Return the result of the round that `given` completed; None if questions of it are left."""
    mine = practice_rounds.practice_answers(study=session.study, annotator=session.annotator).filter(round=given.round)
    last = mine.order_by("-at", "-pk").first()
    if last != given or mine.count() < PracticeQuestion.objects.filter(study=session.study_id).count():
        return None
    return _result(session=session, number=given.round)


def _result(*, session: Session, number: int) -> RoundResult:
    study = session.study
    given = practice_rounds.practice_answers(study=study, annotator=session.annotator).filter(round=number)
    shown, missing = given.exclude(choice="").count(), given.filter(choice="").count()
    required = pass_mark(study.design.practice.needed, shown=shown, missing=missing)
    return RoundResult(given.filter(is_right=True).count(), shown, required)


def order_for(*, session: Session, question: PracticeQuestion, number: int | None = None) -> list[str]:
    """Return the option keys in the order shown to this annotator in the round `number`, by default the current one."""
    seed = f"{session.order_seed}|practice|{session.practice_round if number is None else number}"
    kind = get_kind(question.kind)
    return shown_order(kind, question.content, seed=seed, annotator=session.annotator_id, question=question.pk)


def next_question(*, session: Session) -> PracticeQuestion | None:
    """Return the current practice question of this round; None if none is left."""
    done = PracticeAnswer.objects.filter(annotator=session.annotator_id, round=session.practice_round)
    questions = PracticeQuestion.objects.filter(study=session.study_id)
    return questions.exclude(pk__in=done.values("practice_question")).first()


def round_number(*, session: Session) -> int:
    """Return the number of this round, from 1; rounds begun in an older session count."""
    begun = practice_rounds.begun_rounds(study=session.study, annotator=session.annotator) - {session.practice_round}
    return min(len(begun) + 1, session.study.design.practice.rounds)


@transaction.atomic
def answer(*, session: Session, question: int, posted: Mapping[str, str], now: datetime) -> PracticeAnswer:
    """Store the answer to a practice question; after the last one of a round, advance, repeat or end.

    If sent twice, the first answer stands. Raises BadAnswer.
    """
    session = _at_practice(session)
    asked = PracticeQuestion.objects.filter(study=session.study_id, pk=question).first()
    if asked is None:
        raise BadAnswer(gettext("This practice question does not belong to this study. Reload the page to continue."))
    order = order_for(session=session, question=asked)
    given = read_answer(asked.kind, asked.content, order, posted)
    return _store(session=session, question=asked, choice=given.label, now=now)


@transaction.atomic
def skip_question_without_images(*, session: Session, question: PracticeQuestion, now: datetime) -> None:
    """Skip a practice question whose image files are missing; it counts neither as right nor as wrong."""
    _store(session=_at_practice(session), question=question, choice="", now=now)


def _at_practice(session: Session) -> Session:
    """Return the current row of the session, locked, so that simultaneous answers are serialised. Raises BadAnswer."""
    locked = Session.objects.select_for_update(of=("self",)).select_related("study", "annotator").get(pk=session.pk)
    if locked.state != SessionState.PRACTICE:
        raise BadAnswer(gettext("Practice is over. Reload the page to continue."))
    return locked


def _store(*, session: Session, question: PracticeQuestion, choice: str, now: datetime) -> PracticeAnswer:
    stored, created = PracticeAnswer.objects.get_or_create(
        annotator=session.annotator,
        practice_question=question,
        round=session.practice_round,
        defaults={"session": session, "choice": choice, "is_right": choice == question.right, "at": now},
    )
    if created and next_question(session=session) is None:
        _end_round(session=session, now=now)
    return stored


def _end_round(*, session: Session, now: datetime) -> None:
    study, annotator = session.study, session.annotator
    if _result(session=session, number=session.practice_round).is_passed:
        advance_session.begin_work(session=session, now=now)
    elif len(practice_rounds.begun_rounds(study=study, annotator=annotator)) < study.design.practice.rounds:
        after = practice_rounds.new_round(study=study, annotator=annotator)
        Session.objects.filter(pk=session.pk).update(practice_round=after, last_seen_at=now)
    else:
        sessions.leave(session=session, to=SessionState.FAILED_CHECKS, now=now)


def pass_mark(wanted: int, *, shown: int, missing: int) -> int:
    """Return how many right answers pass a round: `wanted`, minus one for each question with missing images.

    At least 1 if something was wanted and a question was shown. Of 3 wanted with 1 missing: 2.
    """
    return max(wanted - missing, min(wanted, shown, 1))
