from annotation.models.people import Annotator, EntryEvent, GroupMember, Removal
from annotation.models.prolific_accounts import ProlificAccount
from annotation.models.responses import AnswerNotice, Decision, Draft, PracticeAnswer, Report, Response, Skip
from annotation.models.seats import Seat, Slot
from annotation.models.sessions import Session, SessionState

__all__ = [
    "Annotator",
    "AnswerNotice",
    "Decision",
    "Draft",
    "EntryEvent",
    "GroupMember",
    "PracticeAnswer",
    "ProlificAccount",
    "Removal",
    "Report",
    "Response",
    "Seat",
    "Session",
    "SessionState",
    "Skip",
    "Slot",
]
