"""The page of a study, its live progress, and changes of its state."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as date_format
from django.utils.html import format_html
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRefresh

from analytics.work.pay import Wage, rewards
from annotation.actions.arriving.draw_questions import count_ready
from annotation.actions.launching import launch
from annotation.actions.launching.study_jobs import cancel_study_job, is_large, last_study_job, request_launch
from annotation.actions.recruiting.prolific_account import clock_difference
from annotation.minimum_pay import is_underpaid, minimum_hourly_pay
from annotation.models import EntryEvent, ProlificAccount, Session, SessionState, Slot
from annotation.models.sessions import has_unlikely_times
from annotation.recruitment.prolific.entry import PLACEHOLDERS
from background.tasks import send
from results.actions.pseudonyms import name_annotators
from results.models import KeptNumbers
from results.queries.people.groups import undeclared_groups
from results.queries.studies.activity import activity_of, study_activity
from results.queries.studies.live_study_status import wait_reason
from results.queries.studies.overview import answers_sent, count_conflicts, waiting_for_launch
from results.queries.studies.policies import policy_lines
from results.queries.studies.progress import (
    SuspiciousArrivals,
    count_seats,
    paid_sessions,
    progress_of,
    study_progress,
    suspicious_arrivals,
)
from results.queries.studies.prolific import prolific_state
from results.queries.studies.question_reports import study_reports
from results.queries.studies.sessions import (
    SORTS,
    STATES,
    UNFIT,
    SessionFilter,
    count_without_session,
    read_filter,
    session_lines,
)
from results.queries.studies.skips import study_skips
from results.reports.expected_precision import expected_precision_tables
from results.reports.page_tables import page_table
from results.views.cached_statistics import numbers_for
from results.views.form_values import read_field
from results.views.guards import may_do, redirect_old_address, signed_in_user, study_view
from studies.actions import studies
from studies.actions.completion_codes import used_codes
from studies.actions.questions import sample_questions
from studies.eligibility import RULES as ELIGIBILITY
from studies.eligibility import get_rule
from studies.errors import StudyError
from studies.models import UNDER_WAY, BlindScore, Study, StudyState
from studies.permissions import Verb
from throttle.networks import network_of
from workspace.views.studies.drafts import file_form
from workspace.views.studies.launch_preview import launch_preview, planned_study, preview_draft
from workspace.views.studies.overview_charts import overview_of
from workspace.views.studies.study_form import locate_problems

EXPORTS_SHOWN = 5


@dataclass(frozen=True)
class Pay:
    """Money in `currency`, major units; `cost` of `seats` and `answers`, without the platform's fee."""

    currency: str
    per_session: Decimal
    per_answer: Decimal
    seats: int
    answers: int
    cost: Decimal
    wage: Wage

    @property
    def least(self) -> Decimal | None:
        return minimum_hourly_pay(self.currency)

    @property
    def too_low(self) -> bool:
        return bool(self.per_session or self.per_answer) and is_underpaid(self.currency, self.wage.median)


def _pay_so_far(study: Study, wage: Wage | None, *, seats: int) -> Pay:
    """Return the cost of `study` once all places created so far are filled. wage: None while it is computed."""
    pay, wage = study.design.pay, wage or Wage(0, None, None, "Not known yet.")
    answers = Slot.objects.filter(seat__study=study).count() if pay.per_answer else 0
    cost = rewards(pay.per_session, pay.per_answer, seats=seats, answers=answers)
    return Pay(pay.currency, pay.per_session, pay.per_answer, seats, answers, cost, wage)


def _progress(request: HttpRequest, study: Study) -> dict[str, Any]:
    name_annotators(project=study.project)
    may = may_do(request, study.project)
    kept = numbers_for(KeptNumbers.Page.STUDY_PROGRESS, study.project, study, answers=answers_sent(study))
    progress = activity = None
    if kept is None:
        progress, activity = study_progress(study), study_activity(study, paid_sessions(study))
    elif kept.numbers:
        progress, activity = progress_of(kept.numbers), activity_of(kept.numbers["activity"])
    now = timezone.now()
    live = study.state in UNDER_WAY
    return {
        "study": study,
        "may": may,
        "progress": progress,
        "kept": kept,
        "overview": overview_of(study, progress, activity, now=now) if progress and activity else None,
        **_sessions(request, study),
        "pay": _pay_so_far(
            study,
            activity.wage if activity else None,
            seats=progress.seats.all if progress else study.seats.count(),
        ),
        # What to do about it is for members who may share the links.
        "door": _entry_problems(study) if may[Verb.RUN] else [],
        "live": live,
        "waits_for": wait_reason(study, now=now),
        # Counted only where no place is open: otherwise whoever arrives has something to do anyway.
        "ready": count_ready(study, now=now) if live and progress and not progress.answers.to_come else 0,
        **_count_sessions(study),
    }


@dataclass(frozen=True)
class SortLink:
    """The head of a column of sessions: the address that sorts by it, and how it is sorted now."""

    title: str
    query: str
    direction: str
    is_number: bool


def _sessions(request: HttpRequest, study: Study) -> dict[str, Any]:
    shown = read_filter({name: read_field(request.GET, name) for name in ("who", "state", "sort")})
    sessions = session_lines(study, request.GET.get("page"), shown)
    columns = [
        SortLink(
            title, _query(shown, sort=shown.toggle_order(name)), shown.direction(name), name in {"answered", "minutes"}
        )
        for name, (title, _) in SORTS.items()
    ]
    return {
        "sessions": sessions,
        "shown": shown,
        "columns": columns,
        "session_states": {name: title for name, (title, _) in STATES.items()},
        "query": _query(shown),
    }


def _query(shown: SessionFilter, **changed: str) -> str:
    return urlencode({name: value for name, value in (vars(shown) | changed).items() if value})


def _count_sessions(study: Study) -> dict[str, int]:
    """Return how many sessions need a review before they are paid, by reason, and how many were returned."""
    return Session.objects.filter(study=study).aggregate(
        returned=Count("pk", filter=Q(state=SessionState.RETURNED)),
        for_review=Count("pk", filter=Q(state=SessionState.LEFT_OUT)),
        unlikely_times=Count("pk", filter=has_unlikely_times()),
        unfit=Count("pk", filter=UNFIT),
    ) | {"without_session": count_without_session(study)}


ENTRY_SENTENCES = {
    EntryEvent.What.UNFILLED: (
        "came with a link whose Prolific placeholders were not filled in. "
        "Check the study's URL on Prolific: it must be exactly the one below."
    ),
    EntryEvent.What.MISSING: (
        "came with a link without Prolific ids. Check the study's URL on Prolific: it must be exactly the one below."
    ),
    EntryEvent.What.NOT_AN_ID: (
        "came with IDs that are not Prolific's. To test the link yourself, use 24 hexadecimal "
        "digits for each ID, or set any_ids: true in the study file."
    ),
    EntryEvent.What.OTHER_PERSON: (
        "came with a link of somebody else's. They were sent away, or their session was ended when Prolific said so."
    ),
    EntryEvent.What.OTHER_STUDY: "came from a Prolific study that the study file does not list.",
    EntryEvent.What.NO_SEAT: (
        "came when no place was left. If this continues, pause or stop the study on Prolific, "
        "or stop sharing the invitation link."
    ),
    EntryEvent.What.NOTHING_YET: (
        "came before anything was ready for them. Send people once the upstream study has answers, or let them wait: "
        "set "
        "`lobby.minutes` in the study file."
    ),
    EntryEvent.What.NETWORK_FULL: (
        "was asked to come later, because others from their network held its share of the places. If they are people "
        "of a lab or a classroom, allow its network on the Recruit page. If not, free all its places on the "
        "row of one of its sessions."
    ),
    EntryEvent.What.TOO_MANY: (
        "was asked to wait, because many new people had come from their network. If they were real people of one "
        "university, or the site stands behind a proxy, raise ARRIVALS_PER_NETWORK or set TRUSTED_PROXIES."
    ),
}


def _entry_problems(study: Study) -> list[str]:
    arrivals = suspicious_arrivals(study)
    sentences = {(str(what), ""): sentence for what, sentence in ENTRY_SENTENCES.items()}
    sentences |= {
        (str(EntryEvent.What.REFUSED), rule): f"was not let in who {get_rule(rule).reason}" for rule in ELIGIBILITY
    }
    return [
        f"{_frequency(arrivals[what])} somebody {sentence}" for what, sentence in sentences.items() if what in arrivals
    ]


def _frequency(odd: SuspiciousArrivals) -> str:
    at = f"{date_format(odd.last, 'j M, H:i')} UTC"
    if odd.times == 1:
        return f"Once, on {at},"
    times, last = f"{odd.times:,} times", f"last on {at}"
    if odd.people in {0, odd.times}:
        return f"{times} ({last})"
    people = "person" if odd.people == 1 else "people"
    return f"{times} (by at least {odd.people:,} {people}, {last})"


@dataclass(frozen=True)
class BaselineRow:
    """A blind baseline that the launch requires, with its result if there is one. Numbers in percent."""

    baseline: str
    score: BlindScore | None
    right: float | None
    low: float | None
    high: float | None
    chance: float | None
    at_most: float

    @property
    def is_offered(self) -> bool:
        return self.baseline in settings.MODELS_OFFERED

    @property
    def is_met(self) -> bool:
        return self.right is not None and self.right <= self.at_most


def _baseline_rows(study: Study) -> list[BaselineRow]:
    limit = study.design.conditions.blind_solvability
    if limit is None:
        return []
    scores = {score.baseline: score for score in study.blind_scores.all()}
    return [_baseline_row(baseline, scores.get(baseline), limit.at_most) for baseline in limit.baselines]


def _baseline_row(baseline: str, score: BlindScore | None, at_most: float) -> BaselineRow:
    if score is None:
        return BaselineRow(baseline, None, None, None, None, None, 100 * at_most)
    right, low, high, chance = (
        None if share is None else 100 * share for share in (score.share, score.low, score.high, score.chance)
    )
    return BaselineRow(baseline, score, right, low, high, chance, 100 * at_most)


@study_view(Verb.VIEW)
@require_safe
def study(request: HttpRequest, study: Study) -> HttpResponse:
    context = _progress(request, study) | {
        "reported": study_reports(study),
        "skips": study_skips(study),
        "undeclared_groups": undeclared_groups(study),
        "blind": _baseline_rows(study),
        "policies": [] if study.state == StudyState.DRAFT else policy_lines(study),
    }
    if study.state == StudyState.DRAFT or study.state in UNDER_WAY:
        context |= study_job_context(study)
    if study.state == StudyState.DRAFT:
        context |= _preview(study)
    if study.state == StudyState.DRAFT and context["may"][Verb.DESIGN]:
        context |= file_form(request, study, study.source) | {"file_is_closed": "file" not in request.GET}
    return render(request, "workspace/study.html", context)


def _preview(study: Study) -> dict[str, Any]:
    """Return what a launch of a draft would create, or what is missing for that."""
    try:
        found = preview_draft(study)
    except StudyError as error:
        return {"unforeseen": [each.problem.message for each in locate_problems(study, error.problems)]}
    return found | {"has_sample": bool(sample_questions(study, per_part=1))}


def study_job_context(study: Study) -> dict[str, Any]:
    """Return the context of the launch or the extension by a job."""
    found = last_study_job(study)
    return {"study_job": found, "lacks_worker": found is not None and found.lacks_worker(timezone.now())}


@study_view(Verb.VIEW)
@require_safe
def job(request: HttpRequest, study: Study) -> HttpResponse:
    """Progress fragment of a launch or an extension, polls until it ends; then the page reloads."""
    context = study_job_context(study)
    if context["study_job"] is None or not context["study_job"].job.is_unfinished:
        return HttpResponseClientRefresh()
    context |= {"study": study, "may": may_do(request, study.project)}
    return render(request, "workspace/_study_job.html#progress", context)


@study_view(Verb.RUN)
@require_http_methods(["GET", "HEAD", "POST"])
def cancel_job(request: HttpRequest, study: Study) -> HttpResponse:
    """Cancel a launch or an extension. A GET, such as after signing in again, redirects to the study."""
    if request.method == "POST":
        try:
            cancel_study_job(study=study, by=signed_in_user(request), now=timezone.now())
        except StudyError as error:
            messages.error(request, str(error))
    return redirect("study", study.project.slug, study.slug)


@study_view(Verb.RUN)
@require_safe
def recruit(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the links that let people in, and the completion codes, which are worth their pay."""
    return recruit_page(request, study, networks=study.open_networks)


def recruit_page(
    request: HttpRequest, study: Study, *, networks: str, problem: str = "", places: str = "", places_problem: str = ""
) -> HttpResponse:
    """Return the Recruit page. networks, places: what its fields contain; the problems: why they were not saved."""
    take = f"{settings.SITE_URL}{reverse('take', args=[study.entry_name])}"
    recruitment = study.design.recruitment
    context = {
        "study": study,
        "may": may_do(request, study.project),
        "door": _entry_problems(study),
        "prolific_url": f"{take}?{PLACEHOLDERS}" if recruitment.prolific else "",
        "invite_url": f"{take}?invite={study.invite_token}" if recruitment.invite else "",
        "codes": used_codes(study),
        "own_network": network_of(request),
        "networks": networks,
        "network_problem": problem,
        "seats": count_seats(study),
        **_count_sessions(study),
        **_on_prolific(study),
        "places_typed": places,
        "places_problem": places_problem,
    }
    return render(request, "workspace/recruit.html", context, status=409 if problem or places_problem else 200)


def _on_prolific(study: Study) -> dict[str, Any]:
    """Return the state of the study on Prolific, as it was last read."""
    if not study.design.recruitment.prolific:
        return {}
    account = ProlificAccount.objects.filter(project=study.project_id).first()
    clock = clock_difference(account) if account else ""
    return {"prolific": prolific_state(study), "account": account, "clock": clock}


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def old_address(request: HttpRequest) -> HttpResponse:
    """Redirect from the address that study pages had before it contained the project."""
    return redirect_old_address(request)


@study_view(Verb.VIEW)
@require_safe
def progress(request: HttpRequest, study: Study) -> HttpResponse:
    """Live progress fragment, polls until the study is closed."""
    context = _progress(request, study) | {"is_fragment": True, "charts_shown": read_field(request.GET, "charts")}
    return render(request, "workspace/study.html#live", context)


@dataclass(frozen=True)
class Change:
    """A change of a study's state; `button` and `what` describe it beforehand, `done` afterwards."""

    name: str
    button: str
    what: str
    done: str
    possible_from: frozenset[StudyState]
    leads_to: StudyState
    act: Callable[[Study, User, datetime], None]
    dangerous: bool = False

    @property
    def address(self) -> str:
        """Return the name of its URL."""
        return f"study_{self.name}"


def _transition(state: StudyState) -> Callable[[Study, User, datetime], None]:
    return lambda study, by, now: studies.change_state(study=study, to=state, by=by, now=now)


CHANGES = {
    "launch": Change(
        "launch",
        "Launch",
        "Launching freezes the design, creates the surveys and their places, and opens the links for annotators. "
        "You cannot undo it, but you can pause or close the study at any time.",
        "The study is open.",
        frozenset({StudyState.DRAFT}),
        StudyState.OPEN,
        lambda study, by, now: launch.launch(study=study, by=by, now=now),
    ),
    "pause": Change(
        "pause",
        "Pause",
        "New annotators cannot join while the study is paused. Open sessions can finish. You can resume at any time.",
        "The study is paused. Open sessions can finish.",
        frozenset({StudyState.OPEN}),
        StudyState.PAUSED,
        _transition(StudyState.PAUSED),
    ),
    "resume": Change(
        "resume",
        "Resume",
        "Annotators can come in again through the same links.",
        "The study is open again.",
        frozenset({StudyState.PAUSED}),
        StudyState.OPEN,
        _transition(StudyState.OPEN),
    ),
    "close": Change(
        "close",
        "Close study",
        "New annotators cannot join; open sessions can finish. All answers are kept. "
        "A closed study cannot be opened again.",
        "The study is closed.",
        UNDER_WAY,
        StudyState.CLOSED,
        _transition(StudyState.CLOSED),
        dangerous=True,
    ),
}


@study_view(Verb.RUN)
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    """Show what the change does, and do it on confirmation."""
    change = CHANGES[name]
    problems: tuple[str, ...] = ()
    launching = last_study_job(study) if name == "launch" and study.state == StudyState.DRAFT else None
    if launching and launching.job.is_unfinished:
        messages.info(request, "The study is being launched.")
        return redirect("study", study.project.slug, study.slug)
    if request.method == "POST":
        try:
            if _launch_in_background(request, study, change):
                return redirect("study", study.project.slug, study.slug)
            change.act(study, signed_in_user(request), timezone.now())
        except StudyError as error:
            problems = error.problems
            # Pressed twice, or in another tab.
            if Study.objects.filter(pk=study.pk, state=change.leads_to).exists():
                messages.info(request, f"The study is already {change.leads_to.label.lower()}. Nothing changed.")
                return redirect("study", study.project.slug, study.slug)
        else:
            messages.success(request, _done(change, study))
            return redirect("study", study.project.slug, study.slug)
    elif study.state not in change.possible_from:
        messages.info(request, f"The study is {study.get_state_display().lower()}. Nothing changed.")
        return redirect("study", study.project.slug, study.slug)
    refused = bool(problems)
    context = _plan(study, change) | {"study": study, "change": change}
    context["problems"] = problems = problems or context.get("problems", ())
    if study.state == StudyState.DRAFT:
        context["complaints"] = locate_problems(study, problems)
    return render(request, "workspace/change.html", context, status=409 if refused else 200)


def _done(change: Change, study: Study) -> str:
    if change.name in {"pause", "close"} and (there := prolific_state(study)) and there.sends_people:
        recruit = reverse("study_recruit", args=[study.project.slug, study.slug])
        stop = format_html('<a href="{}">pause or stop it there</a>', recruit)
        return format_html("{} Prolific still sends people: {}.", change.done, stop)
    if change.name != "launch":
        return change.done
    recruit = format_html(
        '<a href="{}">Recruit page</a>', reverse("study_recruit", args=[study.project.slug, study.slug])
    )
    prolific = ", or give Prolific its URL" if study.design.recruitment.prolific else ""
    return format_html("The study is open. Send annotators a link from the {}{}.", recruit, prolific)


def _launch_in_background(request: HttpRequest, study: Study, change: Change) -> bool:
    """Have a large study launched by a job; return whether it is. Raises StudyError if it cannot be launched."""
    if change.name != "launch" or study.state != StudyState.DRAFT:
        return False
    now = timezone.now()
    if not is_large(launch.plan(study, now=now)):
        return False
    job, is_new = request_launch(study=study, by=signed_in_user(request), now=now)
    if is_new:
        send(job)
    return True


def _plan(study: Study, change: Change) -> dict[str, Any]:
    """Return what a launch would create and cost, or what prevents it; for closing, the questions to settle."""
    if change.name == "close" and study.accepts:
        return {"conflicts": count_conflicts(study.project).final.get(study.pk, 0)}
    if change.name != "launch" or study.state != StudyState.DRAFT:
        return {}
    waiting = waiting_for_launch(study)
    sentence = (
        f"{waiting.instances} of the selected instances still wait for {waiting.images} images. "
        "Import the same file again with its image folder, or select other instances in the study file."
    )
    awaited = (sentence,) if waiting.images else ()
    try:
        plan = launch.plan(study, now=timezone.now())
    except StudyError as error:
        return {"problems": (*awaited, *error.problems)}
    return {
        **launch_preview(study, plan),
        "tables": [*map(page_table, expected_precision_tables(planned_study(study.design, plan)))],
        "problems": awaited,
        "warnings": launch.launch_warnings(study),
    }
