"""Flagged sessions of a project or a study, and their review one at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analytics.flags import ALL_RULES, measured_rule
from annotation.actions.removing.removals import CannotRemove
from annotation.actions.reviewing import flag_verdicts
from annotation.actions.reviewing.flag_verdicts import CannotReview
from annotation.models import Session, SessionFlag
from results import tasks
from results.actions import participants
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.queries.people.answer_times import times_by_session
from results.queries.people.flagged_sessions import (
    SHOWN,
    FlagFilters,
    FlaggedSession,
    count_shown,
    find_flagged_session,
    flagged_session_lines,
    flagged_sessions,
    last_review,
    own_words,
    rule_records,
)
from results.queries.people.person_page import answers_of, count_listed
from results.queries.people.person_records import check_results
from results.queries.studies.simulated_answers import simulated_in_project
from results.sentences import effect_counts, say_effects
from results.views.form_values import LONGEST_NUMBER, read_field
from results.views.guards import may_do, project_view, signed_in_user, study_view
from studies.models import Project, Study
from studies.permissions import Verb

PER_PAGE = 50
# In forms -> the verdict.
VERDICTS = {"uphold": SessionFlag.Verdict.UPHELD, "dismiss": SessionFlag.Verdict.DISMISSED}


@project_view(Verb.VIEW)
@require_safe
def project_flags(request: HttpRequest, project: Project) -> HttpResponse:
    return _list(request, project, _read_filters(request.GET), study=None)


@study_view(Verb.VIEW)
@require_safe
def study_flags(request: HttpRequest, study: Study) -> HttpResponse:
    wanted = _read_filters(request.GET)
    return _list(request, study.project, FlagFilters(study.slug, wanted.rule, wanted.show), study=study)


def _list(request: HttpRequest, project: Project, wanted: FlagFilters, *, study: Study | None) -> HttpResponse:
    """Show the list of flagged sessions of `project`, or of one study with its frame."""
    name_annotators(project=project)
    page = Paginator(flagged_sessions(project, wanted), PER_PAGE).get_page(request.GET.get("page"))
    lines = flagged_session_lines(project, list(page.object_list), wanted=wanted)
    counts = count_shown(project, wanted)
    slugs = [study.slug] if study else list(project.studies.order_by("pk").values_list("slug", flat=True))
    context = {
        "project": project,
        **({"study": study} if study else {}),
        "of_study": study is not None,
        "wanted": wanted,
        "shown": [
            (label, counts[show], _query(wanted, show=show), show == wanted.show) for show, label in SHOWN.items()
        ],
        "page": page,
        "lines": lines,
        "query": _query(wanted),
        "studies": slugs,
        "rules": rule_records(project),
        "careless_percent": round(100 * measured_rule(ALL_RULES).careless_share),
        "may": may_do(request, project),
        "simulated": None if study else simulated_in_project(project),
    }
    return render(request, "results/people/flags.html", context)


@project_view(Verb.VIEW, post=Verb.REMOVE_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
def flagged_session(request: HttpRequest, project: Project, session: int) -> HttpResponse:
    """Show a flagged session with its answers; uphold or dismiss its flags by POST, and go to the next one."""
    wanted = _read_filters(request.POST if request.method == "POST" else request.GET)
    about = get_object_or_404(Session.objects.select_related("study__project", "annotator"), **_of(project, session))
    if request.method != "POST":
        return _page(request, project, session, wanted)
    following = _next(project, wanted, session)
    action = read_field(request.POST, "verdict")
    try:
        if action not in VERDICTS:
            raise CannotReview("Choose whether to uphold or to dismiss the flags.")
        flag_verdicts.review_flags(
            session=about,
            flags=_flags(request),
            verdict=VERDICTS[action],
            note=read_field(request.POST, "note"),
            by=signed_in_user(request),
            now=timezone.now(),
        )
    except CannotReview as error:
        return _page(request, project, session, wanted, problem=error.message)
    return _to_next(project, wanted, following)


@project_view(Verb.REMOVE_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
def exclude_flagged(request: HttpRequest, project: Project, session: int) -> HttpResponse:
    """Show what excluding the annotator of a flagged session and asking others changes; do it when confirmed."""
    sent = request.POST if request.method == "POST" else request.GET
    wanted = _read_filters(sent)
    about = get_object_or_404(Session.objects.select_related("study__project", "annotator"), **_of(project, session))
    found = find_flagged_session(project, session)
    following = _next(project, wanted, session)
    flags = _flags(request)
    if request.method != "POST":
        flags = flags or [line.flag.pk for line in (found.open_flags if found else ())]
    # A preview is asked for with the form, which keeps what was typed out of addresses.
    confirmed = request.method == "POST" and "preview" not in request.POST
    note = read_field(sent, "note") or _default_reason(found, flags)
    by, now = signed_in_user(request), timezone.now()
    given: dict[str, Any] = {"session": about, "flags": flags, "note": note, "by": by, "now": now}
    problem, follows = "", []
    try:
        if confirmed:
            excluded, reopened = flag_verdicts.exclude_and_replace(**given)
            tasks.flag_new_answers.delay_on_commit()
            messages.success(request, f"{say_effects('exclude', excluded)} {say_effects('reopen', reopened)}")
            return _to_next(project, wanted, following)
        excluded, reopened = participants.foresee(lambda: flag_verdicts.exclude_and_replace(**given))
        follows = [*effect_counts("exclude", excluded), *effect_counts("reopen", reopened)]
    except (CannotReview, CannotRemove) as error:
        problem = error.message
    context = {
        "project": project,
        "flagged": found,
        "session": about,
        "wanted": wanted,
        "query": _query(wanted),
        "flags": flags,
        "note": note,
        "typed": read_field(sent, "note"),
        "follows": follows,
        "problem": problem,
    }
    return render(request, "results/people/exclude_flagged.html", context, status=409 if problem else 200)


@project_view(Verb.REMOVE_PEOPLE)
@require_POST
def undo_flag_review(request: HttpRequest, project: Project, session: int) -> HttpResponse:
    """Take back the verdicts on the chosen flags, and show their session again."""
    wanted = _read_filters(request.POST)
    about = get_object_or_404(Session.objects.select_related("study__project", "annotator"), **_of(project, session))
    try:
        followed = flag_verdicts.undo_review(
            session=about, flags=_flags(request), by=signed_in_user(request), now=timezone.now()
        )
    except (CannotReview, CannotRemove) as error:
        return _page(request, project, session, wanted, problem=error.message)
    if followed:
        tasks.flag_new_answers.delay_on_commit()
    included = f" Their answers are included again. {say_effects('include', followed)}" if followed else ""
    if find_flagged_session(project, session) is None:
        messages.success(
            request, "The review was undone. A later check no longer finds these flags, so there is nothing to review."
        )
        return _to_next(project, wanted, None)
    messages.success(request, f"The review was undone.{included}")
    return redirect(_address(project, wanted, session))


def _page(
    request: HttpRequest, project: Project, session: int, wanted: FlagFilters, *, problem: str = ""
) -> HttpResponse:
    """Show a session with its flags and answers. problem: why a verdict was not saved."""
    name_annotators(project=project)
    found = find_flagged_session(project, session)
    listed = flagged_sessions(project, wanted)
    here = listed.index(session) if session in listed else None
    if found is None:
        context = {
            "project": project,
            "to_review": len(listed),
            "query": _query(wanted),
            "problem": problem,
            "note": read_field(request.POST, "note"),
        }
        return render(request, "results/people/no_flags.html", context, status=409 if problem else 404)
    person = Pseudonym.objects.select_related("project").get(project=project, annotator=found.session.annotator_id)
    before = listed[here - 1] if here else None
    after = listed[here + 1] if here is not None and here + 1 < len(listed) else None
    if here is None:
        after = next((each for each in listed if each != session), None)
    answers = answers_of(person, study=None, page=request.GET.get("page"), session=found.session)
    context = {
        "project": project,
        "flagged": found,
        "session": found.session,
        "wanted": wanted,
        "query": _query(wanted),
        "is_listed": here is not None,
        "position": None if here is None else here + 1,
        "listed": len(listed),
        "previous": before and _address(project, wanted, before),
        "next": after and _address(project, wanted, after),
        "words": own_words(found.session),
        "times": times_by_session([session]).get(session),
        "checks": check_results([session]).get(session),
        "answers": answers,
        "listed_answers": count_listed(answers),
        "last": last_review(project, by=signed_in_user(request).pk),
        "note": read_field(request.POST, "note"),
        "problem": problem,
        "may": may_do(request, project),
    }
    return render(request, "results/people/flagged_session.html", context, status=409 if problem else 200)


def _of(project: Project, session: int) -> Mapping[str, Any]:
    return {"study__project": project, "pk": session}


def _flags(request: HttpRequest) -> list[int]:
    """Return the ids of the flags that were sent."""
    sent = (request.POST if request.method == "POST" else request.GET).getlist("flag")
    return [int(each) for each in sent if each.isdecimal() and len(each) <= LONGEST_NUMBER]


def _default_reason(found: FlaggedSession | None, flags: Sequence[int]) -> str:
    """Return the evidence of the chosen `flags`, as the reason of an exclusion."""
    chosen = [line for line in (found.open_flags if found else ()) if line.flag.pk in flags]
    return " ".join(f"{line.rule.title}: {line.sentence}" for line in chosen)


def _next(project: Project, wanted: FlagFilters, session: int) -> int | None:
    """Return the session to review after `session` in the list, else the first other one; None if there is none."""
    listed = flagged_sessions(project, FlagFilters(wanted.study, wanted.rule))
    if session in listed[:-1]:
        return listed[listed.index(session) + 1]
    return next((each for each in listed if each != session), None)


def _to_next(project: Project, wanted: FlagFilters, following: int | None) -> HttpResponse:
    open_ones = FlagFilters(wanted.study, wanted.rule)
    if following is not None:
        return redirect(_address(project, open_ones, following))
    return redirect(f"{reverse('project_flags', args=[project.slug])}?{_query(open_ones)}".rstrip("?"))


def _read_filters(given: QueryDict) -> FlagFilters:
    show = read_field(given, "show")
    return FlagFilters(read_field(given, "study"), read_field(given, "rule"), show if show in SHOWN else "")


def _query(wanted: FlagFilters, **changed: str) -> str:
    return urlencode({name: value for name, value in {**asdict(wanted), **changed}.items() if value})


def _address(project: Project, wanted: FlagFilters, session: int) -> str:
    return f"{reverse('flagged_session', args=[project.slug, session])}?{_query(wanted)}".rstrip("?")
