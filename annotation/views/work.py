"""Pages of a session: one address shows its current page; posts change it and redirect there."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotation.actions import sessions
from annotation.actions.answering import advance_session, answer_sql, drafts, responses, skip_allowance, skip_question
from annotation.actions.arriving import switch_role
from annotation.actions.removing.redact_descriptions import is_redacted
from annotation.errors import BadAnswer, CannotSkip
from annotation.forms import read_failed_loads, read_id, read_ids, read_posted, read_submission
from annotation.language import activate_language, lang_attribute
from annotation.models import Draft, Session, SessionState, Slot
from annotation.notices import notices_html
from annotation.pages import QUESTIONS_AHEAD, QuestionPage, question_html, question_page, session_urls
from annotation.views.answer_review import show_last_look
from annotation.views.guards import annotator_view, session_view, study_facts, wants_json
from annotation.views.introduction import show_consent, show_instructions
from annotation.views.lobby import show_lobby
from annotation.views.page_context import context, redirect_to_session
from annotation.views.practice import show_feedback, show_practice
from annotation.views.session_end import show_end
from studies.kinds import get_kind, shown_order

# Tells the worker which pages to keep for offline use, and that the server itself has answered.
PAGE_HEADER = "Lineup-Page"


@session_view
@require_safe
def page(request: HttpRequest, session: Session) -> HttpResponse:
    response = _page(request, sessions.record_visit(session=session, now=timezone.now()))
    response.headers.setdefault(PAGE_HEADER, "other")
    return response


def _page(request: HttpRequest, session: Session) -> HttpResponse:
    if session.awaits_consent:
        return show_consent(request, session)
    match SessionState(session.state):
        case SessionState.INSTRUCTIONS:
            return show_instructions(request, session)
        case SessionState.PRACTICE:
            return show_practice(request, session)
        case SessionState.WAITING:
            # Shows the feedback on the last practice question, just answered.
            return show_feedback(request, session) or show_lobby(request, session)
        case SessionState.WORKING:
            return show_feedback(request, session) or _work(request, session)
        case SessionState.SUPERSEDED if (other := switch_role.switched_session(session=session)) is not None:
            # The original link leads to the study switched to.
            return redirect_to_session(other)
        case _:
            return show_feedback(request, session) or show_end(request, session)


def _slot_page(
    session: Session, slot: Slot, *, number: int, draft: Draft | None, refused: Mapping[str, str] | None
) -> QuestionPage:
    """Return an open question, filled with the rejected answer or else the draft."""
    urls = session_urls(session.token)
    return question_page(
        slot.question,
        study=session.study_id,
        order=responses.order_for(session=session, question=slot.question),
        slot=slot.pk,
        number=number,
        total=session.questions_total,
        action=urls["answer"],
        posted=refused or (draft.fields if draft else None),
        skip=urls["skip"],
        draft=urls["draft"],
        draft_number=draft.number if draft else 0,
        records_writing=session.study.design.records_writing,
    )


def _work(
    request: HttpRequest,
    session: Session,
    *,
    error: str = "",
    status: int = 200,
    refused: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Show the current question of a session. refused: posted values of a rejected answer, shown again."""
    slots = responses.open_slots(session=session, limit=1 + QUESTIONS_AHEAD)
    if not slots and sessions.waits_for_last_look(session=session):
        return show_last_look(request, session, error=error, status=status)
    if not slots or any(is_redacted(slot.question.kind, slot.question.content) for slot in slots):
        # Another tab has just sent the last answer, the lease is over, or the author of a text has withdrawn: read the
        # state again. A session left without questions ends or receives more.
        advance_session.advance(session=session, now=timezone.now())
        return redirect_to_session(session)
    if slots[0].part > session.part_begun:
        return show_instructions(request, session, part=slots[0].part)
    slots = [slot for slot in slots if slot.part <= session.part_begun]
    # An answer or skip in transit may have arrived since the session was read.
    if (now_at := slots[0].seat.session) is not None:
        session.questions_answered, session.questions_total = now_at.questions_answered, now_at.questions_total
    first = session.questions_answered + 1
    about = read_id(request.POST.get("slot", ""))
    kept = drafts.drafts_by_slot(session=session, slots=slots)
    pages = [
        _slot_page(session, slot, number=number, draft=kept.get(slot.pk), refused=refused if slot.pk == about else None)
        for number, slot in enumerate(slots, start=first)
    ]
    extra = {
        "page": pages[0],
        "ahead": pages[1:],
        "notice": _notice(request, session),
        "error": error,
        "can_change": session.questions_answered > 0,
        "worker": reverse("worker"),
    }
    response = render(request, "annotation/work.html", context(session) | extra, status=status)
    response[PAGE_HEADER] = "work"
    return response


def _notice(request: HttpRequest, session: Session) -> str:
    if request.GET.get("said") == "reported":
        return gettext("Thank you. The researchers will see your report.")
    if session.questions_answered == 0 and session.practice_answers.exists():
        return gettext("Practice is over. Your answers count from now on.")
    if request.GET.get("kept") != "none":
        return ""
    if skip_allowance.remaining(session=session) > 0:
        return gettext("You skipped that question. Your pay is not affected.")
    return gettext(
        "You skipped that question. If one more question does not load, this session ends and the researcher decides "
        "about your pay. Another browser or network may help."
    )


@annotator_view
@require_POST
def answer(request: HttpRequest, token: str) -> HttpResponse:
    """Store an answer; return JSON with the next questions to scripts, or a redirect."""
    facts = study_facts(token)
    activate_language(facts.language)
    try:
        sent, prefetch = read_submission(request.POST, records_writing=facts.records_writing), _prefetch(request)
        result = responses.submit(token=token, sent=sent, prefetch=prefetch, now=timezone.now())
    except BadAnswer as error:
        if wants_json(request):
            raise
        session = Session.objects.select_related("study").filter(token=token, state=SessionState.WORKING).first()
        if session is None:
            raise
        return _work(request, session, error=error.message, status=error.status, refused=read_posted(request.POST))
    if wants_json(request):
        return JsonResponse(_answer_json(token, result, sent, prefetch))
    return redirect_to_session(token)


def _is_page_outdated(result: responses.SubmissionResult, sent: responses.Submission) -> bool:
    """Whether the sending page shows outdated questions, because another page was faster."""
    elsewhere = result.first_kept or result.newer_kept or result.is_final or result.replaced_earlier
    return sent.replaces is not None or elsewhere or result.skipped or result.late or result.withdrawn


def _prefetch(request: HttpRequest) -> answer_sql.Prefetch:
    """Return what the page's script holds; nothing for a form, which reloads the page."""
    if not wants_json(request):
        return answer_sql.Prefetch()
    held = read_ids(request.POST.get("have", ""), most=1 + QUESTIONS_AHEAD)
    return answer_sql.Prefetch(held, room=1 + QUESTIONS_AHEAD - len(held))


def _answer_json(
    token: str, result: responses.SubmissionResult, sent: responses.Submission, prefetch: answer_sql.Prefetch
) -> dict[str, Any]:
    """Return the JSON for the page's script: the result, and the questions after those it holds.

    It names the submission, so that no intermediary can answer in the server's place.
    """
    body: dict[str, Any] = {
        "submission": str(sent.submission),
        "saved": result.stored,
        "slot": sent.slot,
        "answered": result.answered,
        "total": result.total,
        "next": None,
        "go": None,
    }
    if result.unseen_notices:
        body["notices"] = notices_html(Session.objects.select_related("study").get(token=token))
    if result.state != SessionState.WORKING or result.asks_consent or _is_page_outdated(result, sent):
        body["go"] = session_urls(token)["page"]
        return body
    following = result.following
    if following is None:
        following = answer_sql.next_slots(
            seat=result.seat,
            annotator=result.annotator,
            besides=prefetch.held,
            part=result.part_begun,
            limit=prefetch.room,
        )
    following = [slot for slot in following if not is_redacted(slot.kind, slot.content)]
    if not following and not prefetch.held:
        # The next part begins, with its own instructions.
        body["go"] = session_urls(token)["page"]
    first = result.answered + len(prefetch.held) + 1
    pages = [_following_page(token, result, slot, number=number) for number, slot in enumerate(following, start=first)]
    text_language = lang_attribute(study_facts(token).language)
    body["next"] = "".join(question_html(page, text_language=text_language) for page in pages) or None
    return body


def _following_page(
    token: str, result: responses.SubmissionResult, following: answer_sql.NextSlot, *, number: int
) -> QuestionPage:
    kind, facts, urls = get_kind(following.kind), study_facts(token), session_urls(token)
    order = shown_order(
        kind, following.content, seed=result.seed, annotator=result.annotator, question=following.question
    )
    return question_page(
        following,
        study=facts.pk,
        order=order,
        slot=following.slot,
        number=number,
        total=result.total,
        action=urls["answer"],
        skip=urls["skip"],
        draft=urls["draft"],
        records_writing=facts.records_writing,
    )


@session_view
@require_POST
def skip(request: HttpRequest, session: Session) -> HttpResponse:
    """Skip a question or practice question whose images fail to load."""
    now = timezone.now()
    session = sessions.resume(session=session, now=now)
    try:
        _skip(request, session, now=now)
    except CannotSkip as error:
        if wants_json(request):
            raise
        show = show_practice if session.state == SessionState.PRACTICE else _work
        return show(request, session, error=error.whole, status=error.status)
    response = redirect_to_session(session, kept="none")
    return JsonResponse({"go": response["Location"]}) if wants_json(request) else response


def _skip(request: HttpRequest, session: Session, *, now: datetime) -> None:
    asked, failed_loads = read_id(request.POST.get("slot", "")), read_failed_loads(request.POST)
    if asked is None:
        raise BadAnswer(gettext("The page did not say which question to skip. Reload it and try again."))
    if session.state == SessionState.PRACTICE:
        skip_question.skip_practice(session=session, question=asked, failed_loads=failed_loads, now=now)
    elif session.state == SessionState.WORKING:
        skip_question.skip(session=session, slot=asked, failed_loads=failed_loads, now=now)
