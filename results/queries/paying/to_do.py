"""What waits for somebody who pays: submissions to review, payments to decide about, wages that are too low."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef

from annotation.actions.paying.order_payments import REWARDS, VOID
from annotation.models import Payment, Submission
from annotation.recruitment.prolific.statuses import SubmissionStatus
from results.queries.paying.wages import study_wages
from studies.actions.events import What
from studies.models import UNDER_WAY, Event, Study

State = Payment.State


@dataclass(frozen=True)
class MoneyToDo:
    """What waits, by study.

    reviews: submissions that await review. undecided: payments that are held or were refused. underpaid: studies.
    """

    reviews: dict[int, int]
    undecided: dict[int, int]
    underpaid: set[int]


def money_to_do(studies: Collection[int]) -> MoneyToDo:
    """Return what waits in these studies. Takes three queries, and more for each study that has had an alarm."""
    rewarded = Payment.objects.filter(session=OuterRef("session"), reason__in=REWARDS).exclude(state__in=VOID)
    awaiting = Submission.objects.filter(
        ~Exists(rewarded),
        prolific_study__study__in=studies,
        status=SubmissionStatus.AWAITING_REVIEW,
        session__isnull=False,
    )
    reviews = awaiting.order_by().values_list("prolific_study__study").annotate(n=Count("pk"))
    stuck = Payment.objects.filter(study__in=studies, state__in=(State.UNCERTAIN, State.REFUSED))
    undecided = stuck.order_by().values_list("study").annotate(n=Count("pk"))
    alarmed = Study.objects.filter(
        Exists(Event.objects.filter(study=OuterRef("pk"), what=What.STUDY_UNDERPAID)),
        pk__in=studies,
        state__in=UNDER_WAY,
    )
    # A bonus may have raised the wage since.
    underpaid = {study.pk for study in alarmed if study_wages(study).is_alarming}
    return MoneyToDo(dict(reviews), dict(undecided), underpaid)
