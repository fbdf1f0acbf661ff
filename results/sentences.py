"""Effects of changes to whose answers count, in numbers and sentences, for pages and commands."""

from collections.abc import Mapping, Sequence
from typing import Any

from analytics.work.answer_times import TimeEvidence
from annotation.actions.removing.removals import RemovalEffects
from annotation.actions.removing.reopen_places import ReopenedPlaces
from annotation.models import Payment
from studies.wording import format_count

# State of a payment -> what tables say; its label says it whole.
STATE_WORDS = {
    Payment.State.PLANNED: "Planned",
    Payment.State.SENDING: "Being sent",
    Payment.State.REQUESTED: "Accepted",
    Payment.State.PAID: "Paid",
    Payment.State.UNCERTAIN: "Held",
    Payment.State.REFUSED: "Refused",
    Payment.State.CANCELLED: "Cancelled",
}


def effect_counts(change: str, followed: RemovalEffects | ReopenedPlaces) -> Sequence[tuple[str, int]]:
    """Return the effects of `change` ("withdraw", "exclude", "include", "reopen"): label and number of each."""
    if isinstance(followed, ReopenedPlaces):
        return [("Answers requested from other people", followed.answers)]
    again = change == "include"
    return [
        ("Answers that count again" if again else "Answers excluded", followed.answers),
        ("Decisions changed", followed.decisions),
        ("Questions of later studies restored", followed.restored)
        if again
        else ("Questions of later studies undone", followed.undone),
        ("Answers still excluded, because other people were asked", followed.without_place)
        if again
        else ("Open sessions ended", followed.sessions),
    ]


def say_effects(change: str, followed: RemovalEffects | ReopenedPlaces) -> str:
    """Return the effects of `change` in sentences, without those of which there are none."""
    if isinstance(followed, ReopenedPlaces):
        asked = format_count(followed.answers, "answer") if followed.answers else "no answers"
        return f"Other people are asked for {asked}."
    counts = ("counts again", "count again") if change == "include" else ("no longer counts", "no longer count")
    sentences = [
        (followed.answers, "answer", counts),
        (followed.decisions, "decision", ("changed", "changed")),
        (followed.undone, "question", ("of later studies is undone", "of later studies are undone")),
        (followed.restored, "question", ("of later studies is restored", "of later studies are restored")),
        (followed.sessions, "open session", ("ended", "ended")),
        (followed.without_place, "answer", ("stays excluded", "stay excluded")),
    ]
    said = [f"{format_count(n, noun)} {one if n == 1 else many}" for n, noun, (one, many) in sentences if n]
    if followed.without_place:
        said[-1] += ", because other people were asked"
    return " ".join(f"{each}." for each in said) or "No answers or decisions changed."


def unlikely_times(evidence: Mapping[str, Any]) -> str:
    """Return in sentences why the times of a session are implausible (`analytics.work.answer_times.TimeEvidence`).

    Example: "5 of 5 answers were too fast to read and look: all together took 0.4 s, and need at least 4.0 s. The
    browser reported 105.0 s for 5 answers, but the server's clock allows at most 0.4 s."
    """
    found = TimeEvidence(**evidence)
    possible, least, told = _seconds(found.possible), _seconds(found.least), []
    if found.is_too_quick:
        told.append(
            f"{found.quick:,} of {format_count(found.answers, 'answer')} were too fast to read and look: "
            f"all together took {possible} s, and need at least {least} s."
        )
    if found.claims_too_much:
        told.append(
            f"The browser reported {_seconds(found.claimed)} s for {format_count(found.answers, 'answer')}, but the "
            f"server's clock allows at most {possible} s."
        )
    return " ".join(told)


def _seconds(seconds: float) -> str:
    return f"{seconds:,.1f}"
