"""Practice: questions with feedback before the survey; failing them all rounds long ends the session kindly."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from annotation.actions import sessions
from annotation.errors import BadAnswer
from annotation.models import PracticeAnswer, Session, SessionState
from studies.kinds import get_kind, posted_values, shown_order
from studies.models import PracticeQuestion


def order_for(*, session: Session, question: PracticeQuestion) -> list[str]:
    """Return the option keys in the order this annotator sees them in this round."""
    seed = f"{session.order_seed}|practice|{session.practice_round}"
    kind = get_kind(question.kind)
    return shown_order(kind, question.content, seed=seed, annotator=session.annotator_id, question=question.pk)


def next_question(*, session: Session) -> PracticeQuestion | None:
    """Return the practice question this session is at in its current round."""
    done = PracticeAnswer.objects.filter(session=session, round=session.practice_round)
    questions = PracticeQuestion.objects.filter(study=session.study_id)
    return questions.exclude(pk__in=done.values("practice_question")).first()


@transaction.atomic
def answer(*, session: Session, question: int, value: str, now: datetime) -> PracticeAnswer:
    """Store the answer to a practice question, and after the last one of a round go on, repeat or end.

    Sent twice, the first answer stands. Raises BadAnswer.
    """
    asked = PracticeQuestion.objects.filter(study=session.study_id, pk=question).first()
    if asked is None:
        raise BadAnswer(gettext("This practice question does not belong to this study. Reload the page to go on."))
    order = order_for(session=session, question=asked)
    by_value = posted_values(get_kind(asked.kind), asked.content, order)
    if value not in by_value:
        raise BadAnswer(gettext("Choose one of the options shown, then send again."))
    choice = by_value[value]
    stored, created = PracticeAnswer.objects.get_or_create(
        session=session,
        practice_question=asked,
        round=session.practice_round,
        defaults={"choice": choice, "is_right": choice == asked.right, "at": now},
    )
    if created and next_question(session=session) is None:
        _end_round(session=session, now=now)
    return stored


@transaction.atomic
def skip(*, session: Session, question: PracticeQuestion, now: datetime) -> None:
    """Go on without a practice question whose images cannot be shown. It counts neither for nor against anybody."""
    _, created = PracticeAnswer.objects.get_or_create(
        session=session,
        practice_question=question,
        round=session.practice_round,
        defaults={"choice": "", "is_right": False, "at": now},
    )
    if created and next_question(session=session) is None:
        _end_round(session=session, now=now)


def _end_round(*, session: Session, now: datetime) -> None:
    design = session.study.design["practice"]
    given = PracticeAnswer.objects.filter(session=session, round=session.practice_round)
    right, skipped = given.filter(is_right=True).count(), given.filter(choice="").count()
    if right + skipped >= design["pass"]:
        sessions.begin_work(session=session, now=now)
    elif session.practice_round < design["rounds"]:
        Session.objects.filter(pk=session.pk).update(practice_round=session.practice_round + 1)
        session.refresh_from_db()
    else:
        sessions.leave(session=session, to=SessionState.FAILED_CHECKS, now=now)
