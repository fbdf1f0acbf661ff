"""Preview of a study in the annotator's own templates, page by page. Nothing is stored."""

from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any
from urllib.parse import urlencode

from csp.constants import SELF
from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from annotation.actions.answering.practice import Terms
from annotation.actions.launching import launch
from annotation.actions.launching.consent_versions import latest_version
from annotation.language import interface_language, lang_attribute
from annotation.money import format_pay
from annotation.pages import (
    QUESTIONS_AHEAD,
    Bar,
    QuestionPage,
    practice_feedback,
    question_html,
    question_page,
    session_urls,
)
from annotation.recruitment import invite
from annotation.views.guards import wants_json
from annotation.views.page_context import study_context
from annotation.views.practice import feedback_in_place
from results.views.guards import project_view, study_view
from studies.actions.question_types import question_type
from studies.actions.questions import practice_questions, sample_questions
from studies.design.quality_checks import MOST_CHECKS
from studies.errors import StudyError
from studies.kinds import KINDS, get_kind, posted_values, shown_order
from studies.markdown import render_headed
from studies.models import Project, Question, Study
from studies.permissions import Verb
from studies.wording import format_count

QUESTIONS_PER_PART = 3


@dataclass(frozen=True)
class Step:
    """One page of the preview.

    number: of a question, from 1. practice: of a practice question, from 1. asked: kind and content of the question.
    """

    name: str
    part: int = 0
    number: int = 0
    asked: dict[str, Any] = field(default_factory=dict)
    practice: int = 0


@study_view(Verb.VIEW)
@require_safe
def phone_preview(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the preview in a frame of a phone's size."""
    return render(request, "workspace/preview_phone.html", {"study": study})


@csp_replace({"frame-ancestors": [SELF]})
@xframe_options_sameorigin
@project_view(Verb.DESIGN)
@require_safe
def question_picture(request: HttpRequest, project: Project, kind: str) -> HttpResponse:
    """Show a sample question of a kind about one of the project's instances, for display only."""
    asked = question_type(project, kind) if kind in KINDS else None
    if asked is None or asked.question is None:
        raise Http404
    return _picture(request, Question(kind=kind, content=asked.question.content))


@csp_replace({"frame-ancestors": [SELF]})
@xframe_options_sameorigin
@study_view(Verb.VIEW)
@require_safe
def study_picture(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the first question of a study, for display only."""
    asked = next(iter(_questions_asked(study)), None)
    if asked is None:
        raise Http404
    return _picture(request, Question(kind=asked["kind"], content=asked["content"]))


def _picture(request: HttpRequest, question: Question) -> HttpResponse:
    kind = get_kind(question.kind)
    order = shown_order(kind, question.content, seed="picture", annotator=0, question=0)
    page = question_page(question, study=0, order=order, slot=0, number=1, total=1, action="")
    return render(request, "workspace/drafts/picture.html", {"kind": kind, "page": page})


# The surrounding page belongs to this site.
@csp_replace({"frame-ancestors": [SELF]})
@xframe_options_sameorigin
@csrf_exempt
@study_view(Verb.VIEW)
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: HttpRequest, study: Study) -> HttpResponse:
    """Show one step; POST goes on to the next. Annotators' forms have no CSRF token; nothing changes."""
    steps = _steps(study)
    names = [step.name for step in steps]
    wanted = request.GET.get("step", "")
    index = names.index(wanted) if wanted in names else 0
    with translation.override(interface_language(study.design.language)):
        if request.method == "POST":
            return _advance(request, study, steps, index)
        return _show(request, study, steps, index)


def _steps(study: Study) -> list[Step]:
    steps = [Step("consent")] if study.design.consent else []
    sampled = _questions_asked(study)
    number = 0
    for part in range(len(study.design.parts)):
        steps.append(Step(f"instructions-{part + 1}", part))
        if part == 0:
            steps += _practice_steps(study)
        for asked in sampled:
            if asked["part"] == part:
                number += 1
                steps.append(Step(str(number), part, number, asked))
    return [*steps, Step("end")]


def _practice_steps(study: Study) -> list[Step]:
    fields = ("position", "kind", "content", "right", "feedback")
    asked: list[dict[str, Any]] = list(map(dict, study.practice_questions.values(*fields)))
    if not asked:
        # The launch reports practice questions that are invalid.
        with suppress(StudyError):
            asked.extend(practice_questions(study))
    return [
        Step(f"{name}-{number}", practice=number, asked=one)
        for number, one in enumerate(asked, start=1)
        for name in ("practice", "feedback")
    ]


def _questions_asked(study: Study) -> list[dict[str, Any]]:
    launched: list[dict[str, Any]] = []
    for part in range(len(study.design.parts)):
        questions = Question.objects.filter(study=study, part=part)
        questions = questions.order_by("places__survey__number", "places__position")
        launched += map(dict, questions.values("kind", "part", "content")[:QUESTIONS_PER_PART])
    return launched or sample_questions(study, per_part=QUESTIONS_PER_PART)


def _address(study: Study, step: Step) -> str:
    return f"{reverse('study_preview', args=[study.project.slug, study.slug])}?step={step.name}"


def _advance(request: HttpRequest, study: Study, steps: list[Step], index: int) -> HttpResponse:
    following = steps[min(index + 1, len(steps) - 1)]
    if request.POST.get("agree") == "no":
        following = steps[-1]
    if not wants_json(request):
        address = _address(study, following)
        if following.name.startswith("feedback"):
            address += f"&{urlencode({'choice': request.POST.get('choice', '')})}"
        response = HttpResponseRedirect(address)
        response.status_code = 303
        return response
    if following.name.startswith("feedback"):
        told = _feedback(study, steps, index + 1, request.POST.get("choice", ""))
        return JsonResponse(feedback_in_place(told, _address(study, steps[index])))
    body: dict[str, Any] = {
        "submission": request.POST.get("submission", ""),
        "saved": True,
        "answered": steps[index].number,
        "total": _total(steps),
        "next": None,
        "go": None,
    }
    if not following.number:
        body["go"] = _address(study, following)
    else:
        # The script skips questions that it already has.
        pages = _following_questions(study, steps, index, 1 + QUESTIONS_AHEAD)
        text_language = lang_attribute(study.design.language)
        body["next"] = "".join(question_html(page, text_language=text_language) for page in pages) or None
    return JsonResponse(body)


def _following_questions(study: Study, steps: list[Step], place: int, count: int) -> list[QuestionPage]:
    """Return up to `count` questions after a step, until another page comes between."""
    following = takewhile(lambda step: step.number, steps[place + 1 : place + 1 + count])
    return [_question(study, step, _total(steps)) for step in following]


def _total(steps: list[Step]) -> int:
    return sum(bool(step.number) for step in steps)


def _show(request: HttpRequest, study: Study, steps: list[Step], index: int) -> HttpResponse:
    step, total = steps[index], _total(steps)
    if step.name == "end":
        return render(request, "workspace/preview_end.html", {"study": study, "questions": total})
    context = _context(study, step, total)
    if step.practice:
        return _show_practice(request, study, steps, index)
    if step.name == "consent":
        version = latest_version(study)
        consent = render_headed(version.text if version else study.design.consent)
        context |= {"consent_heading": consent.heading, "consent_html": consent.body}
        context["records_writing"] = study.design.records_writing
        return render(request, "annotation/consent.html", context)
    if not step.number:
        minutes = study.design.time.estimated_minutes
        parts = len(study.design.parts)
        in_survey = _survey_questions(study)
        context |= {"estimated_minutes": minutes, "total": in_survey, "part_number": step.part + 1, "parts": parts}
        context["in_part"] = _share_of_part(study, step.part, in_survey)
        context["practice"] = _terms(study, steps) if steps[index + 1].practice else None
        return render(request, "annotation/instructions.html", context)
    context |= {
        "page": _question(study, step, total),
        "ahead": _following_questions(study, steps, index, QUESTIONS_AHEAD),
    }
    return render(request, "annotation/work.html", context)


def _survey_questions(study: Study) -> int:
    """Return the number of questions of a whole survey and its checks, of which the preview shows a few."""
    asked = study.design.surveys.size
    first = study.surveys.order_by("number").first()
    if first is not None:
        asked = first.survey_questions.count()
    else:
        with suppress(StudyError):
            plan = launch.foresee(study)
            asked = round(plan.answers / plan.seats) if plan.seats else asked
    return asked + min(study.design.checks_per_survey, asked // MOST_CHECKS)


def _share_of_part(study: Study, part: int, in_survey: int) -> int:
    """Return the number of questions of a part: each part asks all its variants about every instance."""
    variants = [len(get_kind(each.kind).variants(each.ask)) for each in study.design.parts]
    return round(in_survey * variants[part] / sum(variants))


def _terms(study: Study, steps: list[Step]) -> Terms:
    asked = study.design.practice
    return Terms(sum(bool(one.practice) for one in steps) // 2, asked.needed, asked.rounds)


def _make_question(step: Step) -> Question:
    return Question(kind=step.asked["kind"], content=step.asked["content"])


def _practice_page(study: Study, steps: list[Step], index: int, choice: str) -> tuple[QuestionPage, list[str]]:
    """Return a practice question with `choice` as its answer, and the order of its options."""
    step, asked = steps[index], _make_question(steps[index])
    kind = get_kind(asked.kind)
    order = shown_order(kind, asked.content, seed=study.seed, annotator=0, question=step.practice)
    page = question_page(
        asked,
        study=study.pk,
        order=order,
        slot=step.practice,
        number=step.practice,
        total=sum(bool(one.practice) for one in steps) // 2,
        action=_address(study, step),
        chosen_key=posted_values(kind, asked.content, order).get(choice, ""),
    )
    return page, order


def _feedback(study: Study, steps: list[Step], index: int, choice: str) -> dict[str, Any]:
    """Return the feedback page after a practice question; the next step follows it."""
    step = steps[index]
    page, order = _practice_page(study, steps, index, choice)
    right, feedback = step.asked["right"], step.asked["feedback"]
    told = practice_feedback(page, _make_question(step), order=order, right=right, feedback=feedback)
    return told | {"onward": _address(study, steps[index + 1])}


def _show_practice(request: HttpRequest, study: Study, steps: list[Step], place: int) -> HttpResponse:
    """Show a practice question, or its feedback; the address holds the choice."""
    context = _context(study, steps[place], _total(steps))
    choice = request.GET.get("choice", "")
    if steps[place].name.startswith("practice"):
        page, _ = _practice_page(study, steps, place, choice)
        context |= {"page": page, "round": 1, "rounds": study.design.practice.rounds}
        return render(request, "annotation/practice.html", context)
    return render(request, "annotation/practice_feedback.html", context | _feedback(study, steps, place, choice))


def _context(study: Study, step: Step, total: int) -> dict[str, Any]:
    here = _address(study, step)
    provider = "prolific" if study.design.recruitment.prolific else invite.PROVIDER
    return study_context(study, part=step.part, provider=provider) | {
        "bar": Bar(
            title=f"Preview of {format_count(total, 'question')}, nothing is stored: {study.title}",
            answered=max(0, step.number - 1),
            total=total,
            show_progress=step.number > 0,
            pay=format_pay(study.design.pay),
            is_preview=True,
            preview_saved="Not stored",
        ),
        "urls": dict.fromkeys(session_urls("preview"), here),
        "language": translation.get_language(),
    }


def _question(study: Study, step: Step, total: int) -> QuestionPage:
    asked = _make_question(step)
    return question_page(
        asked,
        study=study.pk,
        order=shown_order(get_kind(asked.kind), asked.content, seed=study.seed, annotator=0, question=step.number),
        slot=step.number,
        number=step.number,
        total=total,
        action=_address(study, step),
    )
