"""Redact the texts of a person from questions that ask others about them, for good."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from annotation.actions.removing.withdraw_questions import withdraw_from
from annotation.models import Annotator, Response, Session, Slot
from annotation.models.responses import RESPONSE
from studies.kinds import AsksAboutAnswers, get_kind
from studies.models import Project, Question

BATCH = 500


def redact(*, annotator: Annotator, project: Project, now: datetime) -> None:
    """Remove what `annotator` wrote from all questions of `project`.

    Runs in a transaction in which nothing is drawn from the project's studies. The questions and their answers stay,
    but are undone and no longer asked. No response is changed. No session is locked: one with such a question answers
    it or continues without it (`withdraw_redacted`).
    """
    said = list(Response.objects.filter(annotator=annotator, study__project=project).values_list("pk", flat=True))
    while said:
        asked: list[int] = []
        for batch in _in_batches(said):
            made = Question.objects.filter(source_type=RESPONSE, source_id__in=batch).order_by("pk")
            asked += made.values_list("pk", flat=True)
        for batch in _in_batches(asked):
            _redact_questions(batch, now=now)
        # Questions about the answers to these questions may contain the same text.
        said = [
            pk
            for batch in _in_batches(asked)
            for pk in Response.objects.filter(question__in=batch).values_list("pk", flat=True)
        ]


def is_redacted(kind: str, content: Mapping[str, Any]) -> bool:
    """Whether the author of the text that a question asks about has withdrawn."""
    asking = get_kind(kind)
    return isinstance(asking, AsksAboutAnswers) and dict(asking.redact(content)) == dict(content)


def withdraw_redacted(session: Session) -> None:
    """Withdraw the redacted questions from `session`, which is locked."""
    mine = Slot.objects.filter(seat__session=session, annotator=session.annotator_id, answered_at=None)
    # Only undone questions can be redacted.
    for slot in mine.filter(question__undone_at__isnull=False).select_related("question"):
        if is_redacted(slot.question.kind, slot.question.content):
            withdraw_from(session, slot.question)


def _redact_questions(questions: list[int], *, now: datetime) -> None:
    found = list(Question.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=questions).order_by("pk"))
    for question in found:
        question.source = None
        if isinstance(kind := get_kind(question.kind), AsksAboutAnswers):
            question.content = dict(kind.redact(question.content))
        question.undone_at = question.undone_at or now
    Question.objects.bulk_update(found, ["source", "content", "undone_at"], batch_size=100)


def _in_batches(ids: list[int]) -> Iterator[list[int]]:
    """Yield `ids` in lists short enough for the parameter limit of databases."""
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]
