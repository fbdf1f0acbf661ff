"""Retire single questions of a study, and restore them."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.actions.removing import retire_questions
from annotation.models import Response
from results.views.guards import signed_in_user, study_view
from studies.models import Question, Study
from studies.permissions import Verb


@study_view(Verb.SETTLE)
@require_http_methods(["GET", "HEAD", "POST"])
def retire_or_restore(request: HttpRequest, study: Study, question: int) -> HttpResponse:
    """Show what retiring or restoring a question does, and do it on confirmation."""
    found = get_object_or_404(
        Question.with_checks.filter(study=study).select_related("instance", "study__project"), pk=question
    )
    problem, back = "", _page_before(request, found)
    if request.method == "POST":
        try:
            messages.success(request, _act(request, found))
        except retire_questions.CannotTakeOut as error:
            problem = error.message
        else:
            return redirect(back)
    answers = Response.objects.filter(question=found, is_current=True, slot__isnull=False).count()
    context = {"study": study, "question": found, "answers": answers, "problem": problem, "back": back}
    return render(request, "workspace/question.html", context, status=409 if problem else 200)


def _page_before(request: HttpRequest, question: Question) -> str:
    """Return the address of the page that led here."""
    project, study = question.study.project.slug, question.study.slug
    match request.GET.get("from"):
        case "instance":
            page = reverse("instance", args=[project, question.instance.name_in_address])
        case "questions":
            place = {name: request.GET[name] for name in ("sort", "page") if name in request.GET}
            page = f"{reverse('study_questions', args=[project, study])}?{urlencode(place)}"
        case "checks":
            page = f"{reverse('study_checks', args=[project, study])}?{urlencode({'page': request.GET.get('page', 1)})}"
        case _:
            return f"{reverse('study', args=[project, study])}#reports"
    return f"{page}#question-{question.pk}"


def _act(request: HttpRequest, question: Question) -> str:
    by, now = signed_in_user(request), timezone.now()
    if "back" in request.POST:
        followed = retire_questions.put_back(question=question, by=by, now=now)
        return _say(question, "put back", f"Answers that count again: {followed.answers}.")
    followed = retire_questions.take_out(question=question, reason=request.POST.get("reason", ""), by=by, now=now)
    return _say(question, "taken out", f"Answers that no longer count: {followed.answers}.")


def _say(question: Question, done: str, answers: str) -> str:
    # The answers to a check never count as answers of the study.
    return f"The check was {done}." if question.check_type else f"The question was {done}. {answers}"
