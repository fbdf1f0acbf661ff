from annotation.models.consents import ConsentAgreement
from annotation.models.panel import LinkRequest, PanelMember
from annotation.models.payments import Payment
from annotation.models.people import Annotator, EntryEvent, GroupMember, Removal
from annotation.models.person_records import Block, PersonMessage, PersonNote
from annotation.models.prolific import ProlificAccount, ProlificStudy, ReceivedWebhook, Submission
from annotation.models.responses import AnswerNotice, Decision, Draft, PracticeAnswer, Report, Response, Skip
from annotation.models.seats import Seat, Slot
from annotation.models.session_flags import SessionFlag
from annotation.models.sessions import Identity, Session, SessionState

__all__ = [
    "Annotator",
    "AnswerNotice",
    "Block",
    "ConsentAgreement",
    "Decision",
    "Draft",
    "EntryEvent",
    "GroupMember",
    "Identity",
    "LinkRequest",
    "PanelMember",
    "Payment",
    "PersonMessage",
    "PersonNote",
    "PracticeAnswer",
    "ProlificAccount",
    "ProlificStudy",
    "ReceivedWebhook",
    "Removal",
    "Report",
    "Response",
    "Seat",
    "Session",
    "SessionFlag",
    "SessionState",
    "Skip",
    "Slot",
    "Submission",
]
