"""Bonuses of a study, by file or by rule: listed with their sum and fee first, then ordered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.actions.paying.order_payments import CannotPay, order_payments
from annotation.actions.paying.study_fee import StudyFee, study_fee
from results.actions.pseudonyms import name_annotators
from results.queries.paying.bonus_rules import (
    BadLine,
    PlannedBonus,
    plan_answers,
    plan_descriptions,
    plan_file,
    plan_floor,
    plan_waiting,
    read_amount,
)
from results.views.form_values import read_field
from results.views.guards import may_do, signed_in_user, study_view
from results.views.paying.review import tell_ordered
from studies.kinds import get_kind
from studies.models import Study
from studies.permissions import Verb

LARGEST_FILE = 500_000
# Rule -> what a researcher reads.
RULES = {
    "answers": "Pay per answer, from the study file",
    "waiting": "Pay for waiting, from the study file",
    "descriptions": "A bonus for each accepted description",
    "floor_platform": "Raise everybody to an hourly wage, by Prolific’s times",
    "floor_own": "Raise everybody to an hourly wage, by this site’s times",
    "file": "Bonuses from a file",
}


@dataclass
class Plan:
    """What a form asks for: the bonuses, the lines of a file that are wrong, or why there is no plan.

    text: of the file, to be sent again when it is confirmed.
    """

    rule: str
    fee_of: StudyFee
    bonuses: Sequence[PlannedBonus] = ()
    bad_lines: Sequence[BadLine] = ()
    problem: str = ""
    text: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return RULES.get(self.rule, "")

    @property
    def amount(self) -> Decimal:
        return sum((each.order.amount for each in self.bonuses), Decimal(0))

    @property
    def fee(self) -> Decimal:
        return self.fee_of.of(self.amount)

    @property
    def total(self) -> Decimal:
        return self.amount + self.fee

    @property
    def is_ready(self) -> bool:
        return bool(self.bonuses) and not self.bad_lines and not self.problem


@study_view(Verb.PAY)
@require_http_methods(["GET", "HEAD", "POST"])
def bonuses(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the forms; list what one of them asks for; order exactly what was listed."""
    name_annotators(project=study.project)
    plan = _plan(request, study) if request.method == "POST" else None
    if plan is not None and plan.is_ready and "sure" in request.POST:
        if request.POST["sure"] == _listed(plan):
            try:
                ordered = order_payments(
                    study=study,
                    orders=[each.order for each in plan.bonuses],
                    by=signed_in_user(request),
                    now=timezone.now(),
                )
            except CannotPay as error:
                plan.problem = str(error)
            else:
                tell_ordered(request, study, ordered)
                return redirect("study_bonuses", study.project.slug, study.slug)
        else:
            plan.problem = "The list has changed since you saw it. Check it again."
    context: dict[str, object] = {
        "study": study,
        "plan": plan,
        "rules": [each for each in RULES.items() if each[0] in _rules_for(study)],
        "typed": request.POST,
        "may": may_do(request, study.project),
    }
    if plan is not None:
        context["listed"] = _listed(plan)
    return render(request, "results/pay/bonuses.html", context, status=409 if plan and not plan.is_ready else 200)


def _rules_for(study: Study) -> set[str]:
    """Return the rules by which this study can owe something, but for files."""
    design = study.design
    has_descriptions = any(get_kind(part.kind).answers_are_sources for part in design.parts)
    possible = {
        "answers": design.pay.per_answer,
        "waiting": design.lobby.pay,
        "descriptions": has_descriptions,
        "floor_platform": True,
        "floor_own": True,
    }
    return {rule for rule, is_possible in possible.items() if is_possible}


def _listed(plan: Plan) -> str:
    """Return what tells this list from another one, also of the same sum."""
    orders = sorted(
        (each.order.session, each.order.reason, each.order.subject, each.order.amount) for each in plan.bonuses
    )
    return sha256(repr(orders).encode()).hexdigest()


def _plan(request: HttpRequest, study: Study) -> Plan:
    rule = request.POST.get("rule", "")
    plan = Plan(rule, study_fee(study), fields={"rule": rule, "amount": read_field(request.POST, "amount")})
    amount = read_amount(plan.fields["amount"])
    if rule == "answers":
        plan.bonuses = plan_answers(study)
    elif rule == "waiting":
        plan.bonuses = plan_waiting(study)
    elif rule == "file":
        _read_file(request, study, plan)
    elif rule not in RULES:
        plan.problem = "Choose what to pay."
    elif amount is None:
        plan.problem = "Enter an amount such as 1.50."
    elif rule == "descriptions":
        plan.bonuses = plan_descriptions(study, amount)
    else:
        plan.bonuses = plan_floor(study, amount, on_platform=rule == "floor_platform")
    if not plan.bonuses and not plan.bad_lines and not plan.problem:
        plan.problem = "No bonuses to order: nothing is due by this rule, or all of it was ordered before."
    return plan


def _read_file(request: HttpRequest, study: Study, plan: Plan) -> None:
    sent = request.FILES.get("file")
    try:
        text = sent.read(LARGEST_FILE + 1).decode("utf-8-sig") if sent else request.POST.get("text", "")
    except UnicodeDecodeError:
        plan.problem = "The file is not UTF-8 text. Save it as CSV in UTF-8."
        return
    if len(text) > LARGEST_FILE:
        plan.problem = "The file is larger than 500 KB. Split it."
        return
    plan.text = text.replace("\0", "")
    plan.bonuses, plan.bad_lines = plan_file(study, plan.text)
