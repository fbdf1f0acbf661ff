"""Rounds of practice; they belong to a study and an annotator, across sessions."""

from django.db.models import QuerySet

from annotation.models import Annotator, PracticeAnswer, Session, SessionState
from studies.models import PracticeQuestion, Study


def practice_answers(*, study: Study, annotator: Annotator) -> QuerySet[PracticeAnswer]:
    """Return all practice answers of `annotator` in `study`."""
    return PracticeAnswer.objects.filter(annotator=annotator, practice_question__study=study)


def has_passed(*, study: Study, annotator: Annotator) -> bool:
    """Whether the annotator has already reached the questions of `study`."""
    return Session.objects.filter(study=study, annotator=annotator).exclude(first_question_at=None).exists()


def is_required(*, study: Study, annotator: Annotator) -> bool:
    """Whether practice comes before the questions; it is passed once per study."""
    asks = PracticeQuestion.objects.filter(study=study).exists()
    return asks and not has_passed(study=study, annotator=annotator)


def has_failed(*, study: Study, annotator: Annotator) -> bool:
    return Session.objects.filter(study=study, annotator=annotator, state=SessionState.FAILED_CHECKS).exists()


def begun_rounds(*, study: Study, annotator: Annotator) -> set[int]:
    """Return the numbers of the rounds in which `annotator` has answered a question."""
    return set(practice_answers(study=study, annotator=annotator).order_by().values_list("round", flat=True).distinct())


def current_round(*, study: Study, annotator: Annotator) -> int:
    """Return the number of the unfinished round of `annotator`, or of a new one."""
    last = practice_answers(study=study, annotator=annotator).order_by("-at", "-pk").first()
    if last is None:
        return 1
    done = practice_answers(study=study, annotator=annotator).filter(round=last.round).count()
    if done < PracticeQuestion.objects.filter(study=study).count():
        return last.round
    return new_round(study=study, annotator=annotator)


def new_round(*, study: Study, annotator: Annotator) -> int:
    """Return the number of a new round for `annotator`."""
    return max(begun_rounds(study=study, annotator=annotator), default=0) + 1
