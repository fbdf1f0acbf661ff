"""Delete what a project knows of a person, as the law requires; answers of others stay."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.actions.arriving import suspicious_arrivals
from annotation.actions.removing import reopen_places
from annotation.models import (
    Annotator,
    Block,
    EntryEvent,
    GroupMember,
    PanelMember,
    Payment,
    PersonMessage,
    PersonNote,
    Removal,
    Report,
    Response,
    Seat,
    Session,
    Skip,
    Slot,
    Submission,
)
from background.sealed_secrets import CannotUnseal
from studies.errors import StudyError
from studies.models import Project, Study
from studies.wording import format_count


@dataclass(frozen=True)
class DeletedRows:
    """Numbers of deleted rows: responses (all versions of all answers) and sessions."""

    responses: int
    sessions: int


@transaction.atomic
def delete_rows(*, annotator: Annotator, project: Project) -> DeletedRows:
    """Delete what `project` knows of `annotator`, and the annotator if no other project knows them.

    Payments and submissions on Prolific stay in the books, without saying whose they are. Raises StudyError while a
    payment is not settled.

    Their answers must have been removed before, in the same transaction (`removals.withdraw`). Their places are free
    afterwards. Their entry events stay as counts, without their digest.
    """
    _let_go_of_payments(annotator, project)
    clear_entry_events(annotator=annotator, project=project)
    reopen_places.free_places(annotator=annotator, project=project)
    # What is left: seats of sessions without answers, and unanswered slots.
    held = Seat.objects.select_for_update().filter(session__annotator=annotator, study__project=project)
    seats = [seat.pk for seat in held.order_by("pk")]
    Seat.objects.filter(pk__in=seats).update(session=None, claimed_at=None, filled_at=None)
    Slot.objects.filter(annotator=annotator, seat__study__project=project).update(annotator=None, answered_at=None)
    responses, _ = Response.objects.filter(annotator=annotator, study__project=project).delete()
    Skip.objects.filter(annotator=annotator, study__project=project).delete()
    Report.objects.filter(annotator=annotator, study__project=project).delete()
    sat = Session.objects.filter(annotator=annotator, study__project=project)
    sessions = sat.count()
    submissions = Submission.objects.filter(session__in=sat)
    delete_submission_ids(submissions)
    # Of a study that is still read, the digest stays: without it the submission would be stored anew.
    submissions.update(sealed_id="", entered_code="")
    # Deletes their practice answers too.
    sat.delete()
    Removal.objects.filter(annotator=annotator, project=project).delete()
    GroupMember.objects.filter(annotator=annotator, project=project).delete()
    PanelMember.objects.filter(annotator=annotator, project=project).delete()
    for model in (PersonNote, Block, PersonMessage):
        model._default_manager.filter(annotator=annotator, project=project).delete()
    delete_unknown([annotator.pk])
    return DeletedRows(responses=responses, sessions=sessions)


def _let_go_of_payments(annotator: Annotator, project: Project) -> None:
    payments = Payment.objects.filter(annotator=annotator, study__project=project)
    open_ones = payments.exclude(state__in=Payment.SETTLED).count()
    if open_ones:
        raise StudyError(
            f"{format_count(open_ones, 'payment')} to this person {'is' if open_ones == 1 else 'are'} not settled yet. "
            "Send, settle or cancel them first."
        )
    payments.update(annotator=None, session=None, note="")


def delete_submission_ids(found: QuerySet[Submission]) -> None:
    """Delete the ids of submissions that are not read from Prolific any more; others would come again."""
    for submission in found.filter(prolific_study__due_at=None).exclude(sealed_id=""):
        # Its column is unique: a random text is found by no id.
        Submission.objects.filter(pk=submission.pk).update(sealed_id="", id_digest=secrets.token_hex(32))


def clear_entry_events(*, annotator: Annotator, project: Project) -> None:
    """Let the entry events of `annotator` be counts. They stay as they are if no key of the site opens the id."""
    try:
        person = annotator.provider_id
    except CannotUnseal:
        return
    for study in Study.objects.filter(project=project) if person else ():
        who = suspicious_arrivals.digest(study=study, person=person)
        EntryEvent.objects.filter(study=study, who=who).update(who="")


def delete_unknown(annotators: Collection[int]) -> None:
    """Delete those of `annotators`, by id, that no project knows any more."""
    known = (Exists(model.objects.filter(annotator=OuterRef("pk"))) for model in (Session, GroupMember, PanelMember))
    Annotator.objects.filter(*(~each for each in known), pk__in=annotators).delete()
