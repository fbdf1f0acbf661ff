"""Event log: every action of a researcher, command or program records who did what, and when."""

from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils.module_loading import import_string

from studies.models import Event, Project, Study

# A signed-in user, or the name of a command or program.
Actor: TypeAlias = User | str

# The default actor: a command without --by, and periodic tasks.
COMMAND_LINE = "command line"
TIMETABLE = "timetable"
# An annotator; their number is in the details.
ANNOTATOR = "annotator"


class What(StrEnum):
    """Event types of a project. A new one also needs a sentence in `results.queries.studies.events`."""

    PROJECT_MADE = "project made"
    PROJECT_CHANGED = "project changed"
    PROJECT_RENAMED = "project renamed"
    PROJECT_ARCHIVED = "project archived"
    PROJECT_REOPENED = "project reopened"
    PROJECT_DELETION_REQUESTED = "project deletion requested"
    PROJECT_DELETION_CANCELLED = "project deletion cancelled"
    MEMBER_INVITED = "member invited"
    INVITATION_CANCELLED = "invitation cancelled"
    MEMBER_ADDED = "member added"
    MEMBER_CHANGED = "member changed"
    MEMBER_REMOVED = "member removed"
    IMPORT_REQUESTED = "import requested"
    IMPORT_CANCELLED = "import cancelled"
    MAPPING_CHANGE_REQUESTED = "mapping change requested"
    MAPPING_CHANGE_CANCELLED = "mapping change cancelled"
    MAPPING_CHANGED = "mapping changed"
    INSTANCES_TAGGED = "instances tagged"
    INSTANCES_UNTAGGED = "instances untagged"
    INSTANCES_IMPORTED = "instances imported"
    PIPELINE_REQUESTED = "pipeline requested"
    PIPELINE_CANCELLED = "pipeline cancelled"
    PIPELINE_FINISHED = "pipeline finished"
    PIPELINE_DELETED = "pipeline deleted"
    PREDICTIONS_IMPORTED = "predictions imported"
    PREDICTIONS_REQUESTED = "predictions requested"
    PREDICTIONS_CANCELLED = "predictions cancelled"
    PREDICTIONS_RESUMED = "predictions resumed"
    PREDICTIONS_COMPUTED = "predictions computed"
    TRAINING_REQUESTED = "training requested"
    TRAINING_CANCELLED = "training cancelled"
    TRAINING_RESUMED = "training resumed"
    TRAINING_DELETED = "training deleted"
    MODEL_TRAINED = "model trained"
    MODEL_RENAMED = "model renamed"
    MODEL_DELETED = "model deleted"
    DATASET_SET = "dataset set"
    GROUP_SET = "group set"
    PANEL_MEMBERS_ADDED = "panel members added"
    PANEL_MEMBER_REMOVED = "panel member removed"
    STUDY_CREATED = "study created"
    STUDY_DUPLICATED = "study duplicated"
    STUDY_CHANGED = "study changed"
    STUDY_DELETED = "study deleted"
    LAUNCH_REQUESTED = "launch requested"
    LAUNCH_CANCELLED = "launch cancelled"
    EXTENSION_REQUESTED = "extension requested"
    EXTENSION_CANCELLED = "extension cancelled"
    STUDY_LAUNCHED = "study launched"
    STUDY_PAUSED = "study paused"
    STUDY_RESUMED = "study resumed"
    STUDY_CLOSED = "study closed"
    CONSENT_AMENDED = "consent amended"
    STUDY_UNDERPAID = "study underpaid"
    POLICY_PAUSED = "policy paused"
    POLICY_REPLACED = "policy replaced"
    MORE_ANSWERS_WANTED = "more answers wanted"
    MOST_ANSWERS_RAISED = "most answers raised"
    INSTANCES_TAKEN_UP = "instances taken up"
    COMPLETION_SET = "completion set"
    STUDY_COMPLETED = "study completed"
    QUESTION_SETTLED = "question settled"
    QUESTION_UNSETTLED = "question unsettled"
    QUESTION_TAKEN_OUT = "question taken out"
    QUESTION_PUT_BACK = "question put back"
    SEAT_FREED = "seat freed"
    NETWORKS_OPENED = "networks opened"
    TIMES_ACCEPTED = "times accepted"
    FLAGS_CHANGED = "flags changed"
    SESSION_LAPSED = "session lapsed"
    ANNOTATOR_WITHDRAWN = "annotator withdrawn"
    ANNOTATOR_EXCLUDED = "annotator excluded"
    ANNOTATOR_LET_BACK = "annotator let back"
    SLOTS_REOPENED = "slots opened again"
    ANNOTATOR_FORGOTTEN = "annotator forgotten"
    ANNOTATOR_BLOCKED = "annotator blocked"
    ANNOTATOR_ALLOWED = "annotator allowed"
    NOTE_ADDED = "note added"
    NOTE_DELETED = "note deleted"
    FLAGS_UPHELD = "flags upheld"
    FLAGS_DISMISSED = "flags dismissed"
    FLAG_REVIEW_UNDONE = "flags to review again"
    MESSAGE_REQUESTED = "message requested"
    EXPORT_REQUESTED = "export requested"
    EXPORT_CANCELLED = "export cancelled"
    EXPORT_WRITTEN = "export written"
    RELEASE_MADE = "release made"
    RELEASE_FROZEN = "release frozen"
    RELEASE_REQUESTED = "release requested"
    RELEASE_WRITTEN = "release written"
    DATASET_DOWNLOAD_REQUESTED = "dataset download requested"
    HUB_PUSH_REQUESTED = "push to the hub requested"
    HUB_PUSH_CANCELLED = "push to the hub cancelled"
    RELEASE_PUSHED = "release pushed to the hub"
    MODEL_PUSH_REQUESTED = "push of a model to the hub requested"
    MODEL_PUSH_CANCELLED = "push of a model to the hub cancelled"
    MODEL_PUSHED = "model pushed to the hub"
    PROVIDER_IDS_TAKEN = "provider ids taken"
    PERSONAL_DATA_TAKEN = "personal data taken"
    PROVIDER_IDS_DELETED = "provider ids deleted"
    WEBHOOK_MADE = "webhook made"
    WEBHOOK_DELETED = "webhook deleted"
    WEBHOOK_KEY_CHANGED = "webhook key changed"
    WEBHOOK_SWITCHED_OFF = "webhook switched off"
    WEBHOOK_SWITCHED_ON = "webhook switched on"
    WEBHOOK_TRIED = "webhook tried"
    DELIVERY_REPEATED = "delivery repeated"
    PROLIFIC_ACCOUNT_CONNECTED = "prolific account connected"
    PROLIFIC_ACCOUNT_REMOVED = "prolific account removed"
    PROLIFIC_WORKSPACE_CHOSEN = "prolific workspace chosen"
    PROLIFIC_STUDY_DRAFTED = "prolific study drafted"
    PROLIFIC_STUDY_CHANGED = "prolific study changed"
    PROLIFIC_STUDY_PUBLISHED = "prolific study published"
    PROLIFIC_STUDY_STARTED = "prolific study started"
    PROLIFIC_STUDY_PAUSED = "prolific study paused"
    PROLIFIC_STUDY_RESUMED = "prolific study resumed"
    PROLIFIC_PLACES_ADDED = "prolific places added"
    PROLIFIC_STUDY_STOPPED = "prolific study stopped"
    PROLIFIC_WEBHOOKS_CONFIRMED = "prolific webhooks confirmed"
    SUBMISSION_FLAGGED = "submission flagged"
    SUBMISSION_FITS = "submission fits"
    SUBMISSION_COMPLETED = "submission completed"
    IDENTITY_REFUTED = "submission of somebody else"
    PAYMENTS_ORDERED = "payments ordered"
    PAYMENT_CANCELLED = "payment cancelled"
    PAYMENTS_REFUSED = "payments refused"
    PAYMENTS_HELD = "payments held"
    PAYMENTS_SENT_AGAIN = "payments sent again"
    PAYMENT_FOUND_PAID = "payment found paid"
    PAYMENT_FOUND_UNPAID = "payment found unpaid"
    LEDGER_COMPARED = "ledger compared"
    REWARDS_NOTED = "rewards noted"
    SUBMISSION_REJECTED = "submission rejected"
    REJECTION_UNDONE = "rejection undone"
    RETURN_REQUESTED = "return requested"
    ANSWERS_SIMULATED = "answers simulated"
    STUDY_REPLAYED = "study replayed"


def record(
    *, project: Project, what: str, by: Actor, now: datetime, study: Study | None = None, **details: Any
) -> Event:
    """Store an event in the transaction of its action, so that a rollback leaves no event.

    `details`: plain JSON values, never a provider's id. Listeners (`TOLD_OF_EVENTS`) are called in the same
    transaction. Raises TransactionManagementError outside of a transaction.
    """
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("An event is recorded in the transaction of what it tells about.")
    event = Event.objects.create(
        project=project,
        study=study,
        study_name=study.slug if study else "",
        what=what,
        by=person(by),
        by_name=name_of(by),
        details=details,
        at=now,
    )
    for listener in settings.TOLD_OF_EVENTS:
        import_string(listener)(event=event)
    return event


def person(by: Actor) -> User | None:
    """Return the actor if it is a user, else None."""
    return None if isinstance(by, str) else by


def name_of(by: Actor) -> str:
    """Return the name of the actor, as events store it."""
    return by if isinstance(by, str) else by.get_full_name() or by.get_username()


def who_launched(study: Study) -> User | None:
    """Return the user who launched `study`; None for a command or a deleted account."""
    launch = Event.objects.filter(study=study, what=What.STUDY_LAUNCHED).select_related("by").order_by("pk").last()
    return launch.by if launch else None
