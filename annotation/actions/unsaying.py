"""Taking what somebody said out of the questions that others are asked about it, for good."""

from collections.abc import Iterator
from datetime import datetime

from annotation.actions.sparing import spare_those_who_have
from annotation.models import Annotator, Response, Slot
from annotation.models.responses import RESPONSE
from studies.kinds import get_kind
from studies.models import Project, Question

BATCH = 500


def unsay(*, annotator: Annotator, project: Project, now: datetime) -> int:
    """Let no question of `project` hold what `annotator` said any more; return how many open sessions this ended.

    Runs in a transaction, in which nothing is drawn from the project's studies. The questions stay, with what others
    answered to them, but are undone and asked of nobody: whoever has one before them goes on without it. It takes no
    answer away: the person's own are left as they are.
    """
    ended = 0
    said = list(Response.objects.filter(annotator=annotator, study__project=project).values_list("pk", flat=True))
    while said:
        asked: list[int] = []
        for batch in _in_batches(said):
            made = Question.objects.filter(source_type=RESPONSE, source_id__in=batch).order_by("pk")
            asked += made.values_list("pk", flat=True)
        for batch in _in_batches(asked):
            held = Slot.objects.filter(question__in=batch, answered_at=None, annotator__isnull=False)
            for question in Question.objects.filter(pk__in=held.values("question")).order_by("pk"):
                ended += spare_those_who_have(question, now=now)
            _empty(batch, now=now)
        # What is asked about answers to these questions may hold what the questions held.
        said = [
            pk
            for batch in _in_batches(asked)
            for pk in Response.objects.filter(question__in=batch).values_list("pk", flat=True)
        ]
    return ended


def _empty(questions: list[int], *, now: datetime) -> None:
    found = list(Question.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=questions).order_by("pk"))
    for question in found:
        question.source = None
        question.content = dict(get_kind(question.kind).without_source(question.content))
        question.undone_at = question.undone_at or now
    Question.objects.bulk_update(found, ["source", "content", "undone_at"], batch_size=100)


def _in_batches(ids: list[int]) -> Iterator[list[int]]:
    """Yield `ids` in lists that are no longer than what databases take as terms of one statement."""
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]
