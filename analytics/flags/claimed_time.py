"""`claimed_time`: the browser claims more time than passed on the server."""

from analytics.flags.base import Evidence, FlagRule
from analytics.flags.records import SessionRecord
from analytics.work.answer_times import TimedAnswer, time_evidence


class ClaimedTime(FlagRule):
    """The times that the browser claims exceed the server's clock by more than clocks differ (`time_evidence`)."""

    name = "claimed_time"
    title = "Claims more time than passed"
    misses = "People who let the time pass, with the page in view."

    def find(self, session: SessionRecord) -> Evidence | None:
        evidence = time_evidence(
            TimedAnswer(each.claimed_seconds, each.possible_seconds, 0.0)
            for each in session.answers
            if each.possible_seconds is not None
        )
        if evidence is None or not evidence.claims_too_much:
            return None
        return {
            "answers": evidence.answers,
            "claimed_seconds": round(evidence.claimed, 1),
            "possible_seconds": round(evidence.possible, 1),
        }

    def sentence(self, evidence: Evidence) -> str:
        claimed, possible = evidence["claimed_seconds"], evidence["possible_seconds"]
        return (
            f"The browser claims {claimed:.0f} s for {evidence['answers']} answers; "
            f"by the server's clock, at most {possible:.0f} s were possible."
        )
