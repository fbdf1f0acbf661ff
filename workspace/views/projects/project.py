from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from annotation.models import Session
from predictions.queries.duplicates import near_duplicates_of
from results.models import Export, Release
from results.queries.exports.available_exports import RemovalDates, find_removals, offered_exports
from results.queries.exports.releasable_studies import releasable_studies
from results.queries.instances.facets import FacetTable
from results.queries.studies.events import SUBJECTS, event_facets, event_lines, latest_events
from results.queries.studies.next_steps import needs_action, next_steps, projects_needing_action
from results.queries.studies.overview import (
    Totals,
    accepted_counts,
    accepted_pictures,
    asked_counts,
    count_categories,
    count_totals,
    figures_of,
    mosaics,
    project_counts,
    study_lines,
    waiting_images,
)
from results.queries.studies.pipeline import funnel, studies_in_order
from results.queries.studies.pipeline_graph import pipeline_graph
from results.queries.studies.simulated_answers import all_simulated, simulated_in_project
from results.views.cached_statistics import card_numbers, large_project_figures
from results.views.guards import may_do, project_view, signed_in_user, visible_projects
from simulation.actions.demo_project import demo_of
from studies.actions.lookup import find_study_of
from studies.actions.projects.datasets import describe_dataset, may_keep, set_dataset
from studies.actions.projects.members import may_make_projects
from studies.errors import StudyError
from studies.kinds import get_kind
from studies.models import InstanceImage, Project, ProjectDeletion, Study
from studies.permissions import Verb
from studies.shipped_designs import shipped_designs
from workspace.views.projects.pipelines import latest_pipelines

EXPORTS_SHOWN, EVENTS_SHOWN, DELETIONS_SHOWN = 10, 6, 20
EVENT_FACETS = {"by": "By", "study": "Study", "about": "About"}


@dataclass(frozen=True)
class ProjectCard:
    """A project on the home page.

    kinds: of questions of its studies, in words. accepted, asked: items of its dataset, and those that its studies ask
    about; None without a dataset. needs: what somebody has to do, in words.
    """

    project: Project
    kinds: Sequence[str]
    pictures: Sequence[InstanceImage]
    accepted: int | None
    asked: int | None
    needs: Sequence[str]
    as_of: datetime | None


@never_cache
@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    user = signed_in_user(request)
    # Archived projects last.
    visible = visible_projects(request)
    stored = card_numbers(visible)
    projects = sorted(
        project_counts(visible.select_related("deletion"), stored=stored),
        key=lambda project: project.archived_at is not None,
    )
    studies = Study.objects.filter(project__in=projects).defer("source")
    kinds: dict[int, dict[str, None]] = {each.pk: {} for each in projects}
    for study in studies:
        kinds[study.project_id] |= dict.fromkeys(get_kind(part.kind).title for part in study.design.parts)
    counted = [project for project in projects if project.pk not in stored]
    accepted = accepted_counts(counted) | {pk: numbers.accepted for pk, numbers in stored.items()}
    asked = asked_counts(counted) | {pk: numbers.asked for pk, numbers in stored.items()}
    pictures, needing = mosaics(projects), projects_needing_action(projects, studies, stored=stored)
    context = {
        "projects": [
            ProjectCard(
                each,
                list(kinds[each.pk]),
                pictures[each.pk],
                accepted.get(each.pk),
                asked.get(each.pk),
                needing.get(each.pk, []),
                stored[each.pk].as_of if each.pk in stored else None,
            )
            for each in projects
        ],
        "only_demo": all(project.is_demo for project in projects),
        "may_make_projects": may_make_projects(user),
        "protocols": shipped_designs().values(),
        **_demo(user),
        "deletions": ProjectDeletion.objects.filter(owners=user, begun_at__isnull=False)[:DELETIONS_SHOWN],
    }
    return render(request, "workspace/home.html", context)


def _demo(user: User) -> dict[str, Any]:
    """Return the context of the demo project of `user`. making: while it is created, when its events are backdated."""
    demo = demo_of(user)
    making = demo.project if demo and not (demo.is_made or demo.has_failed) else None
    return {"demo": demo, "making": making, "lacks_worker": demo is not None and demo.lacks_worker(timezone.now())}


@never_cache
@login_required
@require_safe
def demo_progress(request: HttpRequest) -> HttpResponse:
    """Progress fragment of the demo, polls until it is created or has failed; then the page reloads."""
    context = _demo(signed_in_user(request))
    demo = context["demo"]
    if demo is None or demo.is_made or demo.has_failed:
        return HttpResponseClientRefresh()
    return render(request, "workspace/_demo.html#progress", context)


@project_view(Verb.VIEW)
@require_safe
def project(request: HttpRequest, project: Project) -> HttpResponse:
    now = timezone.now()
    studies = studies_in_order(project)
    # Counting a large project takes seconds: its page shows what was counted last.
    kept = large_project_figures(project)
    table = FacetTable.read(kept.numbers) if kept and kept.numbers else None
    totals = Totals.read(kept.numbers["totals"]) if kept and kept.numbers else count_totals(project, now=now)
    lines = study_lines(project, now=now, answers=totals.answers, ready=totals.ready)
    imported = table.categories() if table else count_categories(project)
    waiting, pipeline = waiting_images(project), funnel(studies, imported, table)
    frozen = project.releases.exclude(file="").count()
    keepers = [study for study in studies if may_keep(study)]
    in_dataset = [study for study in studies if study.in_dataset]
    simulated = simulated_in_project(project)
    steps = next_steps(
        project,
        lines=lines,
        waiting=waiting,
        instances=sum(imported.values()),
        releases=frozen,
        conflicts=totals.conflicts,
    )
    context = {
        "project": project,
        "kept": kept if table else None,
        "next_steps": steps,
        "needs_action": needs_action(steps),
        "may": may_do(request, project),
        "simulated": simulated,
        "all_simulated": bool(simulated) and all_simulated(Session.objects.filter(study__project=project)),
        "studies": lines,
        "funnel": pipeline,
        "graph": pipeline_graph(pipeline),
        "pipelines": latest_pipelines(project),
        "figures": figures_of(project, lines),
        "totals": totals,
        "fee_percent": settings.PLATFORM_FEE_PERCENT,
        "days": _bars(totals.days),
        "accepted": accepted_pictures(totals.accepted, in_dataset),
        "events": latest_events(project, EVENTS_SHOWN),
        "keepers": keepers,
        "dataset": describe_dataset(in_dataset),
        # Whose accepted items are all of it.
        "only_keeper": in_dataset[0] if len(in_dataset) == 1 else None,
        "near_duplicates": near_duplicates_of(project).count(),
    }
    return render(request, "workspace/project.html", context)


@dataclass(frozen=True)
class DayBar:
    """A day with its answers; `height`: percent of the highest bar."""

    day: date
    answers: int
    height: float


def _bars(days: Sequence[tuple[date, int]]) -> list[DayBar]:
    most = max((n for _, n in days), default=0) or 1
    return [DayBar(day, n, 100 * n / most) for day, n in days]


@project_view(Verb.VIEW)
@require_safe
def releases(request: HttpRequest, project: Project) -> HttpResponse:
    """Show all releases of the project, and its latest exports."""
    exports = Export.objects.filter(project=project).select_related("study__project", "requested_by", "release", "job")
    related = ("beside", "exports")
    frozen = project.releases.select_related("study__project").prefetch_related(*related).exclude(file="")
    made = list(frozen)
    removed = find_removals(releases=made)
    context = {
        "project": project,
        "may": may_do(request, project),
        "releases": [_release_card(release, removed.of_release(release)) for release in made],
        "compared": made,
        "studies": releasable_studies(project),
        "exports": offered_exports(exports[:EXPORTS_SHOWN]),
    }
    return render(request, "workspace/releases.html", context)


@dataclass(frozen=True)
class ReleaseCard:
    """A frozen release. `since`: removals of its people since it was made. `files`: its latest export by format."""

    of: Release
    since: RemovalDates
    files: Sequence[Export]


def _release_card(release: Release, since: RemovalDates) -> ReleaseCard:
    latest = {each.format: each for each in sorted(release.exports.all(), key=lambda each: each.pk) if each.is_ready}
    return ReleaseCard(release, since, [latest[format] for format in sorted(latest)])


@project_view(Verb.DESIGN)
@require_POST
def dataset(request: HttpRequest, project: Project) -> HttpResponse:
    """Choose the studies whose accepted instances are the project's dataset; none: all its instances."""
    try:
        studies = [find_study_of(project, name) for name in _names(request)]
        set_dataset(project=project, studies=studies, by=signed_in_user(request), now=timezone.now())
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Saved. The dataset contains {describe_dataset(studies)}.")
    return redirect(f"{reverse('project', args=[project.slug])}#dataset")


def _names(request: HttpRequest) -> list[str]:
    typed = (name.replace("\0", "").strip() for name in request.POST.getlist("study"))
    return [name for name in dict.fromkeys(typed) if name]


def _facet_words(name: str, value: str) -> str:
    """Return the words of a value by which the activity is filtered; people and studies have their own names."""
    return capfirst(SUBJECTS.get(value, value)) if name == "about" else value


@project_view(Verb.VIEW)
@require_safe
def events(request: HttpRequest, project: Project) -> HttpResponse:
    facets = event_facets(project)
    wanted = {name: request.GET[name] for name in facets if request.GET.get(name)}
    context = {
        "project": project,
        "events": event_lines(project, request.GET.get("page"), **wanted),
        "choices": [
            (name, EVENT_FACETS[name], {value: _facet_words(name, value) for value in values}, wanted.get(name))
            for name, values in facets.items()
        ],
        "query": urlencode(wanted),
    }
    return render(request, "workspace/events.html", context)
