"""A study on Prolific, from the Recruit tab: draft, cost, publish, and what happens to it there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analytics.work.ledger import in_cents
from annotation.actions.recruiting import prolific_studies
from annotation.actions.recruiting.prolific_account import connect
from annotation.actions.recruiting.prolific_choices import Choices, read_choices, read_quote, read_screen_out_cost
from annotation.actions.recruiting.prolific_draft import screen_out_of, stored_body
from annotation.actions.recruiting.prolific_people import allows_groups, find_people
from annotation.models import ProlificAccount, ProlificStudy
from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.connection import ProlificError
from results.queries.studies.progress import count_seats
from results.queries.studies.prolific import cost_in_words, form_on_prolific
from results.views.form_values import read_field
from results.views.guards import may_do, signed_in_user, study_view
from studies.errors import StudyError
from studies.models import Study
from studies.permissions import Verb
from workspace.views.studies.prolific_form import MOST_PLACES, ProlificForm, first_form, sent_form
from workspace.views.studies.study import recruit_page


@study_view(Verb.RUN)
@require_http_methods(["GET", "HEAD", "POST"])
def prolific_study(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the form of a study on Prolific, and save it as a draft there."""
    try:
        if not study.design.recruitment.prolific:
            raise StudyError("The study file does not recruit on Prolific.")
        account = prolific_studies.account_of(study.project)
    except StudyError as error:
        messages.error(request, str(error))
        return redirect("study_recruit", study.project.slug, study.slug)
    row = _unfinished(study)
    choices, away = _choices(account)
    if request.method != "POST":
        form = first_form(study, row, choices, open_places=count_seats(study).free)
        return _page(request, study, row, form, away)
    form = sent_form(request.POST, choices, currency=row.currency if row else study.design.pay.currency)
    if row is not None and row.status not in prolific_studies.DRAFT:
        return _page(request, study, row, form, away, status=409)
    do = request.POST.get("do")
    # Enter, in the field of a filter's name, presses the first button of the form.
    if do == "save" and not form.values["filter"]:
        return _save(request, study, row, form, away)
    form.problems = {}
    if form.values["filter"]:
        form.add_filter(form.values["filter"])
    quote: dict[str, Any] = _quote(account, form) if do == "look" else {}
    return _page(request, study, row, form, away, **quote)


@study_view(Verb.RUN)
@require_safe
def own_form(request: HttpRequest, study: Study) -> HttpResponse:
    """Lead to Prolific's own form. Its address has a completion code, so it stands on no page."""
    return redirect(form_on_prolific(study))


def _unfinished(study: Study) -> ProlificStudy | None:
    """Return the study on Prolific unless it was stopped: after that comes a new one."""
    row = prolific_studies.current_study(study)
    return None if row is None or row.is_over else row


def _choices(account: ProlificAccount) -> tuple[Choices | None, str]:
    """Return what Prolific offers, or why it is not known."""
    try:
        return read_choices(account), ""
    except ProlificError as error:
        return None, error.sentence


def _save(request: HttpRequest, study: Study, row: ProlificStudy | None, form: ProlificForm, away: str) -> HttpResponse:
    if form.draft is None:
        return _page(request, study, row, form, away, status=409)
    by, now = signed_in_user(request), timezone.now()
    try:
        row = prolific_studies.write_draft(study=study, draft=form.draft, by=by, now=now)
        prolific_studies.send_draft(prolific_study=row, now=now)
    except StudyError as error:
        form.problems["whole"] = str(error)
        return _page(request, study, row, form, away, status=409)
    messages.success(request, "The draft is saved on Prolific.")
    return redirect("prolific_publish", study.project.slug, study.slug)


def _page(
    request: HttpRequest,
    study: Study,
    row: ProlificStudy | None,
    form: ProlificForm,
    away: str,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    is_frozen = row is not None and row.status not in prolific_studies.DRAFT
    context = {"study": study, "row": row, "form": form, "away": away, "is_frozen": is_frozen, **more}
    context |= {"may": may_do(request, study.project), **_consequences(study, form)}
    return render(request, "workspace/prolific/form.html", context, status=status)


def _consequences(study: Study, form: ProlificForm) -> dict[str, Any]:
    """Return what follows from the form without asking Prolific."""
    pay = study.design.pay
    is_same = pay.currency == form.currency
    differs = form.reward is not None and pay.per_session > 0 and form.reward != pay.per_session
    return _people(study, in_groups="allow" in form.groups.values()) | {
        "other_currency": "" if is_same else pay.currency,
        "other_reward": pay.per_session if is_same and differs else None,
    }


def _people(study: Study, *, in_groups: bool) -> dict[str, Any]:
    """Return how many places are open here, and how many known people may not, or alone may, take them.

    in_groups: whether people must also be in groups that a researcher allows.
    """
    people = find_people(study)
    return {
        "open_places": count_seats(study).free,
        "kept_out": len(people.kept_out),
        "let_in": None if people.let_in is None else len(people.let_in),
        "in_groups": in_groups,
    }


@study_view(Verb.RUN)
@require_POST
def foresee(request: HttpRequest, study: Study) -> HttpResponse:
    """Return what follows from the form while somebody types: the wage; with `ask`, what Prolific says."""
    account = get_object_or_404(ProlificAccount, project=study.project)
    currency = read_field(request.POST, "currency") or study.design.pay.currency
    if "ask" not in request.GET:
        form = sent_form(request.POST, None, currency=currency[:3])
        context = {"study": study, "form": form, **_consequences(study, form)}
        return render(request, "workspace/prolific/_consequences.html", context)
    form = sent_form(request.POST, _choices(account)[0], currency=currency[:3])
    return render(request, "workspace/prolific/_quote.html", {"form": form, **_quote(account, form)})


def _quote(account: ProlificAccount, form: ProlificForm) -> dict[str, Any]:
    if form.draft is None:
        return {"no_quote": "To see the cost, fill in the form."}
    try:
        quote = read_quote(account, form.draft)
    except ProlificError as error:
        return {"no_quote": error.sentence}
    return {"quote": quote}


@study_view(Verb.RUN, post=Verb.MANAGE_PROLIFIC)
@require_http_methods(["GET", "HEAD", "POST"])
def publish(request: HttpRequest, study: Study) -> HttpResponse:
    """Show what publishing costs, and do it on confirmation."""
    row = prolific_studies.current_study(study)
    if row is None or row.status not in prolific_studies.DRAFT:
        messages.info(request, "This study has no draft on Prolific to publish. Nothing changed.")
        return redirect("study_recruit", study.project.slug, study.slug)
    problem = ""
    if request.method == "POST":
        try:
            prolific_studies.publish(prolific_study=row, by=signed_in_user(request), now=timezone.now())
        except StudyError as error:
            problem = str(error)
        else:
            messages.success(request, "The study is published on Prolific.")
            return redirect("study_recruit", study.project.slug, study.slug)
    context = {"study": study, "row": row, "problem": problem, "may": may_do(request, study.project)}
    context |= {**_cost_of_publishing(study, row), **_people(study, in_groups=allows_groups(row))}
    return render(request, "workspace/prolific/publish.html", context, status=409 if problem else 200)


def _cost_of_publishing(study: Study, row: ProlificStudy) -> dict[str, Any]:
    """Ask Prolific what all places of a draft would cost; without an answer, why there is none."""
    try:
        account = prolific_studies.account_of(study.project)
        client = connect(account)
        with client.within(10):
            balance = client.read_balance(account.workspace_id)
            if row.remote_id:
                cost = _in_units(client.read_cost(row.remote_id, is_projected=True).rewards)
            else:
                rewards = in_cents(row.reward) * row.places
                total = client.calculate_cost(reward=in_cents(row.reward), places=row.places)
                amounts = (_Money(cents, balance.currency_code) for cents in (rewards, total - rewards, 0))
                cost = _Cost(*amounts)
            screen_outs = read_screen_out_cost(client, screen_out_of(stored_body(row)))
    except (ProlificError, StudyError) as error:
        return {"no_cost": str(error)}
    available = _Money(balance.available_balance, balance.currency_code)
    return {"cost": cost, "screen_outs": screen_outs, "balance": available}


@dataclass(frozen=True)
class _Money:
    cents: int
    currency: str

    @property
    def units(self) -> float:
        return self.cents / 100


@dataclass(frozen=True)
class _Cost:
    rewards: _Money
    fees: _Money
    tax: _Money

    @property
    def total(self) -> _Money:
        return _Money(self.rewards.cents + self.fees.cents + self.tax.cents, self.rewards.currency)


def _in_units(cost: bodies.CostParts) -> _Cost:
    return _Cost(*(_Money(part.amount, part.currency) for part in (cost.rewards, cost.fees, cost.tax)))


# Changes of a study on Prolific


@dataclass(frozen=True)
class Change:
    """A change of a published study; `done` is said afterwards."""

    act: Callable[..., Any]
    done: str


CHANGES: Mapping[str, Change] = {
    "pause": Change(
        prolific_studies.pause, "The study is paused on Prolific. People who have a place there can finish."
    ),
    "resume": Change(prolific_studies.resume, "The study is running on Prolific again."),
    "stop": Change(
        prolific_studies.stop, "The study is stopped on Prolific. People who have a place there can finish."
    ),
}


@study_view(Verb.RUN)
@require_POST
def change(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    row = prolific_studies.current_study(study)
    if row is None:
        return redirect("study_recruit", study.project.slug, study.slug)
    try:
        CHANGES[name].act(prolific_study=row, by=signed_in_user(request), now=timezone.now())
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, CHANGES[name].done)
    return redirect("study_recruit", study.project.slug, study.slug)


@study_view(Verb.RUN)
@require_POST
def refresh(request: HttpRequest, study: Study) -> HttpResponse:
    """Read the state from Prolific, and say what it has cost."""
    row = prolific_studies.current_study(study)
    if row is None:
        return redirect("study_recruit", study.project.slug, study.slug)
    try:
        cost = prolific_studies.refresh(prolific_study=row, now=timezone.now())
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, cost_in_words(cost) if cost else "Prolific does not have this draft yet.")
    return redirect("study_recruit", study.project.slug, study.slug)


@study_view(Verb.MANAGE_PROLIFIC)
@require_POST
def add_places(request: HttpRequest, study: Study) -> HttpResponse:
    row = prolific_studies.current_study(study)
    typed = read_field(request.POST, "places")
    if row is None:
        return redirect("study_recruit", study.project.slug, study.slug)
    problem = ""
    if not typed.isdecimal() or not typed.isascii() or len(typed) > 9 or not 0 < int(typed) <= MOST_PLACES:
        problem = f"Enter the total number of places, from {row.places + 1:,} to {MOST_PLACES:,}."
    else:
        try:
            prolific_studies.raise_places(
                prolific_study=row, places=int(typed), by=signed_in_user(request), now=timezone.now()
            )
        except StudyError as error:
            problem = str(error)
    if problem:
        return recruit_page(request, study, networks=study.open_networks, places=typed, places_problem=problem)
    messages.success(request, f"The study has {int(typed):,} places on Prolific.")
    return redirect("study_recruit", study.project.slug, study.slug)
