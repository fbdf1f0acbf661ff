"""`hidden_tab`: questions that were answered while the tab was hidden for most of the time."""

from analytics.exact_tests import count_tail
from analytics.flags.base import FALSE_ALARM_RATE, Evidence, FlagRule
from analytics.flags.records import SessionRecord

# Honest people whose phone shows messages, or whose dictionary is another tab, may have it hidden for most of the time
# of up to so many answers. Of nine answers, all nine must be hidden: .5^9 = .00195.
INTERRUPTED = 0.5


class HiddenTab(FlagRule):
    """The tab was hidden for most of the time of more than half of the answers, by an exact binomial test."""

    name = "hidden_tab"
    version = 2
    title = "Tab hidden"
    misses = "People who use a second device or window, sessions of under nine answers, and written answers."

    def find(self, session: SessionRecord) -> Evidence | None:
        measured = [
            (each.hidden_seconds, each.claimed_seconds)
            for each in session.answers
            # People write texts in a translator, or look words up: then a hidden tab is work.
            if each.hidden_seconds is not None and each.claimed_seconds is not None and not each.text
        ]
        hidden = sum(away > in_view for away, in_view in measured)
        p = count_tail([INTERRUPTED] * len(measured), hidden)
        return None if p > FALSE_ALARM_RATE else {"hidden": hidden, "measured": len(measured)}

    def sentence(self, evidence: Evidence) -> str:
        hidden, measured = evidence["hidden"], evidence["measured"]
        return f"The tab was hidden for most of the time of {hidden} of {measured} measured answers."
