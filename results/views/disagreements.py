"""Questions of a study on which annotators disagree, side by side, and their adjudication."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.actions.deciding import adjudication
from annotation.actions.deciding.adjudication import CannotSettle
from results.actions.pseudonyms import name_annotators
from results.queries.instances.disagreements import CONFLICTING, SHOWN, counts_shown, page_of_disagreements
from results.queries.instances.instance_history import histories
from results.queries.studies.simulated_answers import simulated_in_study
from results.views.form_values import typed
from results.views.guards import may_do, signed_in, study_view
from studies.models import Question, Study
from studies.permissions import Verb


@study_view(Verb.VIEW)
@require_safe
def disagreements(request: HttpRequest, study: Study) -> HttpResponse:
    name_annotators(project=study.project)
    shown = _shown(request.GET.get("show", ""))
    counts = counts_shown(study)
    context = {
        "study": study,
        "may": may_do(request, study.project),
        "shown": shown,
        "simulated": simulated_in_study(study),
        "tab": urlencode({"show": shown}),
        "filters": [(name, label, counts[name]) for name, label in SHOWN.items()],
        "questions": page_of_disagreements(study, shown, request.GET.get("page")),
    }
    return render(request, "results/disagreements/list.html", context)


def _shown(name: str) -> str:
    return name if name in SHOWN else CONFLICTING


@study_view(Verb.SETTLE)
@require_POST
def settle(request: HttpRequest, study: Study, question: int) -> HttpResponse:
    asked = get_object_or_404(Question, study=study, pk=question)
    choice, note = typed(request.POST, "choice"), typed(request.POST, "note")
    if not choice:
        return _refused(request, study, asked, "Choose the option that the question is settled with.", note)
    try:
        adjudication.settle(question=asked, choice=choice, by=signed_in(request), note=note, now=timezone.now())
    except CannotSettle as error:
        return _refused(request, study, asked, error.message, note)
    messages.success(request, f"The question about {asked.instance.key} is settled with {choice}.")
    return _back(request, study)


@study_view(Verb.SETTLE)
@require_POST
def unsettle(request: HttpRequest, study: Study, question: int) -> HttpResponse:
    asked = get_object_or_404(Question, study=study, pk=question)
    try:
        adjudication.unsettle(question=asked, by=signed_in(request), now=timezone.now())
    except CannotSettle as error:
        return _refused(request, study, asked, error.message, "")
    messages.success(request, f"The settlement about {asked.instance.key} is taken back; the answers decide again.")
    return _back(request, study)


def _back(request: HttpRequest, study: Study) -> HttpResponse:
    """Redirect to the list in its previous state."""
    query = {"show": _shown(request.POST.get("show", ""))}
    if (page := request.POST.get("page", "")).isdecimal():
        query["page"] = page
    return redirect(f"{reverse('study_disagreements', args=[study.project.slug, study.slug])}?{urlencode(query)}")


def _refused(request: HttpRequest, study: Study, question: Question, problem: str, note: str) -> HttpResponse:
    """Show only this question with the error; the note is kept."""
    name_annotators(project=study.project)
    asked = histories(Question.objects.filter(pk=question.pk), project=study.project)[0]
    show = _shown(request.POST.get("show", ""))
    context = {"study": study, "asked": asked, "problem": problem, "note": note, "show": show}
    context["may"] = may_do(request, study.project)
    return render(request, "results/disagreements/refused.html", context, status=409)
