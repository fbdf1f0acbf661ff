"""Review of a study's submissions: all that are unmarked at once, or one by one."""

from datetime import datetime
from decimal import Decimal
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.actions.paying.order_payments import (
    CannotPay,
    Order,
    OrderResult,
    cancel_payment,
    check_part,
    order_payments,
    order_rewards,
)
from annotation.actions.paying.study_fee import study_fee
from annotation.actions.paying.submission_decisions import RETURN_REASONS, ask_to_return, reject, undo_rejection
from annotation.models import Payment, Session, SessionState
from annotation.recruitment.prolific.statuses import SubmissionStatus
from annotation.rejection_rules import CATEGORIES, LEAST_CHARACTERS, Rejection, rejection_problems
from annotation.tasks import send_project_payments
from results.actions.pseudonyms import name_annotators
from results.queries.paying.bonus_rules import LONGEST_NOTE, read_amount
from results.queries.paying.review import ReviewedSession, ordered_at, review_of, reviewed_sessions
from results.queries.paying.switched_roles import reviewed_elsewhere
from results.queries.people.checks import failed_instructions
from results.views.form_values import LONGEST_NUMBER, read_field
from results.views.guards import may_do, signed_in_user, study_view
from studies.models import Study
from studies.permissions import Verb

Reason = Payment.Reason


@study_view(Verb.VIEW, post=Verb.PAY)
@require_http_methods(["GET", "HEAD", "POST"])
def review(request: HttpRequest, study: Study) -> HttpResponse:
    """Show who waits for review; approve those that the page listed without a mark."""
    if request.method == "POST":
        sessions = [int(pk) for pk in request.POST.getlist("session") if pk.isdecimal() and len(pk) < LONGEST_NUMBER]
        now = timezone.now()
        try:
            ordered = order_rewards(study=study, sessions=sessions, chosen=False, by=signed_in_user(request), now=now)
        except CannotPay as error:
            messages.error(request, str(error))
            return redirect("study_review", study.project.slug, study.slug)
        return _redirect_to_ordered(request, study, ordered, now)
    just = ordered_at(study, read_field(request.GET, "ordered"))
    if request.headers.get("HX-Request"):
        return render(request, "results/pay/_just_ordered.html", {"study": study, "just": just})
    name_annotators(project=study.project)
    found = review_of(study)
    fee = study_fee(study)
    context = {
        "study": study,
        "review": found,
        "elsewhere": reviewed_elsewhere(study),
        "just": just,
        "fee": fee,
        "fee_amount": fee.of(found.amount),
        "with_fee": found.amount + fee.of(found.amount),
        "may": may_do(request, study.project),
    }
    return render(request, "results/pay/review.html", context)


def _redirect_to_ordered(request: HttpRequest, study: Study, ordered: OrderResult, now: datetime) -> HttpResponse:
    """Have what was ordered sent, and lead to the page that follows it."""
    send_project_payments.delay_on_commit(study.project_id)
    if ordered.known:
        messages.info(
            request, "1 was ordered before." if ordered.known == 1 else f"{ordered.known:,} were ordered before."
        )
    page = reverse("study_review", args=[study.project.slug, study.slug])
    return redirect(f"{page}?{urlencode({'ordered': now.isoformat()})}" if ordered.made else page)


def tell_ordered(request: HttpRequest, study: Study, ordered: OrderResult) -> None:
    """Tell what was ordered, and have it sent."""
    messages.success(request, str(ordered))
    send_project_payments.delay_on_commit(study.project_id)


@study_view(Verb.VIEW, post=Verb.PAY)
@require_http_methods(["GET", "HEAD", "POST"])
def session(request: HttpRequest, study: Study, session: int) -> HttpResponse:
    """Show one submission with what can be done about it, and do it."""
    line = _find(study, session)
    if request.method != "POST":
        return _session_page(request, study, line)
    if request.POST.get("do") == "undo" and "sure" not in request.POST:
        return _session_page(request, study, line, is_undoing=True)
    try:
        if request.POST.get("do") == "bonus" and request.POST.get("sure") != request.POST.get("amount"):
            return _session_page(request, study, line, planned=_order(request, line, "bonus").amount)
        _do(request, study, line)
    except CannotPay as error:
        return _session_page(request, study, line, problem=str(error))
    return redirect("study_review_session", study.project.slug, study.slug, session)


def _do(request: HttpRequest, study: Study, line: ReviewedSession) -> None:
    """Do what a button of the page says. Raises CannotPay."""
    doing, by, now = request.POST.get("do", ""), signed_in_user(request), timezone.now()
    if doing == "approve":
        done = order_rewards(study=study, sessions=[line.pk], chosen=True, by=by, now=now)
    elif doing == "return":
        ask_to_return(submission=line.submission, reason=request.POST.get("reason", ""), by=by, now=now)
        messages.success(request, f"{line.name} was asked to return the submission.")
        return
    elif doing == "undo":
        is_paid = undo_rejection(submission=line.submission, by=by, now=now) == SubmissionStatus.APPROVED
        more = "The submission is approved on Prolific already." if is_paid else "Approve the submission to pay it."
        messages.success(request, f"The rejection of {line.name} is undone. {more}")
        return
    elif doing == "cancel":
        for payment in line.payments:
            if str(payment.pk) == request.POST.get("payment"):
                cancel_payment(payment=payment, by=by, now=now)
        messages.success(request, "The payment is cancelled.")
        return
    else:
        done = order_payments(study=study, orders=[_order(request, line, doing)], by=by, now=now)
    tell_ordered(request, study, done)


def _order(request: HttpRequest, line: ReviewedSession, doing: str) -> Order:
    """Return the order that a form of the page asks for. Raises CannotPay."""
    note = read_field(request.POST, "note")
    if len(note) > LONGEST_NOTE:
        raise CannotPay(f"The text may have at most {LONGEST_NOTE} characters. It has {len(note)}.")
    amount = read_amount(read_field(request.POST, "amount"))
    if doing not in {"part", "bonus"} or amount is None:
        raise CannotPay("Enter an amount such as 1.50.")
    if doing == "bonus":
        return Order(line.pk, Reason.DECIDED, amount, note=note)
    if not line.allows_parts or not line.awaits_review:
        raise CannotPay("Prolific does not allow part of the reward for this submission. Pay a bonus instead.")
    check_part(line.reward, amount)
    if not note:
        raise CannotPay("Write to the participant why you pay only a part.")
    return Order(line.pk, Reason.PART, amount, note=note)


def _find(study: Study, session: int) -> ReviewedSession:
    name_annotators(project=study.project)
    found = reviewed_sessions(study, session)
    if not found:
        raise Http404
    return found[0]


def _session_page(
    request: HttpRequest,
    study: Study,
    line: ReviewedSession,
    *,
    problem: str = "",
    planned: Decimal | None = None,
    is_undoing: bool = False,
) -> HttpResponse:
    """Show a session. problem: with what was typed. planned: the amount of a bonus in the preview."""
    fee = study_fee(study)
    context = {
        "study": study,
        "line": line,
        "fee": fee,
        "reward_with_fee": line.reward + fee.of(line.reward),
        "reasons": RETURN_REASONS,
        "problem": problem,
        "typed": request.POST,
        "is_second": planned is not None,
        "planned": planned,
        "is_undoing": is_undoing,
        "planned_with_fee": None if planned is None else planned + fee.of(planned),
        "may": may_do(request, study.project),
    }
    return render(request, "results/pay/session.html", context, status=409 if problem else 200)


@study_view(Verb.PAY)
@require_http_methods(["GET", "HEAD", "POST"])
def reject_session(request: HttpRequest, study: Study, session: int) -> HttpResponse:
    """Check a rejection against Prolific's rules, show it again, and send it when confirmed."""
    line = _find(study, session)
    problems, is_second = list[str](), False
    if request.method == "POST":
        wanted = _rejection(request, study, line)
        problems = rejection_problems(wanted)
        if not problems and "sure" in request.POST:
            try:
                reject(
                    submission=line.submission,
                    category=wanted.category,
                    message=wanted.message,
                    by=signed_in_user(request),
                    now=timezone.now(),
                )
            except CannotPay as error:
                problems = [str(error)]
            else:
                messages.success(request, f"The submission of {line.name} is rejected.")
                return redirect("study_review", study.project.slug, study.slug)
        is_second = not problems
    context = {
        "study": study,
        "line": line,
        "categories": CATEGORIES.items(),
        "chosen": CATEGORIES.get(request.POST.get("category", ""), ""),  # type: ignore[call-overload]
        "least": LEAST_CHARACTERS,
        "problems": problems,
        "instructions": failed_instructions(line.session),
        "typed": request.POST,
        "is_second": is_second,
        "may": may_do(request, study.project),
    }
    return render(request, "results/pay/reject.html", context, status=409 if problems else 200)


def _rejection(request: HttpRequest, study: Study, line: ReviewedSession) -> Rejection:
    worked_for = line.took_part.study_id if line.took_part else study.pk
    others = Session.objects.filter(study=worked_for, state=SessionState.FINISHED, ended_at__isnull=False)
    times = [
        (ended - arrived).total_seconds() for arrived, ended in others.values_list("arrived_at", "ended_at") if ended
    ]
    state, minutes = (line.session.state if line.session else ""), line.own_minutes
    return Rejection(
        category=request.POST.get("category", ""),
        message=read_field(request.POST, "message"),
        failed_checks=failed_instructions(line.session).failed,
        is_looked_at="looked" in request.POST,
        is_finished=state == SessionState.FINISHED,
        has_failed_practice=state == SessionState.FAILED_CHECKS,
        is_let_go=state in {SessionState.NO_CONSENT, SessionState.WAITED, SessionState.LEFT_OUT},
        answers=line.answers,
        marks=line.marks,
        seconds=None if minutes is None else float(Decimal(minutes) * 60),
        others=times,
    )
