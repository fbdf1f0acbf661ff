"""The study as an annotator sees it, page by page, with the annotator's own templates. Nothing is stored."""

from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotation.pages import Bar, QuestionPage, Urls, question_page
from annotation.views.guards import wants_json
from results.views.guards import study_view
from studies.actions.asking import sample_questions
from studies.kinds import get_kind, shown_order
from studies.markdown import render_markdown
from studies.models import Question, Study

QUESTIONS_PER_PART = 3


@dataclass(frozen=True)
class Step:
    """One page of the preview. `number` counts questions from 1; `asked` has the kind and content of one."""

    name: str
    part: int = 0
    number: int = 0
    asked: dict[str, Any] = field(default_factory=dict)


@csrf_exempt
@study_view
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: HttpRequest, study: Study) -> HttpResponse:
    """Show one step; a post goes on to the next. Annotators' forms carry no CSRF token; nothing changes."""
    steps = _steps(study)
    names = [step.name for step in steps]
    wanted = request.GET.get("step", "")
    place = names.index(wanted) if wanted in names else 0
    if request.method == "POST":
        return _go_on(request, study, steps, place)
    return _show(request, study, steps, place)


def _steps(study: Study) -> list[Step]:
    steps = [Step("consent")] if study.design["consent"] else []
    sampled = _asked(study)
    number = 0
    for part in range(len(study.design["parts"])):
        steps.append(Step(f"instructions-{part + 1}", part))
        for asked in sampled:
            if asked["part"] == part:
                number += 1
                steps.append(Step(str(number), part, number, asked))
    return [*steps, Step("end")]


def _asked(study: Study) -> list[dict[str, Any]]:
    launched: list[dict[str, Any]] = []
    for part in range(len(study.design["parts"])):
        questions = Question.objects.filter(study=study, part=part)
        questions = questions.order_by("places__survey__number", "places__position")
        launched += map(dict, questions.values("kind", "part", "content")[:QUESTIONS_PER_PART])
    return launched or sample_questions(study, per_part=QUESTIONS_PER_PART)


def _address(study: Study, step: Step) -> str:
    return f"{reverse('study_preview', args=[study.slug])}?step={step.name}"


def _go_on(request: HttpRequest, study: Study, steps: list[Step], place: int) -> HttpResponse:
    following = steps[min(place + 1, len(steps) - 1)]
    if request.POST.get("agree") == "no":
        following = steps[-1]
    if not wants_json(request):
        response = HttpResponseRedirect(_address(study, following))
        response.status_code = 303
        return response
    # The page's script holds the next question already and gets the one after it, as from a session.
    later = steps[place + 2] if place + 2 < len(steps) and following.number else None
    body: dict[str, Any] = {
        "saved": True,
        "answered": steps[place].number,
        "total": _total(steps),
        "next": None,
        "go": None,
    }
    if not following.number:
        body["go"] = _address(study, following)
    elif later is not None and later.number:
        page = _question(study, later, _total(steps))
        body["next"] = render_to_string("annotation/_question.html", {"page": page})
    return JsonResponse(body)


def _total(steps: list[Step]) -> int:
    return sum(bool(step.number) for step in steps)


def _show(request: HttpRequest, study: Study, steps: list[Step], place: int) -> HttpResponse:
    step, total = steps[place], _total(steps)
    if step.name == "end":
        return render(request, "results/preview_end.html", {"study": study, "questions": total})
    context = _context(study, step, total)
    if step.name == "consent":
        context["consent_html"] = render_markdown(study.design["consent"])
        return render(request, "annotation/consent.html", context)
    if not step.number:
        minutes = study.design["time"]["estimated_minutes"]
        parts = len(study.design["parts"])
        context |= {"estimated_minutes": minutes, "total": total, "part_number": step.part + 1, "parts": parts}
        return render(request, "annotation/instructions.html", context)
    following = steps[place + 1]
    context |= {
        "page": _question(study, step, total),
        "ahead": _question(study, following, total) if following.number else None,
    }
    return render(request, "annotation/work.html", context)


def _context(study: Study, step: Step, total: int) -> dict[str, Any]:
    here = _address(study, step)
    return {
        "bar": Bar(
            title=f"Preview, nothing is stored: {study.title}",
            answered=max(0, step.number - 1),
            total=total,
            seconds_so_far=0,
            started=step.number > 0,
            show_progress=step.number > 0,
        ),
        "urls": Urls(*[here] * len(Urls.__dataclass_fields__)),
        "instructions_html": render_markdown(study.design["parts"][step.part]["instructions"]),
        "language": "en",
    }


def _question(study: Study, step: Step, total: int) -> QuestionPage:
    kind, content = step.asked["kind"], step.asked["content"]
    return question_page(
        kind_name=kind,
        content=content,
        order=shown_order(get_kind(kind), content, seed=study.seed, annotator=0, question=step.number),
        slot=step.number,
        number=step.number,
        total=total,
        action=_address(study, step),
    )
