"""The pages of a session. One address shows where the session is; posts move it on and lead back there."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotation.actions import answer_sql, responses, sessions, skipping, skips
from annotation.errors import BadAnswer, CannotSkip
from annotation.forms import read_failed_loads, read_id, read_posted, read_sent
from annotation.models import Session, SessionState, Slot
from annotation.pages import QuestionPage, question_page, session_urls
from annotation.views.around import back, context
from annotation.views.beginning import show_consent, show_instructions
from annotation.views.ending import show_end
from annotation.views.guards import annotator_view, session_view, wants_json
from annotation.views.practising import show_feedback, show_practice
from studies.kinds import get_kind, shown_order


@session_view
@require_safe
def page(request: HttpRequest, session: Session) -> HttpResponse:
    session = sessions.see(session=session, now=timezone.now())
    match SessionState(session.state):
        case SessionState.CONSENT:
            return show_consent(request, session)
        case SessionState.INSTRUCTIONS:
            return show_instructions(request, session)
        case SessionState.PRACTICE:
            return show_practice(request, session)
        case SessionState.WORKING:
            # The feedback on the last practice question is still due when it has just been answered.
            return show_feedback(request, session) or _work(request, session)
        case _:
            return show_feedback(request, session) or show_end(request, session)


def _slot_page(session: Session, slot: Slot, *, number: int, posted: Mapping[str, str] | None = None) -> QuestionPage:
    return question_page(
        kind_name=slot.question.kind,
        content=slot.question.content,
        order=responses.order_for(session=session, question=slot.question),
        slot=slot.pk,
        number=number,
        total=session.questions_total,
        action=session_urls(session.token).answer,
        posted=posted,
        skip=session_urls(session.token).skip,
    )


def _work(
    request: HttpRequest,
    session: Session,
    *,
    error: str = "",
    status: int = 200,
    refused: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Show the question that a session is at. `refused`: what was posted as its answer and was none, which is kept."""
    slots = responses.open_slots(session=session, limit=2)
    if not slots:
        # Another tab's last answer, or the end of the time, has just gone by: look again where the session is.
        return back(session)
    if slots[0].part > session.part_begun:
        return show_instructions(request, session, part=slots[0].part)
    slots = [slot for slot in slots if slot.part <= session.part_begun]
    # An answer or a skip that was on its way may have arrived since the session was read.
    if (now_at := slots[0].seat.session) is not None:
        session.questions_answered, session.questions_total = now_at.questions_answered, now_at.questions_total
    first = session.questions_answered + 1
    about = read_id(request.POST.get("slot", ""))
    pages = [
        _slot_page(session, slot, number=number, posted=refused if slot.pk == about else None)
        for number, slot in enumerate(slots, start=first)
    ]
    extra = {
        "page": pages[0],
        "ahead": pages[1] if len(pages) > 1 else None,
        "notice": _notice(request, session),
        "error": error,
        "can_change": session.questions_answered > 0,
    }
    return render(request, "annotation/work.html", context(session) | extra, status=status)


def _notice(request: HttpRequest, session: Session) -> str:
    if request.GET.get("kept") == "first":
        return gettext("You had already answered that question; your first answer is kept.")
    if request.GET.get("said") == "reported":
        return gettext("Thank you. The researchers see what you reported.")
    if session.questions_answered == 0 and session.practice_answers.exists():
        return gettext("The practice is over: now it counts.")
    if request.GET.get("kept") != "none":
        return ""
    if skips.left(session=session) > 0:
        return gettext("You have gone on without that question. You lose nothing by it.")
    return gettext(
        "You have gone on without that question. If one more does not reach your browser, this sitting ends "
        "and the researcher decides about it. Another browser or network may help."
    )


@annotator_view
@require_POST
def answer(request: HttpRequest, token: str) -> HttpResponse:
    """Store an answer. The page's script gets JSON with the question after the one it holds; a form, a redirect."""
    try:
        sent = read_sent(request.POST)
        receipt = responses.submit(token=token, sent=sent, now=timezone.now())
    except BadAnswer as error:
        if wants_json(request):
            raise
        session = Session.objects.select_related("study").filter(token=token, state=SessionState.WORKING).first()
        if session is None:
            raise
        return _work(request, session, error=error.message, status=error.status, refused=read_posted(request.POST))
    if wants_json(request):
        return JsonResponse(_answered(request, token, receipt, sent))
    response = redirect("session", token)
    response.status_code = 303
    if receipt.first_kept or receipt.skipped:
        response["Location"] += "?kept=none" if receipt.skipped else "?kept=first"
    return response


def _answered(request: HttpRequest, token: str, receipt: responses.Receipt, sent: responses.Sent) -> dict[str, Any]:
    """Return what the page's script learns: what became of the answer, and the question after the one it holds."""
    body: dict[str, Any] = {
        "saved": receipt.stored,
        "slot": sent.slot,
        "answered": receipt.answered,
        "total": receipt.total,
        "next": None,
        "go": None,
    }
    if receipt.state != SessionState.WORKING or sent.replaces is not None:
        body["go"] = session_urls(token).page
        return body
    if receipt.first_kept or receipt.skipped:
        # Another tab was faster: this one is behind, and what it holds may be answered too.
        body["go"] = f"{session_urls(token).page}?kept={'none' if receipt.skipped else 'first'}"
        return body
    have = read_id(request.POST.get("have", "")) or 0
    following = answer_sql.next_slot(
        seat=receipt.seat, annotator=receipt.annotator, besides=have, part=receipt.part_begun
    )
    if following is None and not have:
        # The next part begins, with instructions of its own.
        body["go"] = session_urls(token).page
    elif following is not None:
        kind = get_kind(following.kind)
        page = question_page(
            kind_name=following.kind,
            content=following.content,
            order=shown_order(
                kind,
                following.content,
                seed=receipt.seed,
                annotator=receipt.annotator,
                question=following.question,
            ),
            slot=following.slot,
            number=receipt.answered + (2 if have else 1),
            total=receipt.total,
            action=session_urls(token).answer,
            skip=session_urls(token).skip,
        )
        body["next"] = render_to_string("annotation/_question.html", {"page": page})
    return body


@session_view
@require_POST
def skip(request: HttpRequest, session: Session) -> HttpResponse:
    """Go on without a question, or a practice question, whose images do not come."""
    now = timezone.now()
    session = sessions.resume(session=session, now=now)
    try:
        _skip(request, session, now=now)
    except CannotSkip as error:
        if wants_json(request):
            raise
        show = show_practice if session.state == SessionState.PRACTICE else _work
        return show(request, session, error=f"{error.message} {error.what_next}", status=error.status)
    response = back(session)
    response["Location"] += "?kept=none"
    return JsonResponse({"go": response["Location"]}) if wants_json(request) else response


def _skip(request: HttpRequest, session: Session, *, now: datetime) -> None:
    asked, failed_loads = read_id(request.POST.get("slot", "")), read_failed_loads(request.POST)
    if asked is None:
        raise BadAnswer(gettext("The page did not say which question to leave out. Reload it and try again."))
    if session.state == SessionState.PRACTICE:
        skipping.skip_practice(session=session, question=asked, failed_loads=failed_loads, now=now)
    elif session.state == SessionState.WORKING:
        skipping.skip(session=session, slot=asked, failed_loads=failed_loads, now=now)


@session_view
@require_safe
def change(request: HttpRequest, session: Session) -> HttpResponse:
    """Show the last answer again, to be changed."""
    last = responses.last_response(session=session) if session.state == SessionState.WORKING else None
    if last is None or last.slot_id is None:
        return back(session)
    kind = get_kind(last.question.kind)
    shown = question_page(
        kind_name=last.question.kind,
        content=last.question.content,
        order=last.shown_order,
        slot=last.slot_id,
        number=session.questions_answered,
        total=session.questions_total,
        action=session_urls(session.token).answer,
        posted=kind.posted(
            last.question.content, last.shown_order, last.choice if last.answer is None else last.answer
        ),
        replaces=last.version,
    )
    extra = {"page": shown, "ahead": None, "notice": "", "error": "", "can_change": False, "changing": True}
    return render(request, "annotation/work.html", context(session) | extra)
