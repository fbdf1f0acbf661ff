"""What the local platform allows: moves of studies and submissions, and checks of what it is sent (prolific.md, 3, 4).

What is assumed where Prolific publishes nothing stands in docs/prolific.md.
"""

import math
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from annotation.recruitment.prolific.statuses import StudyStatus, SubmissionStatus
from simulation.prolific_double.store import Document

RESERVATION = timedelta(minutes=10)
REVIEW = timedelta(days=21)
CLOCK_AHEAD = timedelta(minutes=20)
SHORTEST_REJECTION = 100
NO_CODE = "NOCODE"
SCREEN_OUT = "FIXED_SCREEN_OUT_PAYMENT"
# In cents.
FIRST_BALANCE = 1_000_000

S = SubmissionStatus
IN_PROGRESS = frozenset({S.RESERVED, S.ACTIVE})
# What each move of a submission starts from.
MOVES: Mapping[str, frozenset[SubmissionStatus]] = {
    "open": frozenset({S.RESERVED}),
    "return": frozenset({S.RESERVED, S.ACTIVE, S.AWAITING_REVIEW}),
    "time out": IN_PROGRESS,
    "complete": frozenset({S.ACTIVE, S.TIMED_OUT}),
    "complete for them": frozenset({S.ACTIVE}),
    "pay in part": frozenset({S.AWAITING_REVIEW}),
    "approve": frozenset({S.AWAITING_REVIEW}),
    "reject": frozenset({S.AWAITING_REVIEW}),
    "undo rejection": frozenset({S.REJECTED}),
}
FREES_PLACE = frozenset({S.RETURNED, S.TIMED_OUT, S.REJECTED})

STUDY_MOVES: Mapping[str, tuple[frozenset[StudyStatus], StudyStatus]] = {
    "PUBLISH": (frozenset({StudyStatus.UNPUBLISHED}), StudyStatus.ACTIVE),
    "PAUSE": (frozenset({StudyStatus.ACTIVE}), StudyStatus.PAUSED),
    "START": (frozenset({StudyStatus.PAUSED}), StudyStatus.ACTIVE),
    "STOP": (
        frozenset({StudyStatus.ACTIVE, StudyStatus.AWAITING_REVIEW, StudyStatus.PAUSED}),
        StudyStatus.COMPLETED,
    ),
}
# What a published study may still change.
CHANGEABLE = frozenset({"internal_name", "total_available_places", "access_details", "submissions_config"})
_REQUIRED = (
    "name",
    "description",
    "external_study_url",
    "prolific_id_option",
    "total_available_places",
    "estimated_completion_time",
    "reward",
)
# Filters by lists of people: whether the people named, or members of the groups named, are those let in.
PEOPLE_FILTERS = {
    "custom_allowlist": True,
    "custom_blocklist": False,
    "participant_group_allowlist": True,
    "participant_group_blocklist": False,
}


class Refusal(Exception):
    """The platform does not do this. `detail`: a sentence, or a list of sentences by field."""

    def __init__(self, detail: str | dict[str, list[str]], *, status: int = 400) -> None:
        super().__init__(str(detail))
        self.detail, self.status = detail, status


def new_id() -> str:
    return secrets.token_hex(12)


def fee_of(cents: int) -> int:
    """Return a third of an amount, rounded to the nearest cent."""
    return (cents + 1) // 3


def shortest_limit(minutes: float) -> int:
    """Return the least maximum time of a study that is estimated to take `minutes`."""
    return math.ceil(2 + 2 * minutes + 2 * math.sqrt(minutes))


def amount_of(batch: Document) -> int:
    """Return the sum of bonuses without the fee, in cents."""
    return sum(int(bonus["cents"]) for bonus in batch["bonuses"])


def actions_of(study: Document, code: str, *, actor: str) -> list[Document] | None:
    """Return the actions of a code of a study, None if it has no such code for the actor."""
    for one in study.get("completion_codes", []):
        if one["code"] == code and one.get("actor", "participant") == actor:
            return list(one["actions"])
    return None


def check_study(study: Mapping[str, Any]) -> None:
    problems = {field: ["This field is required."] for field in _REQUIRED if study.get(field) in (None, "")}
    if problems:
        raise Refusal(problems)
    if "eligibility_requirements" in study:
        raise Refusal({"eligibility_requirements": ["This field was removed. Use filters."]})
    codes = study.get("completion_codes", [])
    if len({code["code"] for code in codes}) < len(codes):
        raise Refusal({"completion_codes": ["Codes must be unique within a study."]})
    for code in codes:
        if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= {action["action"] for action in code["actions"]}:
            raise Refusal({"completion_codes": ["A code is either approved automatically or reviewed."]})
    screen_outs = [action for code in codes for action in code["actions"] if action["action"] == SCREEN_OUT]
    if len(screen_outs) > 1:
        raise Refusal({"completion_codes": ["Only one code may screen participants out."]})
    for action in screen_outs:
        if not 0 < action["fixed_screen_out_reward"] < study["reward"] or action["slots"] < 1:
            raise Refusal({"completion_codes": ["A screen-out pays less than the reward, and has at least one slot."]})
    shortest = shortest_limit(study["estimated_completion_time"])
    if study.get("maximum_allowed_time", shortest) < shortest:
        raise Refusal({"maximum_allowed_time": [f"This must be at least {shortest}."]})


def check_rejection(body: Mapping[str, Any]) -> None:
    problems = {}
    if len(body.get("message", "")) < SHORTEST_REJECTION:
        problems["message"] = [f"This must have at least {SHORTEST_REJECTION} characters."]
    if not body.get("rejection_category"):
        problems["rejection_category"] = ["This field is required."]
    if problems:
        raise Refusal(problems)
