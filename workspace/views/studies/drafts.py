"""Drafts: edit the study file, delete one, copy a study."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.actions.launching.study_jobs import cancel_study_job
from results.queries.studies.overview import waiting_images
from results.views.guards import may_do, project_view, signed_in_user, study_view
from studies.actions.drafts import (
    DraftChanged,
    create_once,
    delete_draft,
    duplicate_study,
    fingerprint,
    pending_launch,
    update_draft,
)
from studies.actions.question_types import describe_material, question_types
from studies.design import DesignRefused, Problem
from studies.design.form_fields import build_form, find_differences
from studies.design.parser import read_values
from studies.errors import StudyError
from studies.models import Project, Study, StudyState
from studies.permissions import Verb
from studies.shipped_designs import shipped_designs
from workspace.sent_forms import created_from, note_created, with_form_key

LARGEST_FILE = 1_000_000


@dataclass(frozen=True)
class LocatedProblem:
    """A problem, the text of its line if it has one, and in the form the name of its field."""

    problem: Problem
    text: str
    field: str = ""


def file_form(
    request: HttpRequest, study: Study, typed: str, problems: Sequence[Problem] = (), edited_from: str = ""
) -> dict[str, Any]:
    """Return the context of the study file's text form: the text, and its problems."""
    return {
        **launch_pending(request, study),
        "typed": typed,
        "edited_from": edited_from or fingerprint(study.source),
        "complaints": complaints(typed, problems),
    }


def launch_pending(request: HttpRequest, study: Study) -> dict[str, Any]:
    """Return why a draft cannot be saved now, because its launch waits or runs, and what the person may do."""
    pending = pending_launch(study)
    return {"launch_pending": pending, "may": may_do(request, study.project)} if pending else {}


def save_draft(request: HttpRequest, study: Study, source: str, edited_from: str) -> None:
    """Save the study file of a draft; first cancel its launch, if the person asks for it. Raises as `update_draft`."""
    by, now = signed_in_user(request), timezone.now()
    if "cancel_launch" in request.POST and pending_launch(study) and may_do(request, study.project)[Verb.RUN]:
        # It may have ended in between: then saving says so.
        with suppress(StudyError):
            cancel_study_job(study=study, by=by, now=now)
    update_draft(study=study, source=source, by=by, now=now, edited_from=edited_from)


def complaints(typed: str, problems: Sequence[Problem]) -> list[LocatedProblem]:
    """Return `problems` of the study file `typed`, each with the text of its line."""
    lines = typed.split("\n")
    return [
        LocatedProblem(problem, lines[problem.line - 1] if problem.line and problem.line <= len(lines) else "")
        for problem in problems
    ]


def form_of_draft(pk: int) -> str:
    """Return the address of the form of a study, "" if it was deleted."""
    return _address_of("study_form", pk)


def _page_of_draft(pk: int) -> str:
    """Return the address of the page of a study, which has its file while it is a draft; "" if it was deleted."""
    return _address_of("study", pk)


def _address_of(page: str, pk: int) -> str:
    study = Study.objects.select_related("project").filter(pk=pk).first()
    return reverse(page, args=[study.project.slug, study.slug]) if study else ""


def save_again(request: HttpRequest, study: Study, source: str) -> None:
    """Save what was changed in a form that had created `study` before, as after Back. Raises as `update_draft`."""
    if source != study.source:
        save_draft(request, study, source, fingerprint(study.source))
    messages.success(request, "You already sent this form. The draft that it created now has your last changes.")


@project_view(Verb.DESIGN)
@require_http_methods(["GET", "HEAD", "POST"])
@with_form_key(_page_of_draft)
def new(request: HttpRequest, project: Project) -> HttpResponse:
    """Create a draft from a study file: a shipped one, an uploaded one, or typed text."""
    copied = shipped_designs().get(request.GET.get("from", ""))
    typed, problems = copied.source if copied else "", list[Problem]()
    if request.method == "POST":
        typed, problems = _read_study_file(request)
        try:
            study = None if problems else _create(request, project, typed)
        except (DesignRefused, StudyError) as error:
            study, problems = None, problems_in(error)
        if study is not None:
            return redirect("study", project.slug, study.slug)
    types = [] if problems or copied else [*question_types(project)]
    material = describe_material(project)
    context = {
        "project": project,
        "typed": typed,
        "complaints": complaints(typed, problems),
        "shipped": shipped_designs().values(),
        "copied": copied,
        "types": types,
        "material": material,
        "missing": [each for each in types if each.ask is None and material],
        "waiting": waiting_images(project),
    }
    return render(request, "workspace/drafts/new.html", context, status=409 if problems else 200)


def confirm_draft(request: HttpRequest, study: Study) -> None:
    messages.success(request, f"The draft {study.slug} was created.")


def _read_study_file(request: HttpRequest) -> tuple[str, list[Problem]]:
    """Return the study file, an uploaded one before the typed one, and what is wrong with the file."""
    typed = request.POST.get("source", "").replace("\r\n", "\n")
    chosen = request.FILES.get("file")
    if chosen is None:
        return typed, []
    if (chosen.size or 0) > LARGEST_FILE:
        return typed, [
            Problem(None, f"{chosen.name} is larger than {LARGEST_FILE:,} bytes, too large for a study file.")
        ]
    try:
        return chosen.read().decode("utf-8-sig").replace("\r\n", "\n"), []
    except UnicodeDecodeError:
        return typed, [Problem(None, f"{chosen.name} is not UTF-8 text. Save the study file as UTF-8.")]


def _create(request: HttpRequest, project: Project, source: str) -> Study:
    if before := Study.objects.filter(project=project, pk=created_from(request) or 0).first():
        save_again(request, before, source)
        return before
    made = create_once(project=project, source=source, by=signed_in_user(request), now=timezone.now())
    note_created(request, made)
    confirm_draft(request, made)
    return made


@study_view(Verb.DESIGN)
@require_http_methods(["GET", "HEAD", "POST"])
def file(request: HttpRequest, study: Study) -> HttpResponse:
    """Save the study file of a draft, or show the form again with what was typed."""
    if request.method != "POST":
        return redirect("study", study.project.slug, study.slug)
    # Browsers normalise line ends.
    typed = request.POST.get("source", "").replace("\r\n", "\n")
    edited_from = request.POST.get("edited_from", "")
    try:
        save_draft(request, study, typed, edited_from)
    except DraftChanged:
        context = {"study": study} | file_form(request, study, typed) | draft_conflict(study, typed)
        return render(request, "workspace/drafts/file.html", context, status=409)
    except (DesignRefused, StudyError) as error:
        context = {"study": study} | file_form(request, study, typed, problems_in(error), edited_from)
        return render(request, "workspace/drafts/file.html", context, status=409)
    messages.success(request, "The study file is changed.")
    return redirect("study", study.project.slug, study.slug)


def draft_conflict(study: Study, typed: str) -> dict[str, Any]:
    """Return the draft that was saved after `typed` was begun, and how the two differ.

    Saving `typed` once more replaces it.
    """
    study.refresh_from_db()
    try:
        differences = find_differences(read_values(typed)[0], read_values(study.source)[0])
    except DesignRefused:
        differences = []
    return {"meanwhile": study.source, "differences": differences, "edited_from": fingerprint(study.source)}


def problems_in(error: DesignRefused | StudyError) -> list[Problem]:
    """Return the problems of a study file that an action refused."""
    if isinstance(error, DesignRefused):
        return error.problems
    return [Problem(None, sentence) for sentence in error.problems]


@study_view(Verb.DESIGN)
@require_http_methods(["GET", "HEAD", "POST"])
@with_form_key(form_of_draft)
def duplicate(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask for the copy's name, and create it."""
    given = {"name": request.POST.get("name", "").strip(), "title": request.POST.get("title", study.title).strip()}
    problems: list[Problem] = []
    if request.method == "POST":
        by, now = signed_in_user(request), timezone.now()
        try:
            copy = duplicate_study(study=study, slug=given["name"], title=given["title"], by=by, now=now)
        except (DesignRefused, StudyError) as error:
            problems = problems_in(error)
        else:
            note_created(request, copy)
            messages.success(request, f"This draft asks what {study.slug} asks. Change it here, then launch it.")
            return redirect("study", copy.project.slug, copy.slug)
    words = [*map(build_form({}).in_words, (problem.message for problem in problems))]
    context = {"study": study, "given": given, "problems": words}
    return render(request, "workspace/drafts/duplicate.html", context, status=409 if problems else 200)


@study_view(Verb.DESIGN)
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, study: Study) -> HttpResponse:
    """Show what is deleted with a draft, and delete it on confirmation."""
    problems: tuple[str, ...] = ()
    if request.method == "POST":
        slug, project = study.slug, study.project.slug
        try:
            delete_draft(study=study, by=signed_in_user(request), now=timezone.now())
        except StudyError as error:
            problems = error.problems
        else:
            messages.success(request, f"The draft {slug} is deleted.")
            return redirect("project", project)
    elif study.state != StudyState.DRAFT:
        messages.info(request, "The study was launched, so it cannot be deleted. Close it instead.")
        return redirect("study", study.project.slug, study.slug)
    context = {"study": study, "problems": problems}
    return render(request, "workspace/drafts/delete.html", context, status=409 if problems else 200)
