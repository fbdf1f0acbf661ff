"""Checks of the policies of a study file: each can act, and none contradicts another. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any

from analytics.work.pay import implied_hourly_pay, rewards
from studies.design.model import Design
from studies.design.parser import Path
from studies.design.quality_checks import MOST_CHECKS
from studies.policies import Act, Outline, get_policy
from studies.survey_plan import CannotPlan, PlannedSurvey, plan_surveys
from studies.wording import format_count, format_money

Findings = Iterator[tuple[Path, str]]


def check_repeats(listed: Sequence[Mapping[str, Any]]) -> Findings:
    """Yield each policy that is listed before: two bounds of one policy contradict each other."""
    names = [entry["policy"] for entry in listed]
    for number, (name, entry) in enumerate(zip(names, listed, strict=True)):
        if name in names[:number]:
            same = entry == listed[names.index(name)]
            yield (
                ("policies", number),
                f"The policy {name} is listed twice{'' if same else ', with two bounds that contradict each other'}. "
                "Keep one of them.",
            )


def check_policies(design: Design, surveys: Sequence[PlannedSurvey[Any]] | None = None) -> Findings:
    """Yield each policy that can never act in the study, or that another one prevents.

    surveys: those of a launch; by default as far as the study file tells, which it does for a sample.
    """
    if not design.policies:
        return
    outline = outline_study(design, _sample(design) if surveys is None else surveys)
    found = [*_find_impossible(design, outline)]
    yield from found or _find_prevented(design, outline)


def outline_study(design: Design, surveys: Sequence[PlannedSurvey[Any]] = ()) -> Outline:
    """Return what policies may know of a study with these surveys; none if they are unknown.

    Then the usual session has `surveys.size` questions, the shortest at least one, and the longest up to half as many
    more, because surveys are made even.
    """
    pay, gold = design.pay, design.checks and design.checks.gold
    each, size = design.questions_per_instance, design.surveys.size
    lengths = [each * len(survey.items) for survey in surveys] or [size]
    paid = [_with_checks(design, length) for length in lengths]
    seats = [survey.seats for survey in surveys] or [1]
    fewest = min(paid) if surveys else 1
    answers = sum(number * length for number, length in zip(seats, paid, strict=True))
    # Undecided questions get more answers later, up to `max_answers`.
    more = Fraction(design.max_answers, design.answers)
    sessions = ceil(sum(seats) * more)
    cost = rewards(pay.per_session, pay.per_answer, seats=sessions, answers=ceil(answers * more))
    return Outline(
        knows_right=design.knows_right,
        pays=bool(pay.per_session or pay.per_answer),
        pay=pay.per_session + fewest * pay.per_answer,
        paid_answers=fewest if pay.per_answer else 0,
        currency=pay.currency,
        hourly=implied_hourly_pay(
            pay.per_session,
            pay.per_answer,
            answers=Fraction(answers, sum(seats)),
            minutes=design.time.estimated_minutes,
        ),
        gold=gold.per_survey * each if gold else 0,
        answers=design.answers,
        longest=max(lengths) if surveys else size + size // 2,
        replaces=any(get_policy(entry.policy).act is Act.REPLACE for entry in design.policies),
        sessions=sessions if surveys else None,
        questions=design.known_per_instance * sum(len(survey.items) for survey in surveys) if surveys else None,
        cost=cost if surveys else None,
    )


def _with_checks(design: Design, length: int) -> int:
    """Return how many answers a session with so many questions has, with its checks."""
    return length + min(design.checks_per_survey, length // MOST_CHECKS)


def _sample(design: Design) -> Sequence[PlannedSurvey[int]]:
    """Return the surveys that a sample is divided into; none without a sample."""
    if design.instances.sample is None:
        return []
    with suppress(CannotPlan):
        return plan_surveys(
            range(design.instances.sample),
            size=max(1, design.surveys.size // design.questions_per_instance),
            answers=design.answers,
            double_seats=design.surveys.double_seats,
            seed="",
        )
    return []


def _find_impossible(design: Design, outline: Outline) -> Findings:
    """Yield each policy that can never act with these numbers."""
    for number, entry in enumerate(design.policies):
        policy = get_policy(entry.policy)
        found = [*policy.problems(entry.parameters, outline)]
        for name, sentence in found:
            yield ("policies", number, *([name] if name else [])), sentence
        needed = 0 if found else policy.least_sessions(entry.parameters, outline)
        if outline.sessions is not None and needed > outline.sessions and not outline.replaces:
            yield (
                ("policies", number),
                f"The policy {entry.policy} acts from {format_count(needed, 'finished session')} on, and the study has "
                f"at most {outline.sessions:,}. Lower what it needs, or leave it out.",
            )


def _find_prevented(design: Design, outline: Outline) -> Findings:
    """Yield each policy that needs more sessions than can be paid before `cost` pauses the study."""
    cost = next((each for each in design.policies if each.policy == "cost"), None)
    if cost is None or not outline.pay:
        return
    bound = Decimal(cost.parameters["cost_above"])
    # The session that crosses the bound is finished.
    affordable = int(bound // outline.pay) + 1
    for number, entry in enumerate(design.policies):
        needed = get_policy(entry.policy).least_sessions(entry.parameters, outline)
        if needed > affordable:
            yield (
                ("policies", number),
                f"The policies {entry.policy} and cost contradict each other: {entry.policy} acts from "
                f"{format_count(needed, 'finished session')} on, which cost at least "
                f"{format_money(needed * outline.pay, outline.currency)}, and cost pauses the study above "
                f"{format_money(bound, outline.currency)}. Change one of them.",
            )
