"""The study as an annotator sees it, page by page, with the annotator's own templates. Nothing is stored."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotation.pages import Bar, Urls, question_page
from annotation.views.guards import wants_json
from results.views.guards import study_view
from studies.actions.asking import sample_contents
from studies.kinds import get_kind, shown_order
from studies.markdown import render_markdown
from studies.models import Question, Study

QUESTIONS = 3


@csrf_exempt
@study_view
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: HttpRequest, study: Study) -> HttpResponse:
    """Show one step; a post goes on to the next. Annotators' forms carry no CSRF token; nothing changes."""
    contents = _contents(study)
    steps = _steps(study, len(contents))
    step = request.GET.get("step", steps[0])
    place = steps.index(step) if step in steps else 0
    refused = request.POST.get("agree") == "no"
    following = _address(study, "end" if refused else steps[min(place + 1, len(steps) - 1)])
    if request.method == "POST":
        if wants_json(request):
            return JsonResponse({"saved": True, "next": None, "go": following})
        response = HttpResponseRedirect(following)
        response.status_code = 303
        return response
    return _show(request, study, steps[place], contents)


def _contents(study: Study) -> list[dict[str, Any]]:
    asked = Question.objects.filter(study=study).order_by("places__survey__number", "places__position")
    return list(asked.values_list("content", flat=True)[:QUESTIONS]) or sample_contents(study, limit=QUESTIONS)


def _steps(study: Study, questions: int) -> list[str]:
    numbers = [str(number) for number in range(1, questions + 1)]
    return [*(["consent"] if study.design["consent"] else []), "instructions", *numbers, "end"]


def _address(study: Study, step: str) -> str:
    return f"{reverse('study_preview', args=[study.slug])}?step={step}"


def _show(request: HttpRequest, study: Study, step: str, contents: list[dict[str, Any]]) -> HttpResponse:
    here = _address(study, step)
    context: dict[str, Any] = {
        "bar": Bar(
            title=f"Preview, nothing is stored: {study.title}",
            answered=int(step) - 1 if step.isdecimal() else 0,
            total=len(contents),
            seconds_so_far=0,
            started=step.isdecimal(),
            show_progress=step.isdecimal(),
        ),
        "urls": Urls(*[here] * len(Urls.__dataclass_fields__)),
        "instructions_html": render_markdown(study.design["instructions"]),
        "language": "en",
    }
    if step == "consent":
        context["consent_html"] = render_markdown(study.design["consent"])
        return render(request, "annotation/consent.html", context)
    if step == "instructions":
        minutes = study.design["time"]["estimated_minutes"]
        context |= {"estimated_minutes": minutes, "total": len(contents), "has_practice": False}
        return render(request, "annotation/instructions.html", context)
    if step == "end":
        return render(request, "results/preview_end.html", {"study": study, "questions": len(contents)})
    return render(request, "annotation/work.html", context | _question(study, int(step), contents))


def _question(study: Study, number: int, contents: list[dict[str, Any]]) -> dict[str, Any]:
    content = contents[number - 1]
    page = question_page(
        kind_name=study.kind,
        content=content,
        order=shown_order(get_kind(study.kind), content, seed=study.seed, annotator=0, question=number),
        slot=number,
        number=number,
        total=len(contents),
        action=_address(study, str(number)),
    )
    return {"page": page, "ahead": None, "notice": "", "error": "", "can_change": False}
