"""Choose practice questions of a study: find an instance, its right answer, and the feedback."""

from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from results.queries.instances.explorer import InstanceFilters, list_instances, page_of_instances
from results.queries.instances.instance_history import names_of_options
from results.queries.instances.instance_list import categories_of
from results.queries.instances.pages import row_id
from results.views.form_values import read_field
from results.views.guards import study_view
from studies.actions.drafts import fingerprint
from studies.actions.questions import practice_about
from studies.design import DesignRefused
from studies.design.editor import apply_changes
from studies.design.model import PracticeEntry
from studies.design.parser import read_values
from studies.design.spans import lost_comments
from studies.errors import StudyError
from studies.kinds import CannotAsk
from studies.models import Instance, Study, StudyState
from studies.permissions import Verb
from studies.wording import format_count
from workspace.views.studies.drafts import launch_pending, problems_in, save_draft

QUESTIONS = ("practice", "questions")


@study_view(Verb.DESIGN)
@require_http_methods(["GET", "HEAD", "POST"])
def practice(request: HttpRequest, study: Study) -> HttpResponse:
    """Show a draft's practice questions, instances to choose from, and the chosen one; add or remove one."""
    if study.state != StudyState.DRAFT:
        messages.info(request, "The study has been launched, so its practice questions cannot change.")
        return redirect("study", study.project.slug, study.slug)
    problems: list[str] = []
    if request.method == "POST":
        try:
            _save(request, study)
        except (DesignRefused, StudyError) as error:
            problems = [str(problem) for problem in problems_in(error)]
        else:
            return redirect("study_practice", study.project.slug, study.slug)
    wanted = InstanceFilters(type=read_field(request.GET, "type"), words=read_field(request.GET, "words"))
    after, before = read_field(request.GET, "after"), read_field(request.GET, "before")
    page, _ = page_of_instances(list_instances(study.project, [], wanted), [], after=after, before=before)
    query = {name: value for name, value in asdict(wanted).items() if value}
    place = {name: value for name, value in (("after", after), ("before", before)) if value}
    context = (
        _chosen_question(request, study)
        | launch_pending(request, study)
        | {
            "project": study.project,
            "study": study,
            "problems": problems,
            "practised": _practised(study),
            "wanted": wanted,
            "query": urlencode(query),
            "here": urlencode(query | place),
            "types": sorted({type for type, _, _ in categories_of(study.project) if type}),
            "page": page,
        }
    )
    return render(request, "workspace/drafts/practice.html", context, status=409 if problems else 200)


def _chosen_question(request: HttpRequest, study: Study) -> dict[str, Any]:
    """Return the question about the chosen instance with its options, or why it cannot be practised."""
    number = request.POST.get("pick") or request.GET.get("pick", "")
    found = _instance(study, number)
    if found is None:
        return {"picked": None}
    try:
        kind, built = practice_about(study, found)
    except CannotAsk as error:
        return {"picked": found, "why_not": str(error)}
    options = kind.options(built.content)
    why_not = "" if options and kind.has_one_label else "Questions of this kind have no single right answer."
    # Keep what was typed after an error.
    if request.method != "POST" and _is_practised(study, found):
        why_not = "It is already a practice question. Take it out above to choose another answer."
    shown, names = kind.question_content(built.content), names_of_options(options)
    right = request.POST.get("right") or built.right_option
    return {
        "picked": found,
        "shown": shown,
        "options": [(option, names[option.key]) for option in options],
        "right": right,
        "known": bool(built.right_option),
        "feedback": request.POST.get("feedback", ""),
        "why_not": why_not,
    }


def _practised(study: Study) -> list[tuple[PracticeEntry, str]]:
    """Return the practice questions, each with the words of its right answer."""
    entries = study.design.practice.questions
    keys = [entry.instance for entry in entries]
    instances = {one.key: one for one in Instance.objects.filter(project=study.project_id, key__in=keys)}
    return [(entry, _words_of(study, instances.get(entry.instance), entry.right)) for entry in entries]


def _words_of(study: Study, instance: Instance | None, right: str) -> str:
    """Return the name of a right answer, or its key if the question can no longer be asked."""
    if instance is None:
        return right
    try:
        kind, built = practice_about(study, instance)
    except CannotAsk:
        return right
    return names_of_options(kind.options(built.content)).get(right, right)


def _instance(study: Study, number: str) -> Instance | None:
    pk = row_id(number)
    return None if pk is None else Instance.objects.filter(project=study.project_id, pk=pk).first()


def _is_practised(study: Study, instance: Instance) -> bool:
    return instance.key in {entry.instance for entry in study.design.practice.questions}


def _save(request: HttpRequest, study: Study) -> None:
    """Write the practice question into the study file; everything else stays as it was typed."""
    study_file = study.source
    said = read_values(study_file)[0].get("practice") or {}
    questions: list[Any] = list(said.get("questions") or [])
    if "out" in request.POST:
        questions = [entry for entry in questions if entry["instance"] != request.POST["out"]]
    else:
        questions.append(_add_practice(request, study))
    source = apply_changes(study_file, {QUESTIONS: questions or None})
    # Keep what another tab has added: only an edit at this very moment conflicts.
    read = fingerprint(study_file)
    save_draft(request, study, source, read)
    messages.success(request, f"Practice saved: {format_count(len(questions), 'question')}.")
    if lost := lost_comments(study_file, source):
        told = ", ".join(f"# {comment}" for comment in lost)
        messages.warning(request, f"Your change removed these comments of the study file: {told}")


def _add_practice(request: HttpRequest, study: Study) -> dict[str, str]:
    found = _instance(study, request.POST.get("pick", ""))
    if found is None:
        raise StudyError("Choose an instance first.")
    if _is_practised(study, found):
        raise StudyError(f"{found.key} is already a practice question. Take it out to choose another answer.")
    right = request.POST.get("right", "")
    if not right:
        raise StudyError("Choose the right answer.")
    try:
        kind, built = practice_about(study, found)
    except CannotAsk as error:
        raise StudyError(str(error)) from error
    if right not in {option.key for option in kind.options(built.content)}:
        raise StudyError("This is not one of the answers. Choose one that is shown.")
    added = {"instance": found.key, "right": right}
    feedback = request.POST.get("feedback", "").replace("\r\n", "\n").strip()
    return added | ({"feedback": feedback} if feedback else {})
