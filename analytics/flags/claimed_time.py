"""`claimed_time`: the browser claims more time than passed on the server."""

from analytics.flags.base import Evidence, FlagRule
from analytics.flags.records import SessionRecord
from analytics.work.answer_times import TimedAnswer, time_evidence

# A clock that jumps, or a second window that shows a question for an hour, spoils the times of single answers. The
# claims must be too high without so many answers that claim most.
SPOILED = 3


class ClaimedTime(FlagRule):
    """The times that the browser claims exceed the server's clock by more than clocks differ (`time_evidence`), also
    without the SPOILED answers that exceed it most."""

    name = "claimed_time"
    version = 2
    title = "Claims more time than passed"
    misses = "People who let the time pass, with the page in view, or who claim too much for up to three answers."

    def find(self, session: SessionRecord) -> Evidence | None:
        timed = [
            TimedAnswer(each.claimed_seconds, each.possible_seconds, 0.0)
            for each in session.answers
            if each.possible_seconds is not None and each.claimed_seconds is not None
        ]
        timed.sort(key=lambda each: (each.claimed or 0.0) - each.possible)
        evidence, unspoiled = time_evidence(timed), time_evidence(timed[:-SPOILED])
        if evidence is None or unspoiled is None or not unspoiled.claims_too_much:
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
