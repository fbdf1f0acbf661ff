"""Queue webhook messages about newly accepted instances, once per webhook."""

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Decision
from annotation.models.outcomes import accepted_decisions
from studies.models import Study
from workspace.actions.webhooks import accepting_studies, queue_message
from workspace.models import ToldAcceptance, Topic, Webhook

# Instances named in one message.
MOST_INSTANCES = 500


def queue_acceptance_messages(*, now: datetime) -> int:
    """Queue messages about instances accepted since the last run; return the number of messages.

    Compares decisions with what each webhook was told, not timestamps: the next run picks up what a lost worker or
    message missed.
    """
    written = 0
    on = Webhook.objects.filter(off_at=None, project__archived_at=None).select_related("project")
    for webhook in on:
        if Topic.INSTANCES_ACCEPTED in webhook.topics:
            for study in accepting_studies(webhook.project):
                # Read first without a transaction: on SQLite a transaction would block other writers.
                while _unreported_decisions(webhook, study).exists() and _queue_one_message(webhook.pk, study.pk, now):
                    written += 1
    return written


def _unreported_decisions(webhook: Webhook, study: Study) -> QuerySet[Decision]:
    """Return decisions that accepted an instance of `study` and that `webhook` was not told of, in no order."""
    told = ToldAcceptance.objects.filter(webhook=webhook, study=study, instance=OuterRef("question__instance"))
    return accepted_decisions(study).exclude(Exists(told))


@transaction.atomic
def _queue_one_message(webhook_id: int, study_id: int, now: datetime) -> bool:
    """Queue one message about accepted instances; return whether there was anything to tell."""
    # Of two concurrent runs the second sees what the first wrote.
    webhook = Webhook.objects.select_for_update(of=("self",)).select_related("project").filter(pk=webhook_id).first()
    if webhook is None:
        return False
    study = webhook.project.studies.get(pk=study_id)
    untold = _unreported_decisions(webhook, study).order_by("question__instance")
    rows = list(untold.values_list("question__instance", "question__instance__key").distinct()[:MOST_INSTANCES])
    if not rows:
        return False
    ToldAcceptance.objects.bulk_create(ToldAcceptance(webhook=webhook, study=study, instance_id=pk) for pk, _ in rows)
    instances = [{"id": pk, "key": key} for pk, key in rows]
    data = {"project": webhook.project.slug, "study": study.slug, "instances": instances}
    queue_message(webhook=webhook, topic=Topic.INSTANCES_ACCEPTED, data=data, now=now)
    return True
