"""What a launch would create, cost and tell: shown before a launch, and while a study is written."""

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.conf import settings

from analytics.intervals.expected_widths import approximate_width, expected_alpha
from analytics.work.pay import implied_hourly_pay, platform_fee, rewards
from annotation.actions.launching import launch
from annotation.minimum_pay import is_underpaid, is_unusually_high, minimum_hourly_pay
from results.queries.studies.overview import waiting_for_launch
from results.reports.expected_precision import Kind, PlannedStudy
from studies.actions.projects.roles import check_roles
from studies.actions.studies import Plan, preview_plan
from studies.design import Design
from studies.design.sentences import describe_questions
from studies.kinds import get_kind
from studies.models import Study

# An interval of fewer people says little, and its width follows no formula.
FEWEST_PEOPLE = 5
# "20 minutes", "20 min", "20 minutos", "20 Minuten"; of "20 to 30 minutes" both numbers.
_MINUTES = re.compile(r"(\d+)(?:\s*(?:-|–|to|a|bis)\s*(\d+))?\s*(?:min\b|minut)", re.IGNORECASE)


@dataclass(frozen=True)
class LaunchCost:
    """Cost and workload of a launch.

    people: sittings; fewer people if one may take several. minutes: of each sitting. hours: of all. Money is in
    `currency`, major units. fee: the platform's, None if people come without one.
    """

    currency: str
    rewards: Decimal
    fee: Decimal | None
    hourly: Decimal
    people: int
    minutes: int
    hours: float
    several: bool

    @property
    def all_minutes(self) -> int:
        return self.people * self.minutes

    @property
    def whole(self) -> Decimal:
        return self.rewards + (self.fee or 0)

    @property
    def least(self) -> Decimal | None:
        return minimum_hourly_pay(self.currency)

    @property
    def too_low(self) -> bool:
        return is_underpaid(self.currency, self.hourly)

    @property
    def too_high(self) -> bool:
        return is_unusually_high(self.hourly)


def launch_cost(design: Design, plan: Plan) -> LaunchCost:
    pay, minutes = design.pay, design.time.estimated_minutes
    # Answers to checks are paid too.
    checks = plan.seats * design.checks_per_survey
    paid = rewards(pay.per_session, pay.per_answer, seats=plan.seats, answers=plan.answers + checks)
    # For a study fed by another study, only a full survey is known in advance.
    each = Fraction(plan.answers + checks, plan.seats) if plan.seats else Fraction(design.surveys.size)
    return LaunchCost(
        currency=pay.currency,
        rewards=paid,
        fee=platform_fee(paid, settings.PLATFORM_FEE_PERCENT) if design.recruitment.prolific else None,
        hourly=implied_hourly_pay(pay.per_session, pay.per_answer, answers=each, minutes=minutes),
        people=plan.seats,
        minutes=minutes,
        hours=plan.seats * minutes / 60,
        several=design.recruitment.sessions_per_annotator != 1,
    )


def planned_study(design: Design, plan: Plan) -> PlannedStudy:
    kinds: dict[str, Kind] = {}
    for part in design.parts:
        kind, before = get_kind(part.kind), kinds.get(part.kind)
        each = len(kind.variants(part.ask)) + (before.each if before else 0)
        kinds[kind.name] = Kind(kind.name, each, kind.knows_right(part.ask))
    answers, each = design.answers, sum(kind.each for kind in kinds.values())
    return PlannedStudy(
        kinds=list(kinds.values()),
        people=plan.seats,
        instances=plan.questions // each,
        answers=answers,
        doubled=(plan.answers // answers - plan.questions) // each,
        has_more=design.instances.sample is not None,
    )


def launch_preview(study: Study, plan: Plan) -> dict[str, Any]:
    """Return what templates/workspace/_plan.html shows."""
    design = study.design
    return {
        "accepts": study.accepts,
        "question_sentences": list(describe_questions(design)),
        "plan": plan,
        "pay": design.pay,
        "outlay": launch_cost(design, plan),
        "fee_percent": settings.PLATFORM_FEE_PERCENT,
        "consent_minutes": consent_minutes(design),
    }


def preview_draft(study: Study) -> dict[str, Any]:
    """Return what a launch of a draft would create, cost and tell, and what prevents it. It need not be saved.

    Raises StudyError.
    """
    check_roles(study.project, study.design, study.fed_by)
    plan, unaskable = preview_plan(study) if study.fed_by is None else (launch.foresee(study), None)
    return launch_preview(study, plan) | {
        "precision": precision_sentence(study.design, plan),
        "fed_by": study.fed_by,
        "unaskable": unaskable,
        "waiting": waiting_for_launch(study) if unaskable else None,
        "project": study.project,
    }


def consent_minutes(design: Design) -> str:
    """Return the minutes that the consent page names, "" unless they differ from the estimate of the study."""
    named = [(int(found[1]), int(found[2] or found[1])) for found in _MINUTES.finditer(design.consent)]
    if not named or any(low <= design.time.estimated_minutes <= high for low, high in named):
        return ""
    low, high = named[0]
    return f"{low} to {high}" if high > low else str(low)


def precision_sentence(design: Design, plan: Plan) -> str:
    """Return how wide the interval of the human score, or else of agreement, will be, roughly; "" if none is known."""
    planned = planned_study(design, plan)
    if not planned.people or not planned.instances:
        return ""
    units = max(planned.scores().values(), default=0)
    if units and planned.people < FEWEST_PEOPLE:
        return f"Human score: fewer than {FEWEST_PEOPLE} people are too few for a useful interval."
    if units:
        width = approximate_width(planned.people, planned.each * units, planned.answers, per_instance=units)
        return f"Human score: 95 % interval of about ±{50 * width:.1f} points."
    instances, answers = planned.shared_counts
    if not instances:
        return "Agreement cannot be measured with one answer per question."
    found = expected_alpha(instances * max(kind.each for kind in planned.kinds), answers)
    return f"Agreement (alpha): 95 % interval of about ±{found.width / 2:.2f}." if found.width else str(found.reason)
