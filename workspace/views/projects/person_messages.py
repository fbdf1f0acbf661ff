"""Write to an annotator, by the platform they came from or by mail."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.actions.reviewing.person_messages import CannotWrite, find_channel, write_message
from results.views.form_values import read_field
from results.views.guards import project_view, signed_in_user
from results.views.participants import find_person
from studies.models import Project
from studies.permissions import Verb
from workspace.tasks import send_person_messages


@project_view(Verb.RUN)
@require_http_methods(["GET", "HEAD", "POST"])
def message(request: HttpRequest, project: Project, name: str) -> HttpResponse:
    """Ask for the text of a message, and have it sent."""
    person, text, problem, channel = find_person(project, name), read_field(request.POST, "text"), "", ""
    try:
        channel = find_channel(annotator=person.annotator, project=project).label
        if request.method == "POST":
            write_message(
                annotator=person.annotator,
                project=project,
                text=text,
                by=signed_in_user(request),
                now=timezone.now(),
            )
            send_person_messages.delay_on_commit()
            messages.success(request, f"The message to {name} is being sent. Its state stands under Messages.")
            return redirect(f"{reverse('person', args=[project.slug, name])}#messages")
    except CannotWrite as error:
        problem = error.message
    context = {"project": project, "name": name, "channel": channel, "text": text, "problem": problem}
    refused = bool(problem) and request.method == "POST"
    return render(request, "workspace/person_message.html", context, status=409 if refused else 200)
