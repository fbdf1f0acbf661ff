"""Studies that were complete, and of which answers are awaited once more."""

from collections.abc import Collection, Iterable

from annotation.models import Slot
from studies.models import UNDER_WAY, Study


def await_answers(*, studies: Iterable[int]) -> None:
    """Let those of `studies` be complete no more that are under way, and may be found so anew."""
    complete = Study.objects.filter(pk__in=list(studies), state__in=UNDER_WAY, completed_at__isnull=False)
    complete.update(completed_at=None)


def await_what_is_open(*, questions: Collection[int]) -> None:
    """Let the studies be complete no more that have a place for an answer to one of `questions`."""
    open_slots = Slot.objects.filter(question__in=questions, question__undone_at=None, answered_at=None).order_by()
    await_answers(studies=open_slots.values_list("question__study", flat=True).distinct())
