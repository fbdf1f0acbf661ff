"""Money of a project: its ledger, the statement, the comparison with Prolific, and decisions about single payments."""

import csv
import io
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analytics.work.ledger import from_cents, in_cents, shown_payments
from annotation.actions.paying.compare_with_platform import last_result, latest_check, request_check
from annotation.actions.paying.order_payments import BONUSES, CannotPay, cancel_payment
from annotation.actions.paying.paid_elsewhere import note_amount, note_rewards
from annotation.actions.paying.payment_decisions import (
    held_batch,
    note_paid,
    note_unpaid,
    read_batch,
    send_refused,
    shown_on_prolific,
)
from annotation.actions.recruiting.prolific_account import NOT_CONNECTED
from annotation.models import Payment, ProlificAccount, Submission
from annotation.tasks import send_project_payments
from background.models import JobState
from background.tasks import send
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.queries.paying.bonus_rules import read_amount
from results.queries.paying.ledger_rows import (
    COLUMNS,
    Filters,
    ledger,
    ledger_page,
    months,
    statement,
    sums_by_state,
)
from results.queries.paying.study_money import unsettled_numbers
from results.queries.paying.wages import project_wages
from results.sentences import STATE_WORDS
from results.views.form_values import LONGEST_NUMBER, read_field
from results.views.guards import may_do, project_view, signed_in_user
from studies.models import Project
from studies.permissions import Verb

State = Payment.State


@project_view(Verb.VIEW)
@require_safe
def money(request: HttpRequest, project: Project) -> HttpResponse:
    """Show the payments of a project, filtered."""
    name_annotators(project=project)
    filters = _filters(request)
    rows = ledger(project, filters)
    context = {
        "project": project,
        "filters": filters,
        "query": _query(request),
        "payments": ledger_page(rows, request.GET.get("page")),
        "sums": sums_by_state(rows),
        "states": STATE_WORDS.items(),
        "studies": project.studies.filter(launched_at__isnull=False).order_by("slug").values_list("slug", flat=True),
        "months": months(project),
        "numbers": unsettled_numbers(project),
        "wages": project_wages(project),
        "may": may_do(request, project),
    }
    return render(request, "results/pay/money.html", context)


@project_view(Verb.VIEW)
@require_safe
def statement_csv(request: HttpRequest, project: Project) -> HttpResponse:
    """Return the payments of a month, or all that are selected, as CSV."""
    name_annotators(project=project)
    filters = _filters(request)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(statement(ledger(project, filters)))
    name = "-".join(filter(None, (project.slug, "payments", filters.month)))
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8", headers=headers)


def _filters(request: HttpRequest) -> Filters:
    return Filters(**{name: read_field(request.GET, name) for name in ("state", "study", "person", "month")})


def _query(request: HttpRequest) -> str:
    query = request.GET.copy()
    query.pop("page", None)
    return query.urlencode()


@project_view(Verb.PAY)
@require_http_methods(["GET", "HEAD", "POST"])
def comparison(request: HttpRequest, project: Project) -> HttpResponse:
    """Show how the ledger differs from Prolific; a POST compares them again."""
    if request.method == "POST":
        if not ProlificAccount.objects.filter(project=project).exists():
            messages.error(request, NOT_CONNECTED)
        else:
            job, is_new = request_check(project=project, by=signed_in_user(request), now=timezone.now())
            if is_new:
                send(job)
        return redirect("project_money_check", project.slug)
    name_annotators(project=project)
    latest, done = latest_check(project), last_result(project)
    context = {
        "project": project,
        "latest": latest if latest is not None and latest.state != JobState.DONE else None,
        "done": done,
        "lines": _lines(project, done.step.get("differences", [])) if done else [],
        "may": may_do(request, project),
    }
    return render(request, "results/pay/comparison.html", context)


def _lines(project: Project, differences: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = dict(Pseudonym.objects.filter(project=project).values_list("annotator_id", "name"))
    return [
        {
            **each,
            "name": names.get(each["annotator"], ""),
            "here": from_cents(each["here"]),
            "there": from_cents(each["there"]),
            "difference": from_cents(each["there"] - each["here"]),
            "left": from_cents(each["left"]) if each.get("left", 0) > 0 else None,
        }
        for each in differences
    ]


@project_view(Verb.PAY)
@require_POST
def note_paid_rewards(request: HttpRequest, project: Project) -> HttpResponse:
    """Add rewards that Prolific has paid without an order to the ledger."""
    by, now = signed_in_user(request), timezone.now()
    made = sum(
        note_rewards(study=study, by=by, now=now)
        for study in project.studies.filter(launched_at__isnull=False).select_related("project").order_by("pk")
    )
    rewards = "1 reward" if made == 1 else f"{made:,} rewards"
    messages.success(request, f"{rewards} added to the ledger as paid. Compare again to see what still differs.")
    return redirect("project_money_check", project.slug)


@project_view(Verb.PAY)
@require_POST
def note_paid_amount(request: HttpRequest, project: Project) -> HttpResponse:
    """Add the amount that an owner enters for a part of a reward, or a screen-out, to the ledger."""
    typed = read_field(request.POST, "submission")
    submissions = Submission.objects.select_related("prolific_study__study__project")
    found = get_object_or_404(
        submissions,
        pk=int(typed) if typed.isdecimal() and len(typed) < LONGEST_NUMBER else 0,
        prolific_study__study__project=project,
    )
    amount = read_amount(read_field(request.POST, "amount"))
    try:
        if amount is None:
            raise CannotPay("Enter an amount such as 1.50.")
        note_amount(submission=found, amount=amount, by=signed_in_user(request), now=timezone.now())
    except CannotPay as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Added to the ledger as paid. Compare again to see what still differs.")
    return redirect("project_money_check", project.slug)


@project_view(Verb.PAY)
@require_http_methods(["GET", "HEAD", "POST"])
def payment(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Show one payment beside what Prolific shows now, and decide about it."""
    rows = Payment.objects.select_related("study__project", "ordered_by", "prolific_study")
    row = get_object_or_404(rows, pk=pk, study__project=project)
    problem = ""
    if request.method == "POST":
        try:
            messages.success(request, _decide(request, row))
        except CannotPay as error:
            problem = str(error)
            row = rows.get(pk=pk)
        else:
            return redirect("project_payment", project.slug, pk)
    name_annotators(project=project)
    context = {
        "project": project,
        "payment": row,
        "name": name_of(row) or "somebody who was erased",
        "problem": problem,
        "may": may_do(request, project),
        **(_platform(row) if row.state == State.UNCERTAIN else {}),
    }
    return render(request, "results/pay/payment.html", context, status=409 if problem else 200)


def name_of(row: Payment) -> str:
    """Return the pseudonym of who is paid, "" if they were erased."""
    found = Pseudonym.objects.filter(project=row.study.project_id, annotator=row.annotator_id)
    return found.values_list("name", flat=True).first() or "" if row.annotator_id else ""


def _platform(row: Payment) -> dict[str, Any]:
    """Return what Prolific shows of a payment's submission, or why it cannot be asked."""
    try:
        status, bonuses = shown_on_prolific(row)
    except CannotPay as error:
        return {"unasked": str(error)}
    batch = held_batch(row)
    reading, batch_problem = None, ""
    if len(batch) > 1:
        try:
            reading = read_batch(row)
        except CannotPay as error:
            batch_problem = str(error)
    ours = Payment.objects.filter(session=row.session_id).exclude(pk=row.pk).order_by("pk")
    paid = [in_cents(each.amount) for each in ours if each.reason in BONUSES and each.state == State.PAID]
    is_shown = row.reason in BONUSES and bool(
        shown_payments(bonuses, paid=paid, waiting=[(row.pk, in_cents(row.amount))])[0]
    )
    return {
        "status": status,
        "bonuses": [from_cents(cents) for cents in bonuses],
        "ours": ours,
        "is_shown": is_shown,
        "batch": batch,
        "batch_amount": sum(each.amount for each in batch),
        "reading": reading,
        "batch_problem": batch_problem,
        "there": from_cents(reading.there) if reading else None,
        "paid_here": from_cents(reading.paid) if reading else None,
    }


def _decide(request: HttpRequest, row: Payment) -> str:
    """Do what a button of the page says, and return the message. Raises CannotPay."""
    doing, by, now = request.POST.get("do", ""), signed_in_user(request), timezone.now()
    if doing == "paid":
        note_paid(payments=[row], by=by, now=now)
        return "The payment is marked as paid."
    if doing == "unpaid":
        note_unpaid(payments=[row], by=by, now=now)
        send_project_payments.delay_on_commit(row.study.project_id)
        return "The payment is planned again."
    if doing in {"all_paid", "all_unpaid"}:
        return _decide_batch(row, doing, by, now)
    if doing == "again":
        send_refused(study=row.study, payments=[row], by=by, now=now)
        send_project_payments.delay_on_commit(row.study.project_id)
        return "The payment is planned again."
    if doing == "cancel":
        cancel_payment(payment=row, by=by, now=now)
        return "The payment is cancelled."
    raise CannotPay("Choose what to do.")


def _decide_batch(row: Payment, doing: str, by: User, now: datetime) -> str:
    """Decide about all held payments of a batch, if what Prolific says supports it. Raises CannotPay."""
    batch, reading = held_batch(row), read_batch(row)
    if not (reading.all_paid if doing == "all_paid" else reading.none_paid):
        raise CannotPay("Prolific’s total of bonuses does not support this now. Decide one by one.")
    if doing == "all_paid":
        return f"{note_paid(payments=batch, by=by, now=now):,} payments are marked as paid."
    planned = note_unpaid(payments=batch, by=by, now=now)
    send_project_payments.delay_on_commit(row.study.project_id)
    left = len(batch) - planned
    more = f" {left:,} are not: look at them again." if left else ""
    return f"{planned:,} payments are planned again.{more}"


@project_view(Verb.PAY)
@require_POST
def send_refused_again(request: HttpRequest, project: Project) -> HttpResponse:
    """Plan all refused payments of a study again."""
    study = get_object_or_404(project.studies.select_related("project"), slug=request.POST.get("study", ""))
    refused = list(Payment.objects.filter(study=study, state=State.REFUSED))
    try:
        made = send_refused(study=study, payments=refused, by=signed_in_user(request), now=timezone.now())
    except CannotPay as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{made:,} payment{'' if made == 1 else 's'} planned again.")
        send_project_payments.delay_on_commit(project.pk)
    return redirect("study_owed", project.slug, study.slug)
