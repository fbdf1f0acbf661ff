"""Delete the ids of people whose last session is long ago. They can no longer be looked up; their answers stay."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet

from annotation.actions.arriving import suspicious_arrivals
from annotation.actions.removing.erasure import delete_submission_ids
from annotation.models import Annotator, Block, EntryEvent, GroupMember, PanelMember, Payment, Session, Submission
from background.sealed_secrets import CannotUnseal
from studies.actions.events import Actor, What, record
from studies.models import Project, Study, StudyState

logger = logging.getLogger(__name__)

BATCH = 500


def delete_old_ids(*, by: Actor, now: datetime) -> int:
    """Delete the ids of people whose last session is older than `IDS_KEPT_DAYS`; return how many. 0 days: never.

    A person keeps their id while a study of theirs is not closed, or is still read from Prolific. So do people with
    a payment that is not settled, in a panel, in a group of a project that is not archived, or blocked.
    """
    if not settings.IDS_KEPT_DAYS:
        return 0
    before = now - timedelta(days=settings.IDS_KEPT_DAYS)
    deleted = 0
    while batch := list(_forgettable(before).order_by("pk").values_list("pk", flat=True)[:BATCH]):
        deleted += _delete_ids(batch, before=before, by=by, now=now)
    _delete_submissions_of_strangers(before)
    return deleted


def _forgettable(before: datetime) -> QuerySet[Annotator]:
    theirs = Session.objects.filter(annotator=OuterRef("pk"))
    reasons_to_keep = (
        theirs.filter(last_seen_at__gte=before),
        theirs.exclude(study__state=StudyState.CLOSED),
        theirs.filter(submission__prolific_study__due_at__isnull=False),
        Payment.objects.filter(annotator=OuterRef("pk")).exclude(state__in=Payment.SETTLED),
        GroupMember.objects.in_force().filter(annotator=OuterRef("pk"), project__archived_at=None),
        PanelMember.objects.filter(annotator=OuterRef("pk")),
        Block.objects.in_force().filter(annotator=OuterRef("pk"), project__archived_at=None),
    )
    old = Annotator.objects.exclude(id_digest=None).filter(blocked=False, created_at__lt=before)
    return old.filter(*(~Exists(each) for each in reasons_to_keep))


@transaction.atomic
def _delete_ids(batch: Sequence[int], *, before: datetime, by: Actor, now: datetime) -> int:
    locked = Annotator.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=batch)
    pks = list(locked.order_by("pk").values_list("pk", flat=True))
    # Asked again under the lock: somebody may have come back meanwhile.
    people = list(_forgettable(before).filter(pk__in=pks))
    sessions = Session.objects.filter(annotator__in=people)
    for project in Project.objects.filter(studies__sessions__in=sessions).annotate(
        people=Count("studies__sessions__annotator", distinct=True)
    ):
        record(project=project, what=What.PROVIDER_IDS_DELETED, by=by, now=now, people=project.people)
    _clear_entry_events(people)
    delete_submission_ids(Submission.objects.filter(session__in=sessions))
    sessions.update(sealed_id="", id_digest=None)
    return Annotator.objects.filter(pk__in=[person.pk for person in people]).update(sealed_id="", id_digest=None)


def _clear_entry_events(people: Sequence[Annotator]) -> None:
    ids = []
    for person in people:
        try:
            ids.append(person.provider_id)
        except CannotUnseal:
            continue
    for study in Study.objects.filter(project__studies__sessions__annotator__in=people).distinct():
        who = [suspicious_arrivals.digest(study=study, person=each) for each in ids]
        EntryEvent.objects.filter(study=study, who__in=who).update(who="")


def _delete_submissions_of_strangers(before: datetime) -> None:
    """Delete the ids of old submissions whose people never arrived here, or were erased."""
    closed = Submission.objects.filter(prolific_study__study__state=StudyState.CLOSED, read_at__lt=before)
    delete_submission_ids(closed.filter(session__id_digest=None))


def check_keys() -> None:
    """Log an error if the site has lost the key of its ids: people who return would count as new."""
    for person in Annotator.objects.exclude(sealed_id="").order_by("pk")[:1]:
        try:
            person.open_id()
        except CannotUnseal:
            logger.error(
                "The ids of people cannot be decrypted: their key is missing. Add the earlier SECRET_KEY or key to "
                "ENCRYPTION_KEYS, or people who return count as new."
            )
