"""Practice pages: a question, and the feedback on its answer."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from annotation.actions.answering import practice
from annotation.errors import BadAnswer
from annotation.forms import read_id, read_posted
from annotation.models import PracticeAnswer, Session, SessionState
from annotation.pages import practice_feedback, question_page, session_urls
from annotation.views.guards import session_view, wants_json
from annotation.views.page_context import context, redirect_to_session


def show_practice(request: HttpRequest, session: Session, *, error: str = "", status: int = 200) -> HttpResponse:
    feedback = show_feedback(request, session)
    if feedback is not None:
        return feedback
    asked = practice.next_question(session=session)
    if asked is None:
        # Unreachable in this state: the last answer of a round moves the session in the same transaction.
        raise BadAnswer(gettext("Practice is over. Reload the page to continue."))
    extra = {
        "page": question_page(
            asked,
            study=session.study_id,
            order=practice.order_for(session=session, question=asked),
            slot=asked.pk,
            number=asked.position + 1,
            total=session.study.practice_questions.count(),
            action=session_urls(session.token)["practice"],
            skip=session_urls(session.token)["skip"],
            is_practice=True,
        ),
        "round": practice.round_number(session=session),
        "rounds": session.study.design.practice.rounds,
        "before": practice.previous_round(session=session),
        "error": error,
    }
    return render(request, "annotation/practice.html", context(session) | extra, status=status)


def show_feedback(request: HttpRequest, session: Session) -> HttpResponse | None:
    """Return the feedback on the practice answer named in the query, if it belongs to this session."""
    asked = read_id(request.GET.get("feedback", ""))
    # The Back button does not lead from the questions into the practice again.
    if asked is None or session.questions_answered:
        return None
    # Rounds belong to the annotator: the answer may be from a superseded session.
    answers = PracticeAnswer.objects.filter(annotator=session.annotator_id, practice_question__study=session.study_id)
    given = answers.filter(pk=asked).exclude(choice="").select_related("practice_question").first()
    if given is None:
        return None
    return render(request, "annotation/practice_feedback.html", context(session) | _feedback(session, given))


def _feedback(session: Session, given: PracticeAnswer) -> dict[str, Any]:
    question = given.practice_question
    order = practice.order_for(session=session, question=question, number=given.round)
    shown = question_page(
        question,
        study=session.study_id,
        order=order,
        slot=question.pk,
        number=question.position + 1,
        total=session.study.practice_questions.count(),
        action="",
        chosen_key=given.choice,
    )
    told = practice_feedback(shown, question, order=order, right=question.right, feedback=question.feedback)
    return told | {
        "onward": session_urls(session.token)["page"],
        "ended": practice.completed_round(session=session, given=given),
        "goes_on": session.state == SessionState.WORKING,
        "again": session.state == SessionState.PRACTICE,
    }


@session_view
@require_POST
def practise(request: HttpRequest, session: Session) -> HttpResponse:
    """Store the answer to a practice question; return feedback as JSON to scripts, or a redirect."""
    if session.state != SessionState.PRACTICE:
        go = session_urls(session.token)["page"]
        return JsonResponse({"go": go}) if wants_json(request) else redirect_to_session(session)
    asked = read_id(request.POST.get("slot", ""))
    try:
        if asked is None:
            raise BadAnswer(gettext("The page sent no question with your answer. Reload it and choose again."))
        given = practice.answer(session=session, question=asked, posted=read_posted(request.POST), now=timezone.now())
    except BadAnswer as error:
        if wants_json(request):
            raise
        return show_practice(request, session, error=error.message, status=error.status)
    response = redirect_to_session(session, feedback=str(given.pk))
    if not wants_json(request):
        return response
    session.refresh_from_db()
    return JsonResponse(feedback_in_place(_feedback(session, given), response["Location"]))


def feedback_in_place(told: dict[str, Any], address: str) -> dict[str, Any]:
    """Return the feedback as JSON for the page's script, with the address of the same feedback as a page."""
    return {
        "own": told["page"].chosen,
        "right": told["right_value"],
        "told": render_to_string("annotation/_verdict.html", told),
        "address": address,
    }
