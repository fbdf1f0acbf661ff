"""The pages of a session. One address shows where the session is; posts move it on and lead back there."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.actions import answer_sql, practice, responses, rounds, sessions, skipping, skips
from annotation.errors import BadAnswer, CannotSkip
from annotation.forms import read_failed_loads, read_id, read_posted, read_sent
from annotation.language import of_texts, speak
from annotation.models import PracticeAnswer, Session, SessionState, Slot
from annotation.models.sessions import OPEN_STATES
from annotation.pages import QuestionPage, practice_feedback, question_page, session_bar, session_urls
from annotation.views.guards import annotator_view, language_of, session_view, wants_json
from studies.kinds import get_kind, shown_order
from studies.markdown import render_markdown

REDIRECT_SECONDS = 5
# There is more to read where a researcher decides.
REVIEW_REDIRECT_SECONDS = 60
PART_NUMBERS = {str(number) for number in range(9)}
LONGEST_COMMENT = 5000


def _context(session: Session) -> dict[str, Any]:
    return {
        "bar": session_bar(session, now=timezone.now()),
        "urls": session_urls(session.token),
        "instructions_html": render_markdown(session.study.design.parts[session.part_begun].instructions),
        "language": get_language(),
        "text_language": of_texts(session.study.design.language),
    }


def _back(session: Session) -> HttpResponse:
    response = redirect("session", session.token)
    response.status_code = 303
    return response


@session_view
@require_safe
def page(request: HttpRequest, session: Session) -> HttpResponse:
    session = sessions.see(session=session, now=timezone.now())
    match SessionState(session.state):
        case SessionState.CONSENT:
            extra = {"consent_html": render_markdown(session.study.design.consent)}
            return render(request, "annotation/consent.html", _context(session) | extra)
        case SessionState.INSTRUCTIONS:
            return _instructions(request, session)
        case SessionState.PRACTICE:
            return _practice(request, session)
        case SessionState.WORKING:
            # The feedback on the last practice question is still due when it has just been answered.
            return _practice_feedback(request, session) or _work(request, session)
        case _:
            return _practice_feedback(request, session) or _end(request, session)


def _instructions(request: HttpRequest, session: Session, *, part: int = 0) -> HttpResponse:
    parts = session.study.design.parts
    extra = {
        "estimated_minutes": session.study.design.time.estimated_minutes if part == 0 else 0,
        "total": session.questions_total,
        "has_practice": part == 0 and rounds.are_ahead(study=session.study, annotator=session.annotator),
        "instructions_html": render_markdown(parts[part].instructions),
        "part": part,
        "part_number": part + 1,
        "parts": len(parts),
    }
    return render(request, "annotation/instructions.html", _context(session) | extra)


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
        return _back(session)
    if slots[0].part > session.part_begun:
        return _instructions(request, session, part=slots[0].part)
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
    return render(request, "annotation/work.html", _context(session) | extra, status=status)


def _notice(request: HttpRequest, session: Session) -> str:
    if request.GET.get("kept") == "first":
        return gettext("You had already answered that question; your first answer is kept.")
    if request.GET.get("kept") != "none":
        return ""
    if skips.left(session=session) > 0:
        return gettext("You have gone on without that question. You lose nothing by it.")
    return gettext(
        "You have gone on without that question. If one more does not reach your browser, this sitting ends "
        "and the researcher decides about it. Another browser or network may help."
    )


def _practice(request: HttpRequest, session: Session, *, error: str = "", status: int = 200) -> HttpResponse:
    feedback = _practice_feedback(request, session)
    if feedback is not None:
        return feedback
    asked = practice.next_question(session=session)
    if asked is None:
        # Cannot stay here: the last answer of a round moves the session in the same transaction.
        raise BadAnswer(gettext("Practice is over. Reload the page to go on."))
    total = session.study.practice_questions.count()
    extra = {
        "page": question_page(
            kind_name=asked.kind,
            content=asked.content,
            order=practice.order_for(session=session, question=asked),
            slot=asked.pk,
            number=asked.position + 1,
            total=total,
            action=session_urls(session.token).practice,
            skip=session_urls(session.token).skip,
            is_practice=True,
        ),
        "round": practice.round_shown(session=session),
        "rounds": session.study.design.practice.rounds,
        "error": error,
    }
    return render(request, "annotation/practice.html", _context(session) | extra, status=status)


def _practice_feedback(request: HttpRequest, session: Session) -> HttpResponse | None:
    """Return the feedback on the practice answer named in the address, if it is this session's."""
    asked = read_id(request.GET.get("feedback", ""))
    # The browser's way back from the questions does not lead into the practice again.
    if asked is None or session.questions_answered:
        return None
    # The rounds are the annotator's: the answer may be of a session that this one has taken the place of.
    answers = PracticeAnswer.objects.filter(annotator=session.annotator_id, practice_question__study=session.study_id)
    given = answers.filter(pk=asked).exclude(choice="").select_related("practice_question").first()
    if given is None:
        return None
    question = given.practice_question
    session.practice_round, current = given.round, session.practice_round
    order = practice.order_for(session=session, question=question)
    session.practice_round = current
    shown = question_page(
        kind_name=question.kind,
        content=question.content,
        order=order,
        slot=question.pk,
        number=question.position + 1,
        total=session.study.practice_questions.count(),
        action="",
        chosen_key=given.choice,
    )
    extra = practice_feedback(
        shown,
        content=question.content,
        kind_name=question.kind,
        order=order,
        right=question.right,
        feedback=question.feedback,
    )
    return render(request, "annotation/practice_feedback.html", _context(session) | extra)


def _end(request: HttpRequest, session: Session) -> HttpResponse:
    code = sessions.hand_back(session=session, now=timezone.now())
    extra = {
        "ending": session.state,
        "left_out_here": skips.unproven(session=session) if session.state == SessionState.LEFT_OUT else 0,
        "in_practice": session.first_question_at is None,
        "could_go_on": sessions.could_go_on(session=session),
        "code": code,
        "completion_url": f"{settings.PROLIFIC_COMPLETION_URL}?{urlencode({'cc': code})}" if code else "",
        "redirect_seconds": REVIEW_REDIRECT_SECONDS if session.state == SessionState.LEFT_OUT else REDIRECT_SECONDS,
        "answered": session.questions_answered,
        "comment_saved": bool(session.comment),
    }
    return render(request, "annotation/end.html", _context(session) | extra)


@session_view
@require_POST
def consent(request: HttpRequest, session: Session) -> HttpResponse:
    if request.POST.get("agree") not in {"yes", "no"}:
        raise BadAnswer(
            gettext("Choose whether you agree to take part."), gettext("Go back and press one of the two buttons.")
        )
    now = timezone.now()
    # Who reads for longer than the seat is kept has still answered.
    session = sessions.resume(session=session, now=now)
    sessions.consent(session=session, agreed=request.POST["agree"] == "yes", now=now)
    return _back(session)


@session_view
@require_POST
def begin(request: HttpRequest, session: Session) -> HttpResponse:
    part = request.POST.get("part", "0")
    # Who reads for longer than the seat is kept goes on all the same, while it is free.
    session = sessions.resume(session=session, now=timezone.now())
    if session.state in {SessionState.INSTRUCTIONS, SessionState.WORKING} and part in PART_NUMBERS:
        sessions.begin(session=session, part=int(part), now=timezone.now())
    return _back(session)


@session_view
@require_POST
def practise(request: HttpRequest, session: Session) -> HttpResponse:
    if session.state != SessionState.PRACTICE:
        return _back(session)
    asked = read_id(request.POST.get("slot", ""))
    try:
        if asked is None:
            raise BadAnswer(gettext("The page sent no question with your answer. Reload it and choose again."))
        given = practice.answer(session=session, question=asked, posted=read_posted(request.POST), now=timezone.now())
    except BadAnswer as error:
        return _practice(request, session, error=error.message, status=error.status)
    response = _back(session)
    response["Location"] += f"?feedback={given.pk}"
    return response


@annotator_view
@require_POST
def answer(request: HttpRequest, token: str) -> HttpResponse:
    """Store an answer. The page's script gets JSON with the question after the one it holds; a form, a redirect."""
    speak(language_of(token))
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
        body["next"] = render_to_string(
            "annotation/_question.html", {"page": page, "text_language": of_texts(language_of(token))}
        )
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
        show = _practice if session.state == SessionState.PRACTICE else _work
        return show(request, session, error=f"{error.message} {error.what_next}", status=error.status)
    response = _back(session)
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
        return _back(session)
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
    return render(request, "annotation/work.html", _context(session) | extra)


@session_view
@require_POST
def go_on(request: HttpRequest, session: Session) -> HttpResponse:
    """Take the seat of a session whose time was over again, if it is still free."""
    sessions.resume(session=session, now=timezone.now())
    return _back(session)


@session_view
@require_http_methods(["GET", "HEAD", "POST"])
def give_up(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask first (the page's script asks in a dialog instead), then leave."""
    if request.method == "POST":
        sessions.leave(session=session, to=SessionState.GIVEN_UP, now=timezone.now())
    elif session.state in OPEN_STATES:
        return render(request, "annotation/give_up.html", _context(session))
    return _back(session)


@session_view
@require_POST
def comment(request: HttpRequest, session: Session) -> HttpResponse:
    sessions.comment(session=session, text=_typed_text(request, "comment"))
    return _back(session)


def _typed_text(request: HttpRequest, name: str) -> str:
    # PostgreSQL stores no NUL characters.
    return request.POST.get(name, "").replace("\0", "")[:LONGEST_COMMENT]
