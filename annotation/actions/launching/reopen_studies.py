"""Reopen complete studies that need answers again."""

from collections.abc import Collection, Iterable

from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.models import Slot
from studies.models import UNDER_WAY, Study


def reopen(*, studies: Iterable[int]) -> None:
    """Mark those of `studies` that are under way as incomplete. Runs in a transaction.

    It skips locked studies instead of waiting: an answer comes here with the decision of its question locked, and
    whoever holds the study may be waiting for that decision. Skipped studies are found by `reopen_with_open_slots`.
    """
    complete = Study.objects.filter(pk__in=list(studies), state__in=UNDER_WAY, completed_at__isnull=False)
    free = complete.select_for_update(of=("self",), no_key=True, skip_locked=True).order_by("pk")
    Study.objects.filter(pk__in=list(free.values_list("pk", flat=True))).update(completed_at=None)


@transaction.atomic
def reopen_with_open_slots() -> None:
    """Mark all complete studies with open slots as incomplete, such as those that `reopen` skipped."""
    complete = Study.objects.filter(state__in=UNDER_WAY, completed_at__isnull=False)
    still_open = Slot.objects.filter(
        seat__study=OuterRef("pk"), answered_at=None, question__undone_at=None, is_check=False
    )
    reopen(studies=complete.filter(Exists(still_open)).order_by("pk").values_list("pk", flat=True))


def reopen_asking(*, questions: Collection[int]) -> None:
    """Mark the studies with an open slot for one of `questions` as incomplete. No study waits for answers to checks."""
    asked = Slot.objects.ordinary().filter(question__in=questions, question__undone_at=None, answered_at=None)
    reopen(studies=asked.order_by().values_list("question__study", flat=True).distinct())
