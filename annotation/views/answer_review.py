"""Review of the annotator's own answers: edit one of them, or look at all before finishing."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotation.actions.answering import advance_session, responses
from annotation.actions.deciding.undo_acceptance import is_answer_final
from annotation.models import Response, Session, SessionState
from annotation.pages import QuestionPage, change_url, question_page, session_urls
from annotation.views.guards import session_view
from annotation.views.page_context import context, redirect_to_session
from studies.kinds import get_kind


@session_view
@require_safe
def change(request: HttpRequest, session: Session, slot: int | None = None) -> HttpResponse:
    """Show an answer of this session for editing: the one in `slot`, or the last."""
    if session.state != SessionState.WORKING:
        return redirect_to_session(session)
    own = responses.own_slots(session=session)
    if not own or (slot is not None and slot not in own):
        return redirect_to_session(session)
    at = own.index(slot) if slot is not None else len(own) - 1
    given = responses.current_answer(session=session, slot=own[at])
    extra = {
        "page": _answered_question(session, given, number=at + 1),
        "ahead": [],
        "notice": "",
        "error": "",
        "can_change": False,
        "changing": True,
        "is_final": is_answer_final(given),
        "earlier": change_url(session.token, own[at - 1]) if at > 0 else "",
        "later": change_url(session.token, own[at + 1]) if at + 1 < len(own) else "",
    }
    return render(request, "annotation/work.html", context(session) | extra)


def _answered_question(session: Session, given: Response, *, number: int) -> QuestionPage:
    """Return the question of an answer as it was shown, filled with the answer."""
    question = given.question
    return question_page(
        question,
        study=session.study_id,
        order=given.shown_order,
        slot=given.slot_id or 0,
        number=number,
        total=session.questions_total,
        action=session_urls(session.token)["answer"],
        posted=get_kind(question.kind).form_data(question.content, given.shown_order, given.whole_answer),
        replaces=given.version,
        records_writing=session.study.design.records_writing,
    )


def show_last_look(request: HttpRequest, session: Session, *, error: str = "", status: int = 200) -> HttpResponse:
    """Show all answers of a session in small, each with a link for editing it."""
    looks: list[dict[str, Any]] = []
    for number, given in enumerate(responses.own_answers(session=session), start=1):
        shown = _answered_question(session, given, number=number)
        chosen = next((option for option in shown.options if option.value == shown.chosen), None)
        label = next((option.label for option in shown.fixed if option.value == shown.chosen), "")
        label = label or get_kind(given.question.kind).answer_text(given.whole_answer)
        looks.append(
            {
                "page": shown,
                "option": chosen,
                "label": label or (gettext("Answered") if chosen is None else ""),
                "change": change_url(session.token, shown.slot),
            }
        )
    extra = {"looks": looks, "error": error}
    return render(request, "annotation/last_look.html", context(session) | extra, status=status)


@session_view
@require_POST
def finish(request: HttpRequest, session: Session) -> HttpResponse:
    """Finish a session after its last look, or instead of waiting for more questions."""
    advance_session.finish_if_done(session=session, now=timezone.now())
    return redirect_to_session(session)
