"""Amounts of money, formatted in the reader's language."""

from decimal import Decimal
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from annotation.models import ProlificStudy, Session, SessionState
from annotation.recruitment.prolific.entry import PROVIDER
from annotation.recruitment.prolific.researcher_codes import screen_out_pay
from annotation.session_pay import compute_pay
from studies.design.model import Pay
from studies.models import Study

# Unambiguous signs; other currencies are shown by their three letters.
_SIGNS = {"USD": "US$", "GBP": "£", "EUR": "€"}


def format_pay(pay: Pay) -> str:
    """Return the pay of a session and of each answer, formatted as "US$ 8.00" ("8,00 US$" in Spanish), "" for none."""
    session = _format_session_pay(pay)
    answer = _format_amount(pay.per_answer, pay.currency)
    if not answer:
        return session
    if not session:
        # Translators: what is paid, such as US$ 0.15 for each answer.
        return gettext("%(amount)s for each answer") % {"amount": answer}
    # Translators: what is paid, such as US$ 2.00 and US$ 0.15 for each answer.
    return gettext("%(session)s and %(answer)s for each answer") % {"session": session, "answer": answer}


def _format_session_pay(pay: Pay) -> str:
    amount = _format_amount(pay.per_session, pay.currency)
    if not amount or pay.least_answers <= 1:
        return amount
    # Translators: what a session is paid, such as US$ 2.00 from 15 answers on (a share of it for fewer).
    pattern = ngettext(
        "%(amount)s for at least %(answers)s answer (a share of it for fewer)",
        "%(amount)s for at least %(answers)s answers (a share of it for fewer)",
        pay.least_answers,
    )
    return pattern % {"amount": amount, "answers": pay.least_answers}


def format_owed(session: Session, answers: int) -> str:
    """Return what is owed for `session` if it finishes with so many answers, formatted.

    "" if the study pays sessions with fewer answers in full.
    """
    design = session.study.design
    if design.pay.least_answers <= 1 or not design.pay.per_session:
        return ""
    amount = compute_pay(SessionState.FINISHED, answers, design).amount()
    return _format_amount(amount, design.pay.currency)


def ending_pay(session: Session, answers: int, *, code: str) -> dict[str, Any]:
    """Return what the last page of `session` says about pay.

    answers: number of stored answers. amount: formatted, "" for none. to_decide: researchers decide about more.
    by_platform: the platform pays, which it does for a completion `code`.
    """
    design = session.study.design
    owed = compute_pay(session.state, answers, design, unlikely_times=session.has_unlikely_times)
    amount = _format_amount(owed.amount(), design.pay.currency)
    if session.state == SessionState.FAILED_CHECKS:
        amount = amount or format_practice_pay(session)
    return {
        "amount": amount,
        "to_decide": owed.to_decide,
        "by_platform": bool(code),
    }


def format_practice_pay(session: Session) -> str:
    """Return what Prolific pays for `session` if it fails the practice, formatted; "" for nothing."""
    if session.provider != PROVIDER:
        return ""
    # Of its own round. Who came through another study brings the submission of that one, which pays nothing for this.
    rounds = ProlificStudy.objects.filter(study=session.study_id).exclude(remote_id="")
    row = rounds.filter(remote_id=session.provider_study_id).first()
    pay = screen_out_pay(row.details) if row is not None else None
    return _format_amount(pay, row.currency) if row is not None and pay is not None else ""


def format_waiting_pay(study: Study) -> str:
    """Return the pay for waiting in vain, formatted; "" if there is none."""
    return _format_amount(study.design.lobby.pay, study.design.pay.currency)


def _format_amount(of: Decimal, currency: str) -> str:
    return format_amount(of, currency) if of else ""


def format_amount(of: Decimal, currency: str) -> str:
    """Return an amount with its currency, formatted: "US$ 8.00"."""
    amount = number_format(of, decimal_pos=2, use_l10n=True, force_grouping=True)
    # Translators: an amount of money, such as US$ 8.00, with the sign where it stands in your language.
    pattern = gettext("%(currency)s %(amount)s").replace(" ", "\N{NO-BREAK SPACE}")
    return pattern % {"currency": _SIGNS.get(currency, currency), "amount": amount}
