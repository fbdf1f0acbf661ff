"""Releases requested on a page, frozen and written in the background. Only owners get provider ids."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from background.tasks import send
from results.actions.exports import job_of, request_export
from results.actions.release_comparison import ReleaseComparison, compare_releases
from results.actions.releases import (
    RELEASE_FORMATS,
    check_format,
    check_texts,
    other_dataset_studies,
    prepare_release,
    provider_ids,
)
from results.errors import CannotExport
from results.exporting.dataset_card import About
from results.exporting.licences import is_recognised
from results.exporting.spreadsheets import csv_lines
from results.models import Release
from results.queries.exports.available_exports import OfferedExport, RemovalDates, find_removals
from results.queries.exports.empty_formats import FormatOption, empty_formats_and_columns, format_options
from results.queries.exports.releasable_studies import release_refusal
from results.queries.reports.report_rows import in_pipeline_order, release_studies
from results.views.form_values import read_field
from results.views.guards import may_do, project_view, row_view, signed_in_user, study_view
from studies.actions.projects.datasets import dataset_studies
from studies.models import Project, Study, StudyState
from studies.permissions import Verb

RELEASES = Release.objects.select_related("study", "project")
# Button of the form for a new release.
NEW = "new"
FIELDS = ("name", "description", "licence", "citation")
# Of two requests for one release within this time, the second is a second click.
SENT_TWICE = timedelta(minutes=1)
# Items of each list of a comparison; the CSV has all.
COMPARED_SHOWN = 100


@study_view(Verb.VIEW, post=Verb.RELEASE)
@require_http_methods(["GET", "HEAD", "POST"])
def releases(request: HttpRequest, study: Study) -> HttpResponse:
    """List the releases of a study and accept requests for new ones."""
    problem, unknown_licence = "", ""
    if request.method == "POST":
        try:
            _ask(request, study, signed_in_user(request))
        except UnknownLicence as error:
            problem, unknown_licence = str(error), error.licence
        except CannotExport as error:
            problem = str(error)
        else:
            return redirect("study_releases", study.project.slug, study.slug)
    dataset = dataset_studies(study.project) if study.in_dataset else []
    behind = release_studies(dataset or [study]) if study.state != StudyState.DRAFT else []
    formats, columns = empty_formats_and_columns(dataset or [study]) if behind else ({}, {})
    context = {
        "study": study,
        "launched": study.state != StudyState.DRAFT,
        "releases": _lines(study),
        # Empty whether the release holds the study alone or the whole dataset.
        "formats": format_options(RELEASE_FORMATS, formats),
        "empty_columns": columns,
        "dataset": [each.slug for each in dataset],
        "answered": [each.slug for each in behind],
        "unanswered": [each for each in in_pipeline_order(study.project) if behind and each not in behind],
        "given": {name: request.POST.get(name, "") for name in FIELDS},
        "problem": problem,
        "unknown_licence": unknown_licence,
        "refusal": "" if study.accepts or study.state == StudyState.DRAFT else release_refusal(study),
        "may": may_do(request, study.project),
    }
    return render(request, "results/releases/list.html", context, status=409 if problem else 200)


class UnknownLicence(CannotExport):
    """The licence of a release is neither an SPDX name nor an address, and nobody has confirmed it."""

    def __init__(self, licence: str) -> None:
        super().__init__(
            f"“{licence}” is neither an SPDX name nor an address, and a release never changes. "
            "Correct the licence, or tick that you mean this text."
        )
        self.licence = licence


@dataclass(frozen=True)
class ReleaseLine:
    """A release with its exports, and the removals of its people since it was frozen."""

    release: Release
    since: RemovalDates
    exports: Sequence[OfferedExport]

    @property
    def formats(self) -> Sequence[FormatOption]:
        return format_options(RELEASE_FORMATS, self.release.dossier.get("empty_formats", ()))

    @property
    def is_unmade(self) -> bool:
        """Whether a file of it is being made, which freezes it first."""
        return any(line.export.is_unmade for line in self.exports)


def _lines(study: Study) -> list[ReleaseLine]:
    related = ("exports__study__project", "exports__requested_by", "exports__release", "exports__job")
    of_study = Q(study=study) | Q(beside=study)
    found = list(
        Release.objects.filter(of_study).distinct().select_related("study").prefetch_related("beside", *related)
    )
    removed = find_removals(releases=found)
    return [
        ReleaseLine(
            release,
            since := removed.of_release(release),
            [OfferedExport(export, since) for export in release.exports.all()],
        )
        for release in found
    ]


def _ask(request: HttpRequest, study: Study, user: User) -> None:
    name, description, licence, citation = (request.POST.get(field, "").strip() for field in FIELDS)
    now = timezone.now()
    # Checked before anything is stored, so that a wrong format leaves no release behind.
    check_format(request.POST.get("format", ""))
    about = About(release=name, description=description, licence=licence, citation=citation)
    check_texts(about)
    is_new = request.POST.get("do") == NEW
    if is_new and licence and not is_recognised(licence) and request.POST.get("own_licence") != licence:
        raise UnknownLicence(licence)
    beside = other_dataset_studies(study) if request.POST.get("dataset") else None
    # A format that cannot hold the items leaves no release behind either.
    with transaction.atomic():
        release, created = prepare_release(study=study, beside=beside, about=about, by=user, now=now)
        if is_new and not created:
            is_second_click = release.made_at >= now - SENT_TWICE
            if is_second_click and release.exports.filter(format=request.POST.get("format", "")).exists():
                # The first click has made it, with the same texts.
                return
            raise CannotExport(
                f"The release {name} already exists and does not change. Choose another name, such as {name}.1. "
                f"To get {name} in another format, use its own section on this page."
            )
        export = request_export(study=study, format=request.POST.get("format", ""), by=user, now=now, release=release)
    send(job_of(export=export))


@row_view(RELEASES, Verb.IDENTIFY_PEOPLE)
@require_safe
def people(request: HttpRequest, release: Release) -> HttpResponse:
    """Return the provider ids behind the pseudonyms of a release to those with permission."""
    name = f"{release.file_name}-provider-ids.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    try:
        table = provider_ids(release=release, by=signed_in_user(request), now=timezone.now())
    except CannotExport as error:
        messages.error(request, str(error))
        return redirect("study_releases", release.project.slug, release.study.slug)
    return HttpResponse(table, content_type="text/csv; charset=utf-8", headers=headers)


@project_view(Verb.VIEW)
@require_safe
def compare(request: HttpRequest, project: Project) -> HttpResponse | StreamingHttpResponse:
    """Compare two releases of a project: the page, or all its items as CSV."""
    releases = list(RELEASES.filter(project=project).exclude(file="").order_by("-made_at", "-pk"))
    by_id = {str(release.pk): release for release in releases}
    before, after = (by_id.get(read_field(request.GET, name)) for name in ("before", "after"))
    problem, comparison = "", None
    if before is not None and before == after:
        problem = "Choose two different releases."
    elif before is not None and after is not None:
        try:
            comparison = compare_releases(before, after)
        except CannotExport as error:
            problem = str(error)
    elif "before" in request.GET or "after" in request.GET:
        problem = "Choose two releases of this project."
    if comparison and request.GET.get("format") == "csv":
        return _compared_csv(comparison)
    context = {
        "project": project,
        "releases": releases,
        "before": before,
        "after": after,
        "problem": problem,
        "comparison": comparison,
        "both": list(zip((comparison.before, comparison.after), comparison.rules, strict=True)) if comparison else [],
        "shown": COMPARED_SHOWN,
    }
    return render(request, "results/releases/compare.html", context, status=409 if problem else 200)


def _compared_csv(comparison: ReleaseComparison) -> StreamingHttpResponse:
    name = f"{comparison.before.file_name}-to-{comparison.after.file_name}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    lines = csv_lines(("what", "item", "split", "type", "changed"), comparison.rows())
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)
