"""Applies all flag rules to all sessions of a study."""

from collections.abc import Mapping, Sequence

from analytics.flags import RULES, Evidence, get_flag_rule
from analytics.session_comparison import SentRecord, compared_sessions

# Where many are careless, agreement with everybody hides it: sessions that are flagged are set apart, and all sessions
# are compared with the others again. Later rounds find hardly any more.
MOST_ROUNDS = 2
# Its interval takes long: it is asked last.
LAST = "low_agreement"


def find_flags(sent: Sequence[SentRecord], *, captions: Mapping[int, Sequence[str]]) -> dict[int, dict[str, Evidence]]:
    """Return each session of a study -> rule -> evidence of the rules that flag it.

    sent, captions: as for `compared_sessions`. The same answers give the same flags.
    """
    rules = [get_flag_rule(name) for name in sorted(RULES, key=lambda name: (name == LAST, name))]
    apart: frozenset[int] = frozenset()
    for _ in range(MOST_ROUNDS):
        sessions = compared_sessions(sent, captions=captions, apart=apart)
        flagged = frozenset(session for session, each in sessions if any(rule.find(each) is not None for rule in rules))
        if flagged == apart:
            break
        apart = flagged
    return {
        session: {rule.name: found for rule in rules if (found := rule.find(each)) is not None}
        for session, each in compared_sessions(sent, captions=captions, apart=apart)
    }
