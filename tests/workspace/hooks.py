"""Webhooks, what they are to be told, and studies of which there is something to tell."""

import json
from typing import Any

from studies.models import Project, Study
from tests.factories import NOON, make_instance, make_launched, make_person, make_project, make_study
from workspace.actions.webhooks import make_webhook
from workspace.models import Delivery, Topic, Webhook

URL = "https://receiver.example/news"


def hook(project: Project | None = None, *, url: str = URL, topics: list[str] | None = None) -> Webhook:
    wanted = Topic.values if topics is None else topics
    by = make_person(f"owner-{Webhook.objects.count()}")
    key, _ = make_webhook(project=project or make_project(), url=url, topics=wanted, by=by, now=NOON)
    return key.webhook


def news(webhook: Webhook) -> list[dict[str, Any]]:
    found = Delivery.objects.filter(webhook=webhook).order_by("made_at", "body")
    return [json.loads(body) for body in found.values_list("body", flat=True)]


def asked_about(instances: int) -> Study:
    """Return an open study of so many instances, each asked about once."""
    project = make_project()
    for number in range(instances):
        make_instance(project, f"vase-{number}", source_row=number + 1)
    return make_launched(make_study(project))
