"""Registry of flag rules: signs that the answers of a session may be careless, for a researcher to review.

A new rule is one file and one line here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from analytics.flags.base import Evidence, FlagRule
from analytics.flags.records import AnswerRecord, SessionRecord, WritingRecord

RULES = {
    "claimed_time": "analytics.flags.claimed_time.ClaimedTime",
    "copied_text": "analytics.flags.copied_text.CopiedText",
    "even_times": "analytics.flags.even_times.EvenTimes",
    "failed_checks": "analytics.flags.failed_checks.FailedChecks",
    "fast_and_different": "analytics.flags.fast_and_different.FastAndDifferent",
    "hidden_tab": "analytics.flags.hidden_tab.HiddenTab",
    "low_agreement": "analytics.flags.low_agreement.LowAgreement",
    "pasted_text": "analytics.flags.pasted_text.PastedText",
    "patterns": "analytics.flags.patterns.Patterns",
    "place_habit": "analytics.flags.place_habit.PlaceHabit",
    "same_answers": "analytics.flags.same_answers.SameAnswers",
    "too_fast": "analytics.flags.too_fast.TooFast",
    "typing_rhythm": "analytics.flags.typing_rhythm.TypingRhythm",
    "weak_signs": "analytics.flags.weak_signs.WeakSigns",
}
# Written by `benchmarks/session_flags.py`.
MEASURED = Path(__file__).with_name("measured.json")
ALL_RULES = "any"


@dataclass(frozen=True)
class Measured:
    """How well a rule did on simulated sessions; all shares from 0 to 1.

    version: of the rule, None for all rules together. precision: the share of flagged sessions that were careless, if
    `careless_share` of all are; None if it flagged none. precision_at_least: that with the upper end of false alarms.
    recall: the share of careless sessions of all types that it flagged. best_type, best_recall: the type of which it
    flagged most. false_alarms: the share of honest sessions that it flagged; false_alarms_at_most: the upper end of the
    95 % interval. honest, careless: numbers of sessions.
    """

    version: int | None
    precision: float | None
    precision_at_least: float
    recall: float
    best_type: str
    best_recall: float
    false_alarms: float
    false_alarms_at_most: float
    honest: int
    careless: int
    careless_share: float
    measured_on: str


@cache
def get_flag_rule(name: str) -> FlagRule:
    """Return the rule called `name`. Raises KeyError for a name that is not in the registry."""
    rule: FlagRule = resolve_name(RULES[name])()
    return rule


@cache
def _measurements() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(MEASURED.read_text())
    return found


def measured_rule(name: str) -> Measured:
    """Return how well the rule called `name` did, or all of them together: ALL_RULES."""
    found = _measurements()
    return Measured(
        **found["rules"][name],
        honest=found["honest_sessions"],
        careless=found["careless_sessions"],
        careless_share=found["careless_share"],
        measured_on=found["measured_on"],
    )


__all__ = [
    "ALL_RULES",
    "RULES",
    "AnswerRecord",
    "Evidence",
    "FlagRule",
    "Measured",
    "SessionRecord",
    "WritingRecord",
    "get_flag_rule",
    "measured_rule",
]
