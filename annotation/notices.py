"""Notices about answers that do not stand: which question, which answer counts, which does not."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.utils.translation import gettext, gettext_lazy
from django_stubs_ext import StrOrPromise

from annotation.actions.answering import answer_notices, responses
from annotation.models import AnswerNotice, Response, Session, SessionState, Slot
from annotation.pages import answer_text, change_url, session_urls

Why = AnswerNotice.Why
# Limit per page; further notices appear after these are seen.
MOST_AT_ONCE = 50
SENTENCES: Mapping[str, StrOrPromise] = {
    Why.SENT_AGAIN: gettext_lazy("You answered question %(number)s more than once. Your last answer counts."),
    Why.OTHER_BROWSER: gettext_lazy(
        "You answered question %(number)s in two browsers. The answer that arrived last counts."
    ),
    Why.FIRST_STANDS: gettext_lazy("You had already answered question %(number)s. Your first answer counts."),
    Why.NEWER_STANDS: gettext_lazy(
        "You had changed your answer to question %(number)s on another page. That change counts."
    ),
    Why.BUILT_ON: gettext_lazy("Another study now uses your answer to question %(number)s, so it is final."),
    Why.ENDED: gettext_lazy("Your new answer to question %(number)s came too late. Your earlier answer counts."),
    Why.MOVED: gettext_lazy("You started again with a newer link. Please answer question %(number)s there."),
    Why.LATE: gettext_lazy(
        "Question %(number)s had gone to somebody else before your answer arrived. Your answer is saved, but "
        "does not count."
    ),
    Why.SKIPPED: gettext_lazy("You had already skipped question %(number)s. Your answer to it is not saved."),
}
WITHDRAWN: Mapping[str, StrOrPromise] = {
    "author": gettext_lazy(
        "The author withdrew the text in question %(number)s. Your answer is saved and counts towards your pay."
    ),
    "researchers": gettext_lazy(
        "The researchers removed question %(number)s. Your answer is saved and counts towards your pay."
    ),
}


class NoticePage(NamedTuple):
    """A notice as shown; `change`: address for changing the counted answer, "" if it cannot be changed."""

    pk: str
    text: str
    change: str = ""


def notice_pages(session: Session) -> list[NoticePage]:
    """Return the unseen notices of a session; no query if there are none."""
    if not session.unseen_notices:
        return []
    found = list(answer_notices.unseen_notices(session)[:MOST_AT_ONCE])
    questions = [notice.slot.question_id for notice in found]
    standing = {
        response.question_id: response
        for response in Response.objects.filter(annotator=session.annotator_id, question__in=questions, is_current=True)
    }
    return [_page(session, notice, standing.get(notice.slot.question_id)) for notice in found]


def _page(session: Session, notice: AnswerNotice, stands: Response | None) -> NoticePage:
    why, slot = notice.why, notice.slot
    is_withdrawn = why == Why.WITHDRAWN
    by = "researchers" if slot.question.taken_out_at is not None else "author"
    text = str(WITHDRAWN[by] if is_withdrawn else SENTENCES[why]) % {"number": notice.number}
    said = "" if notice.answer is None else _words(session, slot, notice.answer)
    kept = _words(session, slot, stands.whole_answer) if stands is not None else ""
    has_other = bool(said and kept and said != kept) and not is_withdrawn and why != Why.LATE
    if has_other:
        text += " " + gettext("Kept: “%(kept)s”. Not kept: “%(said)s”.") % {"kept": kept, "said": said}
    elif said:
        text += " " + gettext("Your answer: “%(said)s”.") % {"said": said}
    may_change = session.state == SessionState.WORKING and stands is not None and stands.does_stand
    is_own = may_change and stands is not None and stands.session_id == session.pk
    return NoticePage(str(notice.pk), text, change_url(session.token, slot.pk) if is_own else "")


def _words(session: Session, slot: Slot, value: Any) -> str:
    question = slot.question
    order = responses.order_for(session=session, question=question)
    try:
        return answer_text(question, order, value, study=question.study_id)
    except (KeyError, StopIteration):
        # The question is redacted: its author has withdrawn.
        return ""


def notices_html(session: Session) -> str:
    """Return the HTML of the notices, "" without any."""
    known = {"answer_notices": notice_pages(session), "urls": session_urls(session.token)}
    return render_to_string("annotation/_answer_notices.html", known)
