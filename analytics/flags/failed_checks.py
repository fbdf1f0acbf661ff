"""`failed_checks`: more checks were failed than honest people fail."""

from analytics.flags.base import FALSE_ALARM_RATE, Evidence, FlagRule, probability
from analytics.flags.records import SessionRecord
from analytics.session_tests import check_failures


class FailedChecks(FlagRule):
    """More checks of one type failed than honest people fail, or than others failed: a beta-binomial test."""

    name = "failed_checks"
    version = 2
    title = "Failed checks"
    misses = "People who meet few checks, and those who recognise them."

    def find(self, session: SessionRecord) -> Evidence | None:
        tests = check_failures(session)
        found = min(((p, type) for type, (_, _, p) in tests.items()), default=(1.0, ""))
        if found[0] * len(tests) > FALSE_ALARM_RATE or not tests:
            return None
        p, type = found
        failed, asked, _ = tests[type]
        return {"check_type": type, "failed": failed, "asked": asked, "p": p}

    def sentence(self, evidence: Evidence) -> str:
        kind = _NAMES.get(evidence["check_type"], "checks")
        return f"{evidence['failed']} of {evidence['asked']} {kind} were failed ({probability(evidence['p'])})."


_NAMES = {"instruction": "instruction checks", "gold": "gold questions", "repeat": "repeated questions"}
