"""Notes on a person, and their block in a project."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from annotation.actions.reviewing import blocks, person_notes
from annotation.actions.reviewing.blocks import CannotBlock
from annotation.actions.reviewing.person_notes import CannotNote
from annotation.models import PersonNote, Session
from results.views.form_values import LONGEST_NUMBER, read_field
from results.views.guards import project_view, signed_in_user
from results.views.participants import find_person
from studies.models import Project
from studies.permissions import Verb


@project_view(Verb.REMOVE_PEOPLE)
@require_POST
def add_note(request: HttpRequest, project: Project, name: str) -> HttpResponse:
    person, chosen = find_person(project, name), read_field(request.POST, "session")
    is_id = chosen.isdecimal() and len(chosen) <= LONGEST_NUMBER
    theirs = Session.objects.filter(study__project=project, annotator=person.annotator)
    session = theirs.filter(pk=int(chosen)).first() if is_id else None
    text = read_field(request.POST, "text")
    try:
        person_notes.add_note(
            annotator=person.annotator,
            project=project,
            session=session,
            text=text,
            by=signed_in_user(request),
            now=timezone.now(),
        )
    except CannotNote as error:
        context = {"project": project, "name": name, "problem": error.message, "text": text, "session": chosen}
        return render(request, "results/people/note.html", context, status=409)
    return redirect(f"{reverse('person', args=[project.slug, name])}#notes")


@project_view(Verb.REMOVE_PEOPLE)
@require_POST
def delete_note(request: HttpRequest, project: Project, name: str, note: int) -> HttpResponse:
    found = get_object_or_404(
        PersonNote.objects.select_related("project"),
        project=project,
        annotator=find_person(project, name).annotator,
        pk=note,
    )
    try:
        person_notes.delete_note(note=found, by=signed_in_user(request), now=timezone.now())
    except CannotNote as error:
        messages.error(request, error.message)
    return redirect(f"{reverse('person', args=[project.slug, name])}#notes")


@project_view(Verb.REMOVE_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
def block(request: HttpRequest, project: Project, name: str) -> HttpResponse:
    """Ask for the reason of a block, and block the person."""
    person, reason, problem = find_person(project, name), read_field(request.POST, "reason"), ""
    if request.method == "POST":
        try:
            blocks.block(
                annotator=person.annotator,
                project=project,
                reason=reason,
                by=signed_in_user(request),
                now=timezone.now(),
            )
        except CannotBlock as error:
            problem = error.message
        else:
            messages.success(request, f"{name} is blocked: they get no further session in {project.name}.")
            return redirect("person", project.slug, name)
    context = {"project": project, "name": name, "reason": reason, "problem": problem}
    return render(request, "results/people/block.html", context, status=409 if problem else 200)


@project_view(Verb.REMOVE_PEOPLE)
@require_POST
def allow(request: HttpRequest, project: Project, name: str) -> HttpResponse:
    person = find_person(project, name)
    try:
        blocks.allow(annotator=person.annotator, project=project, by=signed_in_user(request), now=timezone.now())
    except CannotBlock as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{name} may take part again.")
    return redirect("person", project.slug, name)
