"""What to do about a session here and its submission on Prolific, as one table (prolific.md, section 3.4).

Only statuses are compared, never times of two clocks.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum

from annotation.models import SessionState
from annotation.models.prolific import Submission
from annotation.models.sessions import OPEN_STATES
from annotation.recruitment.prolific.statuses import SubmissionStatus as S

Flag = Submission.Flag
# What Prolific notes for somebody who completed without a code; all answers are here, so that is no wrong code.
NO_CODE = "NOCODE"


class Here(Enum):
    """A session here. ENDED: it has a completion code, but nothing was finished. LEFT: it has no code."""

    ABSENT = "absent"
    WORKING = "working"
    FINISHED = "finished"
    ENDED = "ended"
    LEFT = "left"


class There(Enum):
    """A submission on Prolific. LOST: returned or out of time, so that its place is somebody else's."""

    OPEN = "open"
    LOST = "lost"
    REJECTED = "rejected"
    REVIEW = "review"
    PAID = "paid"
    PAID_IN_PART = "paid in part"
    UNKNOWN = "unknown"


class Step(Enum):
    NOTHING = "nothing"
    END_SESSION = "end the session here, which frees its place"
    COMPLETE = "complete the submission there, if its redirect is lost"


@dataclass(frozen=True)
class Row:
    """`flag`: None keeps the one that a submission has. `checks_code`: a wrong code is flagged instead."""

    step: Step = Step.NOTHING
    flag: str | None = ""
    checks_code: bool = False


_FITS = Row()
_WITHOUT_DATA = {
    There.OPEN: _FITS,
    There.LOST: _FITS,
    There.REJECTED: _FITS,
    There.REVIEW: Row(flag=Flag.NO_DATA),
    There.PAID: Row(flag=Flag.PAID_WITHOUT_DATA),
    # A researcher decided it.
    There.PAID_IN_PART: _FITS,
    # It is read again in a minute.
    There.UNKNOWN: Row(flag=None),
}
_END = Row(Step.END_SESSION)
TABLE: Mapping[Here, Mapping[There, Row]] = {
    Here.ABSENT: _WITHOUT_DATA,
    Here.LEFT: _WITHOUT_DATA,
    Here.WORKING: {**_WITHOUT_DATA, There.LOST: _END, There.REJECTED: _END},
    Here.FINISHED: {
        There.OPEN: Row(Step.COMPLETE, Flag.REDIRECT_LOST),
        There.LOST: Row(flag=Flag.PLACE_LOST),
        There.REJECTED: _FITS,
        There.REVIEW: Row(checks_code=True),
        There.PAID: _FITS,
        There.PAID_IN_PART: _FITS,
        There.UNKNOWN: Row(flag=None),
    },
    Here.ENDED: {
        There.OPEN: _FITS,
        There.LOST: _FITS,
        There.REJECTED: _FITS,
        There.REVIEW: Row(checks_code=True),
        There.PAID: _FITS,
        There.PAID_IN_PART: _FITS,
        There.UNKNOWN: Row(flag=None),
    },
}
_THERE: Mapping[str, There] = {
    S.RESERVED: There.OPEN,
    S.ACTIVE: There.OPEN,
    S.RETURNED: There.LOST,
    S.TIMED_OUT: There.LOST,
    S.REJECTED: There.REJECTED,
    S.AWAITING_REVIEW: There.REVIEW,
    S.APPROVED: There.PAID,
    S.SCREENED_OUT: There.PAID,
    S.PARTIALLY_APPROVED: There.PAID_IN_PART,
}
# Nothing more is expected of a submission with one of these.
FINAL = frozenset({There.LOST, There.REJECTED, There.PAID, There.PAID_IN_PART})
_FINISHED = frozenset({SessionState.FINISHED, SessionState.LEFT_OUT, SessionState.WAITED})
_WITH_CODE = frozenset({SessionState.NO_CONSENT, SessionState.FAILED_CHECKS})


def there_of(status: str) -> There:
    return _THERE.get(status, There.UNKNOWN)


def here_of(state: str | None, *, has_code: bool) -> Here:
    """`state`: of the session, None without one. `has_code`: whether its last page shows a completion code."""
    if state is None:
        return Here.ABSENT
    if state in OPEN_STATES:
        return Here.WORKING
    if state in _FINISHED:
        return Here.FINISHED
    return Here.ENDED if state in _WITH_CODE or has_code else Here.LEFT


def row_of(here: Here, there: There, *, entered: str = "", codes: Collection[str] = ()) -> Row:
    """Return what to do. `entered`: the code that was entered there. `codes`: those that fit the session."""
    row = TABLE[here][there]
    if row.checks_code and entered not in ("", NO_CODE) and _plain(entered) not in map(_plain, codes):
        return Row(row.step, Flag.WRONG_CODE)
    return row


def _plain(code: str) -> str:
    return code.strip().casefold()
