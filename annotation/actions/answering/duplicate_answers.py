"""Refuse an answer that somebody has already given about the same instance, in kinds whose answers must differ."""

from collections.abc import Iterable
from typing import Any

from annotation.errors import BadAnswer
from annotation.language import translate
from annotation.models import Decision, Response
from studies.kinds import Answer, get_kind


def reject_duplicate(kind: str, answer: Answer, others: Iterable[Any]) -> None:
    """Raise BadAnswer if `answer` equals one of `others`, and answers of this kind must differ."""
    about = get_kind(kind)
    form = about.duplicate_key(answer.value)
    if form and any(about.duplicate_key(value) == form for value in others):
        raise BadAnswer(translate(about.duplicate_message))


def lock_and_reject_duplicate(kind: str, answer: Answer, *, study: int, question: int, slot: int) -> None:
    """Raise BadAnswer if another slot about the same instance has the same answer, and answers must differ.

    Runs in the transaction that stores the answer: of two equal answers at the same moment, the second waits here and
    then finds the first. Answers that do not count, such as those of people who withdrew, are ignored.
    """
    if not get_kind(kind).duplicate_key(answer.value):
        return
    related = {"study": study, "question__instance__questions": question, "question__kind": kind}
    # In the order in which `answer_sql` locks them.
    list(Decision.objects.select_for_update(of=("self",), no_key=True).filter(**related).order_by("question_id"))
    others = Response.objects.counted().filter(**related).exclude(slot=slot)
    reject_duplicate(kind, answer, others.order_by().values_list("answer", flat=True))
