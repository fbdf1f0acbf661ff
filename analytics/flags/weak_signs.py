"""`weak_signs`: little agreement and failed checks, none of which is enough alone."""

from analytics.flags.base import FALSE_ALARM_RATE, Evidence, FlagRule, percent, probability
from analytics.flags.records import SessionRecord
from analytics.session_tests import FEWEST_COMPARED, check_failures, combined_p, compared_answers, disagreement_p


class WeakSigns(FlagRule):
    """Agreement with others, and checks of each type, tested together by Fisher's method: they are other answers."""

    name = "weak_signs"
    version = 3
    title = "Several weak signs"
    misses = "Careless people in studies without checks, or where nobody else answered."

    def find(self, session: SessionRecord) -> Evidence | None:
        compared = [each for _, each in compared_answers(session)]
        tests = check_failures(session)
        failed, asked = (sum(each[place] for each in tests.values()) for place in (0, 1))
        if len(compared) < FEWEST_COMPARED or not failed:
            return None
        agreement = disagreement_p(session, compared, compared)
        p = combined_p([agreement, *(p for _, _, p in tests.values())])
        # A single strong sign has a rule of its own.
        if p > FALSE_ALARM_RATE or agreement > 0.5:
            return None
        agreed = sum(each.others.get(each.label, 0) / sum(each.others.values()) for each in compared)
        return {
            "answers": len(compared),
            "agreed": round(agreed / len(compared), 4),
            "failed": failed,
            "asked": asked,
            "p": p,
        }

    def sentence(self, evidence: Evidence) -> str:
        return (
            f"{percent(evidence['agreed'])} of {evidence['answers']} answers agree with unflagged sessions, and "
            f"{evidence['failed']} of {evidence['asked']} checks were failed (together {probability(evidence['p'])})."
        )
