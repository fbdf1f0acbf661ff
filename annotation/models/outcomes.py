"""Outcomes of questions, items and instances as database queries; the rules are in `analytics.outcomes`.

A test compares the two for every possible question.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from analytics.outcomes import BEST_FIRST, DECIDING, WHOLE, Outcome, Progress
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
"""Decisions by the progress of their question."""


def question_is(outcome: Outcome, *, accepts: bool) -> Q:
    """Select the decisions with this outcome, in studies that accept or in those that do not."""
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
    """Return the instances with an item in `study` that has this outcome, unordered."""
    found = Instance.objects.filter(project=study.project_id).order_by()
    on_whole = _decisions_on_items(study, outcome, _earlier_outcomes(outcome, DECIDING)).filter(question__item=WHOLE)
    on_parts = _decisions_on_items(study, outcome, _earlier_outcomes(outcome, BEST_FIRST)).exclude(question__item=WHOLE)
    # Filter by decisions, which have an index on their study. A condition per instance of the project takes far longer.
    whole, part = (Q(pk__in=decisions.values("question__instance")) for decisions in (on_whole, on_parts))
    return found.filter(whole | part)


def count_items(study: Study) -> dict[Outcome, int]:
    """Return how many items of `study` have each outcome; outcomes without items are left out."""
    items = Decision.objects.filter(study=study).order_by().values("question__instance", "question__item")
    has = {outcome: f"has_{outcome.name}" for outcome in Outcome}
    items = items.annotate(
        **{name: Count("pk", filter=question_is(outcome, accepts=study.accepts)) for outcome, name in has.items()}
    )
    whole = Q(question__item=WHOLE)
    counted: dict[str, int] = items.aggregate(
        **{
            outcome.name: Count(
                name, filter=whole & _is_first(outcome, DECIDING, has) | ~whole & _is_first(outcome, BEST_FIRST, has)
            )
            for outcome, name in has.items()
        }
    )
    return {outcome: counted[outcome.name] for outcome in Outcome if counted[outcome.name]}


def _is_first(outcome: Outcome, order: Sequence[Outcome], has: Mapping[Outcome, str]) -> Q:
    """Select the items with a question of this outcome and none of an outcome before it in `order`."""
    others = {has[other]: 0 for other in _earlier_outcomes(outcome, order)}
    return Q(**{f"{has[outcome]}__gt": 0}, **others)


def accepted_decisions(study: Study) -> QuerySet[Decision]:
    """Return the decisions that make items of `study` accepted, unordered.

    For a whole instance these are the decisions on all its questions, for a part those that were accepted.
    """
    if not study.accepts:
        return Decision.objects.none()
    accepted = question_is(Outcome.ACCEPTED, accepts=True)
    found = Decision.objects.filter(accepted, study=study).order_by()
    if not study.design.asks_several:
        return found
    others = _decisions_on(study, question__instance=OuterRef("question__instance"), question__item=WHOLE)
    return found.exclude(Q(question__item=WHOLE) & Exists(others.exclude(accepted)))


def accepted_items(study: Study, *, except_in: Sequence[Study] = ()) -> QuerySet[Decision]:
    """Return the accepted items of `study`, one decision per item, unordered.

    It is the decision on the first question about a whole instance, or on the latest accepted attempt at a part.
    except_in: leaves out items that one of these studies accepted too.
    """
    items = _one_for_each(accepted_decisions(study), study, question_is(Outcome.ACCEPTED, accepts=True))
    for other in except_in:
        same = accepted_decisions(other).filter(
            question__instance=OuterRef("question__instance"), question__item=OuterRef("question__item")
        )
        items = items.exclude(Exists(same))
    return items


def _one_for_each(decisions: QuerySet[Decision], study: Study, is_so: Q) -> QuerySet[Decision]:
    """Keep one of `decisions` per item; `is_so` is the condition that all of them meet."""
    if not study.design.asks_several:
        return decisions
    of_item = _decisions_on(
        study, question__instance=OuterRef("question__instance"), question__item=OuterRef("question__item")
    ).filter(is_so)
    # Adding 0 prevents a range scan over all larger ids, which is slow.
    of_item = of_item.annotate(number=F("question_id") + 0)
    earlier = of_item.filter(number__lt=OuterRef("question_id"))
    later = of_item.filter(number__gt=OuterRef("question_id"))
    whole = Q(question__item=WHOLE)
    return decisions.exclude(whole & Exists(earlier)).exclude(~whole & Exists(later)).order_by()


def _decisions_on_items(study: Study, outcome: Outcome, before: Sequence[Outcome]) -> QuerySet[Decision]:
    """Return the decisions with this outcome on items of `study` that have no question of an outcome in `before`."""
    decisions = Decision.objects.filter(question_is(outcome, accepts=study.accepts), study=study).order_by()
    of_item = _decisions_on(
        study, question__instance=OuterRef("question__instance"), question__item=OuterRef("question__item")
    )
    for other in before:
        decisions = decisions.exclude(Exists(of_item.filter(question_is(other, accepts=study.accepts))))
    return decisions


def _decisions_on(study: Study, **about: Any) -> QuerySet[Decision]:
    # Filter by the question's study: filtering decisions by study would read all of them for every row.
    return Decision.objects.filter(question__study=study, **about).order_by()


def _earlier_outcomes(outcome: Outcome, order: Sequence[Outcome]) -> Sequence[Outcome]:
    return order[: order.index(outcome)] if outcome in order else order
