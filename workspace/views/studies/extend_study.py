"""Extend a launched study, and choose what happens once all its answers are in."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from analytics.work.pay import rewards
from annotation.actions.launching import extend_study
from annotation.actions.launching.complete_study import set_completion
from annotation.actions.launching.extend_study import ExtensionKind, ExtensionResult
from annotation.actions.launching.study_jobs import is_large, last_study_job, request_extension
from background.tasks import send
from results.actions.participants import foresee
from results.queries.studies.overview import waiting_for_launch
from results.views.guards import signed_in_user, study_view
from studies.actions.conditions import untested_warning
from studies.design.model import MOST_ANSWERS
from studies.design.quality_checks import MOST_CHECKS
from studies.errors import StudyError
from studies.models import UNDER_WAY, Study
from studies.permissions import Verb
from workspace import mail


@dataclass(frozen=True)
class Extension:
    """A way to extend a study: `label` of its number field, "" for none; `done` is the message afterwards."""

    way: ExtensionKind
    heading: str
    about: str
    label: str
    done: str


LONGEST_NUMBER = 10
EXTENSIONS: dict[str, Extension] = {
    extension.way: extension
    for extension in (
        Extension(
            ExtensionKind.ANSWERS,
            "More answers to every question",
            "Each survey is offered again, to people who have not taken it. All numbers treat these "
            "answers like the first ones, because they do not depend on earlier answers.",
            "How many more each",
            "Every question gets more answers now. Raise the number of places on Prolific too.",
        ),
        Extension(
            ExtensionKind.UNDECIDED,
            "More answers while undecided",
            "Undecided questions get one more answer at a time, when an annotator arrives and nothing else is left. "
            "They count for decisions. Agreement reports them separately.",
            "Up to how many each",
            "Undecided questions get more answers as people arrive.",
        ),
        Extension(
            ExtensionKind.INSTANCES,
            "New instances",
            "Instances that were imported after the launch, and that the study file selects, are "
            "asked about in new surveys.",
            "",
            "The new instances are asked about now.",
        ),
    )
}


@dataclass(frozen=True)
class Preview:
    """Preview of an extension: its cost in the currency of pay, without the platform's fee.

    untried: a sentence about launch conditions that are not tested for the new questions. is_large: a job does it, and
    counts the decisions that change.
    """

    extension: Extension
    number: int
    grown: ExtensionResult
    cost: Decimal
    untried: str
    is_large: bool


@study_view(Verb.RUN)
@require_http_methods(["GET", "HEAD", "POST"])
def ask_more(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the ways to extend a study, preview the chosen one, and extend on confirmation."""
    if study.state not in UNDER_WAY:
        messages.info(request, f"The study is {study.get_state_display().lower()}; it cannot be extended.")
        return redirect("study", study.project.slug, study.slug)
    extending = last_study_job(study)
    if extending and extending.job.is_unfinished:
        messages.info(request, "The study is being extended.")
        return redirect("study", study.project.slug, study.slug)
    sent = request.POST if request.method == "POST" else request.GET
    extension = EXTENSIONS.get(sent.get("what", ""))
    typed = sent.get("number", "").strip()
    preview, problems = None, tuple[str, ...]()
    if extension is not None:
        try:
            number = _read_number(typed, extension)
            if request.method == "POST":
                seen = sent.get("beyond", "")
                beyond = int(seen) if seen.isascii() and seen.isdigit() and len(seen) < LONGEST_NUMBER else -1
                _extend(request, study, extension, number, beyond)
                return redirect("study", study.project.slug, study.slug)
            preview = _preview(study, extension, number, signed_in_user(request))
        except StudyError as error:
            problems = error.problems
    context = {
        "study": study,
        "extensions": _extension_lines(study),
        "chosen": extension,
        "typed": typed,
        "preview": preview,
        "problems": problems,
        "waiting": waiting_for_launch(study) if problems and extension is EXTENSIONS["instances"] else None,
        "can_mail": mail.can_send(),
    }
    refused = request.method == "POST"
    return render(request, "workspace/asking_more.html", context, status=409 if refused else 200)


def _read_number(typed: str, extension: Extension) -> int:
    if not extension.label:
        return 0
    if not (typed.isascii() and typed.isdigit()) or len(typed) > len(str(MOST_ANSWERS)):
        raise StudyError(f"{extension.label}: write a number from 1 to {MOST_ANSWERS}.")
    return int(typed)


def _extend(request: HttpRequest, study: Study, extension: Extension, number: int, beyond: int) -> None:
    """Extend the study, a large one by a job. Raises StudyError."""
    by, now, way = signed_in_user(request), timezone.now(), extension.way
    if not is_large(extend_study.plan(study, way, number, beyond)):
        extend_study.extend(study=study, way=way, number=number, by=by, now=now, beyond=beyond)
        messages.success(request, extension.done)
        return
    job, is_new = request_extension(study=study, way=way, number=number, by=by, now=now, beyond=beyond)
    if is_new:
        send(job)


def _preview(study: Study, extension: Extension, number: int, by: User) -> Preview:
    plan = extend_study.plan(study, extension.way, number)
    grown = plan.added
    if not is_large(plan):
        grown = foresee(
            lambda: extend_study.extend(study=study, way=extension.way, number=number, by=by, now=timezone.now())
        )
    pay = study.design.pay
    # Answers to checks are paid too. Short surveys have fewer of them.
    checks = min(study.design.checks_per_survey, grown.answers // max(grown.seats, 1) // MOST_CHECKS)
    paid = grown.answers + grown.seats * checks
    cost = rewards(pay.per_session, pay.per_answer, seats=grown.seats, answers=paid)
    return Preview(extension, number, grown, cost, untested_warning(study) if grown.questions else "", is_large(plan))


def _extension_lines(study: Study) -> list[dict[str, Any]]:
    """Return each extension with its suggested number, or the reason why it is unavailable."""
    suggested = {ExtensionKind.ANSWERS: 1, ExtensionKind.UNDECIDED: study.most_answers + 1, ExtensionKind.INSTANCES: 0}
    why_not = {ExtensionKind.INSTANCES: extend_study.why_no_new_instances(study)}
    return [
        {"extension": extension, "suggested": suggested[extension.way], "why_not": why_not.get(extension.way, "")}
        for extension in EXTENSIONS.values()
    ]


@study_view(Verb.RUN)
@require_POST
def completion(request: HttpRequest, study: Study) -> HttpResponse:
    """Set what happens once all answers are in."""
    choices = {"closes": "closes" in request.POST, "mails": "mails" in request.POST}
    try:
        set_completion(study=study, **choices, by=signed_in_user(request), now=timezone.now())
    except StudyError as error:
        messages.error(request, " ".join(error.problems))
        return redirect("study", study.project.slug, study.slug)
    messages.success(request, "Saved: what happens when all answers are in.")
    return redirect("ask_more", study.project.slug, study.slug)
