"""The study file as a form: another view of the same text, with problems beside fields and lines."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.actions.launching import launch
from results.views.guards import may_do, project_view, signed_in_user, study_view
from studies.actions.drafts import DraftChanged, create_once, fingerprint
from studies.actions.question_types import QuestionType, names_in, question_type
from studies.actions.studies import columns, feeding_study
from studies.design import DesignRefused, Problem, read_design
from studies.design.copies import write_study_file
from studies.design.editor import apply_changes, value_at
from studies.design.form_changes import apply_form
from studies.design.form_fields import Fieldset, Form, build_form
from studies.design.parser import Path, read_values
from studies.design.sentences import describe_design
from studies.design.spans import lost_comments
from studies.errors import StudyError
from studies.kinds import KINDS
from studies.markdown import render_headed
from studies.models import UNDER_WAY, Project, Study, StudyState
from studies.names import LONGEST_SLUG
from studies.permissions import Verb
from studies.shipped_designs import shipped_designs
from workspace.sent_forms import created_from, note_created, with_form_key
from workspace.views.studies.consent import unnumbered_consents, version_lines
from workspace.views.studies.drafts import (
    LocatedProblem,
    complaints,
    confirm_draft,
    draft_conflict,
    form_of_draft,
    launch_pending,
    problems_in,
    save_again,
    save_draft,
)
from workspace.views.studies.launch_preview import preview_draft

# For consent and instructions.
FIRST_PAGES_MINUTES = 2
# Buttons of the form, besides those of a list or a field.
SAVE, CHECK, AS_FILE = "save", "look", "file"
Save = Callable[[str], Study]


@study_view(Verb.DESIGN)
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, study: Study) -> HttpResponse:
    """Edit a draft in the form, and save it."""
    if study.state != StudyState.DRAFT:
        messages.info(request, "The study was launched, so its design cannot change.")
        return redirect("study", study.project.slug, study.slug)
    edited_from = request.POST.get("edited_from") or fingerprint(study.source)

    def save(source: str) -> Study:
        save_draft(request, study, source, edited_from)
        messages.success(request, "The study is changed.")
        return study

    about = {"project": study.project, "study": study, "edited_from": edited_from, **launch_pending(request, study)}
    return _form(request, study.source, about, save)


@project_view(Verb.DESIGN)
@require_http_methods(["GET", "HEAD", "POST"])
@with_form_key(form_of_draft)
def new(request: HttpRequest, project: Project) -> HttpResponse:
    """Create a draft in the form, of a question type (`kind`) or from a shipped study file (`from`)."""
    copied = shipped_designs().get(request.GET.get("from", ""))
    name = request.GET.get("kind", "")
    chosen = question_type(project, name if name in KINDS else next(iter(KINDS)))
    suggested = chosen.kind.study_title or chosen.kind.title
    title = suggested if name in KINDS else ""
    source = copied.source if copied else _first_file(project, chosen, title, signed_in_user(request))
    own_name = request.POST.get("study") != request.POST.get("named")

    def suggest_name(source: str) -> str:
        """Return the name that follows from the title, "" if the person typed a name."""
        values, _ = read_values(source)
        title, named = values.get("title"), str(values.get("study", ""))
        if own_name or not isinstance(title, str):
            return ""
        return _usual_name(chosen) if title == suggested else slugify(title)[:LONGEST_SLUG].strip("-") or named

    def save(source: str) -> Study:
        if before := Study.objects.filter(project=project, pk=created_from(request) or 0).first():
            save_again(request, before, source if own_name else apply_changes(source, {("study",): before.slug}))
            return before
        made = create_once(
            project=project, source=source, by=signed_in_user(request), now=timezone.now(), is_named=own_name
        )
        note_created(request, made)
        confirm_draft(request, made)
        return made

    named = request.POST.get("named", "" if copied else value_at(read_values(source)[0], ("study",)))
    about = {"project": project, "named": named, "chosen": None if copied or not name else chosen}
    return _form(request, source, about, save, suggest_name)


def _usual_name(chosen: QuestionType) -> str:
    return chosen.kind.name.replace("_", "-")


def _first_file(project: Project, chosen: QuestionType, title: str, person: User) -> str:
    """Return the study file of a new form; everything in it can be changed there.

    Contact and recruitment are those of the project's last study.
    """
    last = Study.objects.filter(project=project).order_by("-pk").first()
    contact = f"{person.get_full_name() or person.get_username()}, {person.email}" if person.email else None
    if last is not None and last.design.contact:
        contact = last.design.contact
    source = chosen.study_file(study=_usual_name(chosen), title=title, contact=contact)
    recruitment = last.design.recruitment if last is not None else None
    changes: dict[Path, Any] = {
        ("recruitment", name): False
        for name in ("prolific", "invite")
        if recruitment is not None and not getattr(recruitment, name)
    }
    minutes = _usual_minutes(project, chosen, apply_changes(source, {("title",): title or "x"}))
    return apply_changes(source, changes | {("time", "estimated_minutes"): minutes})


def _usual_minutes(project: Project, chosen: QuestionType, source: str) -> int | None:
    """Return the minutes that a survey of a new study takes, None if its size is not known yet.

    Two minutes for the first pages, and the usual time of each question; rounded up, from 10 on to fives.
    """
    try:
        plan = launch.foresee(_unsaved_study(project, source))
    except (DesignRefused, StudyError):
        return None
    if not plan.seats:
        return None
    minutes = math.ceil(FIRST_PAGES_MINUTES + plan.answers / plan.seats * chosen.kind.usual_seconds / 60)
    return minutes if minutes <= 10 else math.ceil(minutes / 5) * 5


def _form(
    request: HttpRequest,
    source: str,
    about: Mapping[str, Any],
    save: Save,
    suggest_name: Callable[[str], str] = lambda source: "",
) -> HttpResponse:
    """Show a study file as a form, or handle its buttons: save, check, show the file.

    source: the initial text, unless the request has one. suggest_name: see `new`.
    """
    if request.method != "POST":
        return _render_form(request, source, about)
    given = _text_before(request) or source
    do = request.POST.get("do", SAVE)
    source, lost = given, list[str]()
    try:
        source = apply_form(given, _sent_fields(request))
        lost = lost_comments(given, source)
        if name := suggest_name(source):
            source, about = apply_changes(source, {("study",): name}), {**about, "named": name}
        if do == AS_FILE:
            return render(request, "workspace/drafts/as_file.html", {**about, "typed": source, "lost": lost})
        if do == CHECK:
            read_design(source)
        # Report changes that no field shows before they are saved.
        if do != SAVE or lost:
            return _render_form(request, source, about, lost=lost)
        made = save(source)
    except DraftChanged:
        return _render_form(request, source, {**about, **draft_conflict(about["study"], source)}, status=409)
    except (DesignRefused, StudyError) as error:
        return _render_form(request, source, about, problems_in(error), lost, status=409)
    return redirect("study", made.project.slug, made.slug)


def _text_before(request: HttpRequest) -> str:
    """Return the study file that the form was made of."""
    return request.POST.get("source", "").replace("\r\n", "\n")


def _sent_fields(request: HttpRequest) -> dict[str, str]:
    """Return the fields of the form; a list of choices has one line each."""
    return {name: "\n".join(map(str, values)) for name, values in request.POST.lists()}


def _render_form(
    request: HttpRequest,
    source: str,
    about: Mapping[str, Any],
    problems: Iterable[Problem] = (),
    lost: Sequence[str] = (),
    status: int = 200,
) -> HttpResponse:
    """Show a study file as a form. `lost`: comments that the last change removed."""
    problems = list(problems)
    try:
        values, lines = read_values(source)
    except DesignRefused:
        # A text that is not a study file has no fields: it can only be corrected as text.
        context = {**about, "typed": source, "complaints": complaints(source, problems)}
        return render(request, "workspace/drafts/as_file.html", context, status=409)
    form = build_form(values, lines, problems, names_in(about["project"], about.get("study")))
    told = [problem.message for problem in problems]
    preview = {"unforeseen": told} if problems else _preview_launch(about["project"], source)
    if preview.get("unforeseen"):
        preview["unforeseen"] = [*map(form.in_words, preview["unforeseen"])]
    context = {
        **about,
        **preview,
        "form": form,
        "typed": source,
        "complaints": _attach_problems(complaints(source, problems), form),
        "lost": lost,
        "begin": form.focus(request.POST.get("do", "")),
    }
    return render(request, "workspace/drafts/form.html", context, status=status)


def _attach_problems(told: Sequence[LocatedProblem], form: Form) -> list[LocatedProblem]:
    """Return the problems in the form's words, each with its field, in the order of the fields."""
    beside = {message: each.name for each in form.all_fields() for message in each.problems}
    in_words = [
        replace(each, problem=replace(each.problem, message=form.in_words(each.problem.message))) for each in told
    ]
    return [replace(each, field=beside.get(each.problem.message, "")) for each in in_words]


def locate_problems(study: Study, sentences: Iterable[str]) -> list[LocatedProblem]:
    """Return problems of a draft in the words of its form, each with its field."""
    problems = [Problem(None, sentence) for sentence in sentences]
    try:
        form = build_form(*read_values(study.source), problems)
    except DesignRefused:
        return complaints("", problems)
    return _attach_problems(complaints("", problems), form)


@project_view(Verb.DESIGN)
@require_POST
def foresee(request: HttpRequest, project: Project) -> HttpResponse:
    """Show what a launch of the study in the form would create, cost and tell; asked for while somebody types."""
    source = _text_before(request)
    try:
        source = apply_form(source, _sent_fields(request))
        context = _preview_launch(project, source)
    except DesignRefused as error:
        context = {"unforeseen": [problem.message for problem in error.problems]}
    if context.get("unforeseen"):
        with suppress(DesignRefused):
            form = build_form(*read_values(source))
            context["unforeseen"] = [*map(form.in_words, context["unforeseen"])]
    return render(request, "workspace/drafts/_foreseen.html", context)


def _unsaved_study(project: Project, source: str) -> Study:
    """Return the study of a study file. Raises DesignRefused and StudyError."""
    design = read_design(source)
    with transaction.atomic():
        return Study(project=project, fed_by=feeding_study(project, design), **columns(design))


def _preview_launch(project: Project, source: str) -> dict[str, Any]:
    """Return what a launch of a study file would create, cost and tell, or what is missing for that."""
    try:
        study = _unsaved_study(project, source)
        typed = value_at(read_values(source)[0], ("time", "estimated_minutes"))
        assumed = study.design.time.estimated_minutes if typed in (None, "") else None
        return preview_draft(study) | {"assumed_minutes": assumed}
    except (DesignRefused, StudyError) as error:
        return {"unforeseen": [problem.message for problem in problems_in(error)]}


@project_view(Verb.DESIGN)
@require_POST
def markdown(request: HttpRequest, project: Project) -> HttpResponse:
    """Render Markdown of the form as annotators see it, with the same sanitising renderer."""
    text = request.POST.get(request.GET.get("field", ""), "").replace("\r\n", "\n")
    return render(request, "workspace/drafts/_markdown.html", {"text": render_headed(text)})


@study_view(Verb.VIEW)
@require_safe
def design(request: HttpRequest, study: Study) -> HttpResponse:
    """Show a study's design: in sentences, then what was chosen, then defaults."""
    design = study.design
    texts = [(part.kind, render_headed(part.instructions)) for part in design.parts]
    asked = {"answers": study.answers, "most_answers": study.most_answers, "questions": study.questions.count()}
    context = {
        "study": study,
        "sentences": describe_design(design, **asked),
        "instructions": texts,
        "consent": render_headed(design.consent) if design.consent else None,
        "consent_versions": version_lines(study),
        "unnumbered_consents": unnumbered_consents(study) if design.consent else 0,
        "may_change_consent": may_do(request, study.project)[Verb.RUN] and study.state in UNDER_WAY,
        "values": _values(study),
    }
    return render(request, "workspace/design.html", context)


def _values(study: Study) -> list[tuple[str, list[Fieldset]]]:
    """Return the values that the study file has, and those that are defaults."""
    sections = build_form(read_values(write_study_file(study.design))[0]).sections
    written: Mapping[str, Any] = {}
    with suppress(DesignRefused):
        written = read_values(study.source)[0]
    chosen: list[Fieldset] = []
    defaults: list[Fieldset] = []
    for each in sections:
        own = [field for field in each.fields if value_at(written, field.path) is not None]
        chosen.append(replace(each, fields=own))
        defaults.append(replace(each, fields=[field for field in each.fields if field not in own], entries=()))
    return [("Chosen values", chosen), ("Defaults", defaults)]
