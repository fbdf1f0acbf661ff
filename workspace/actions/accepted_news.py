"""Which instances were accepted since webhooks were told last: found by the clock, and told once."""

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Decision
from annotation.models.outcomes import accepted_decisions
from studies.models import Study
from workspace.actions.webhooks import accepting_studies, tell
from workspace.models import ToldAcceptance, Topic, Webhook

# How many instances one message names.
MOST_INSTANCES = 500


def note_accepted(*, now: datetime) -> int:
    """Write down for webhooks which instances were accepted since they were told last; return how many messages.

    The decisions in the database say it, and not their moments: what a worker or a message lost is told the next time.
    """
    written = 0
    on = Webhook.objects.filter(off_at=None, project__archived_at=None).select_related("project")
    for webhook in on:
        if Topic.INSTANCES_ACCEPTED in webhook.topics:
            for study in accepting_studies(webhook.project):
                # Looked at first without keeping others from writing, as SQLite's transactions do.
                while _untold(webhook, study).exists() and _note_some(webhook.pk, study.pk, now):
                    written += 1
    return written


def _untold(webhook: Webhook, study: Study) -> QuerySet[Decision]:
    """Return the decisions about instances that `study` accepted and `webhook` was not told of. In no order."""
    told = ToldAcceptance.objects.filter(webhook=webhook, study=study, instance=OuterRef("question__instance"))
    return accepted_decisions(study).exclude(Exists(told))


@transaction.atomic
def _note_some(webhook_id: int, study_id: int, now: datetime) -> bool:
    """Write down one message about instances that were accepted; tell whether there was anything to tell."""
    # Of two that look at once the second sees what the first wrote.
    webhook = Webhook.objects.select_for_update(of=("self",)).select_related("project").filter(pk=webhook_id).first()
    if webhook is None:
        return False
    study = webhook.project.studies.get(pk=study_id)
    untold = _untold(webhook, study).order_by("question__instance")
    rows = list(untold.values_list("question__instance", "question__instance__key").distinct()[:MOST_INSTANCES])
    if not rows:
        return False
    ToldAcceptance.objects.bulk_create(ToldAcceptance(webhook=webhook, study=study, instance_id=pk) for pk, _ in rows)
    instances = [{"id": pk, "key": key} for pk, key in rows]
    data = {"project": webhook.project.slug, "study": study.slug, "instances": instances}
    tell(webhook=webhook, topic=Topic.INSTANCES_ACCEPTED, data=data, now=now)
    return True
