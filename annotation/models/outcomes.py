"""What has become of questions and instances, asked of the database: `analytics.outcomes`, as conditions on rows.

A test compares the two for every question there can be.
"""

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from analytics.outcomes import DECIDING, Outcome, Progress
from annotation.models.responses import Decision
from studies.models import Instance, Study

_COMPLETE = Q(answers__gt=0, answers__gte=F("question__answers_wanted"))
_UNDONE = Q(question__undone_at__isnull=False)
_UNDECIDED = Q(state=Decision.State.UNDECIDED)

is_at: dict[Progress, Q] = {
    Progress.UNANSWERED: Q(answers=0),
    Progress.OPEN: Q(answers__gt=0) & ~_COMPLETE,
    Progress.COMPLETE: _COMPLETE,
}
"""How far the answers to the question of a decision are."""


def question_is(outcome: Outcome, *, accepts: bool) -> Q:
    """Return what picks the decisions with that outcome, of a study that accepts, or of one that does not."""
    match outcome:
        case Outcome.UNDONE:
            return _UNDONE
        case Outcome.NONE_YET:
            return ~_UNDONE & _UNDECIDED & ~_COMPLETE
        case Outcome.CONFLICTING:
            return ~_UNDONE & _UNDECIDED & _COMPLETE
        case Outcome.AGREED:
            return Q(pk__in=[]) if accepts else ~_UNDONE & ~_UNDECIDED
        case Outcome.ACCEPTED | Outcome.REJECTED:
            return ~_UNDONE & Q(state=outcome.value) if accepts else Q(pk__in=[])


def instances_with(outcome: Outcome, study: Study) -> QuerySet[Instance]:
    """Return the instances that `study` asks about whose outcome there is `outcome`, in no order."""
    asked = Decision.objects.filter(study=study, question__instance=OuterRef("pk"))
    found = Instance.objects.filter(project=study.project_id).order_by()
    found = found.filter(Exists(asked.filter(question_is(outcome, accepts=study.accepts))))
    before = DECIDING[: DECIDING.index(outcome)] if outcome in DECIDING else DECIDING
    for other in before:
        found = found.exclude(Exists(asked.filter(question_is(other, accepts=study.accepts))))
    return found


def accepted_decisions(study: Study) -> QuerySet[Decision]:
    """Return the decisions about the instances that `study` accepted: all questions about each are. In no order."""
    if not study.accepts:
        return Decision.objects.none()
    # Asked of the questions and not of the decisions of the study, which databases would read whole for every one.
    others = Decision.objects.filter(question__study=study, question__instance=OuterRef("question__instance"))
    accepted = question_is(Outcome.ACCEPTED, accepts=True)
    return Decision.objects.filter(accepted, study=study).exclude(Exists(others.exclude(accepted))).order_by()
