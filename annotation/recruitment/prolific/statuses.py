"""Prolific's enumerations, spelt as its API spells them (prolific.md, sections 3.2, 3.3, 4.2 and 4.4)."""

from enum import StrEnum


class SubmissionStatus(StrEnum):
    RESERVED = "RESERVED"
    ACTIVE = "ACTIVE"
    AWAITING_REVIEW = "AWAITING REVIEW"
    APPROVED = "APPROVED"
    PARTIALLY_APPROVED = "PARTIALLY APPROVED"
    REJECTED = "REJECTED"
    RETURNED = "RETURNED"
    TIMED_OUT = "TIMED-OUT"
    SCREENED_OUT = "SCREENED OUT"
    UNKNOWN = "UNKNOWN"


class StudyStatus(StrEnum):
    UNPUBLISHED = "UNPUBLISHED"
    SCHEDULED = "SCHEDULED"
    PUBLISHING = "PUBLISHING"
    ACTIVE = "ACTIVE"
    AWAITING_REVIEW = "AWAITING REVIEW"
    PAUSED = "PAUSED"
    COMPLETED = "COMPLETED"


class StudyAction(StrEnum):
    PUBLISH = "PUBLISH"
    PAUSE = "PAUSE"
    START = "START"
    STOP = "STOP"


class SubmissionAction(StrEnum):
    APPROVE = "APPROVE"
    COMPLETE = "COMPLETE"
    REJECT = "REJECT"
    UNREJECT = "UNREJECT"


class RejectionCategory(StrEnum):
    TOO_QUICKLY = "TOO_QUICKLY"
    TOO_SLOWLY = "TOO_SLOWLY"
    FAILED_INSTRUCTIONS = "FAILED_INSTRUCTIONS"
    INCOMP_LONGITUDINAL = "INCOMP_LONGITUDINAL"
    FAILED_CHECK = "FAILED_CHECK"
    LOW_EFFORT = "LOW_EFFORT"
    MALINGERING = "MALINGERING"
    NO_CODE = "NO_CODE"
    BAD_CODE = "BAD_CODE"
    NO_DATA = "NO_DATA"
    UNSUPP_DEVICE = "UNSUPP_DEVICE"
    OTHER = "OTHER"


class EventType(StrEnum):
    SUBMISSION_STATUS = "submission.status.change"
    STUDY_STATUS = "study.status.change"
