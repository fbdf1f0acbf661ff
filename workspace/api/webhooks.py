"""Webhooks: create, test, rotate keys, and list deliveries."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from studies.permissions import Verb
from workspace import tasks
from workspace.actions import webhooks as actions
from workspace.actions.webhooks import OVERLAPS
from workspace.api.framework.endpoints import ProjectEndpoint, verbs_by_method
from workspace.api.framework.idempotency import KEY, idempotent
from workspace.api.framework.pagination import PageQuery, page_serializer, paginate
from workspace.api.serializers import DeliverySerializer, WebhookKeySerializer, WebhookSerializer
from workspace.models import Delivery, DeliveryState, Topic, Webhook
from workspace.webhook_http import LONGEST_URL

ABOUT = "Webhooks"
BOTH = verbs_by_method(GET=Verb.MANAGE_WEBHOOKS, POST=Verb.MANAGE_WEBHOOKS)


def _delivery_json(delivery: Delivery) -> Any:
    told = DeliverySerializer(delivery).data
    return told if delivery.state == DeliveryState.WAITING else told | {"due_at": None}


class WebhookWantedSerializer(serializers.Serializer[Any]):
    url = serializers.CharField(max_length=LONGEST_URL)
    topics = serializers.ListField(child=serializers.ChoiceField(choices=Topic.choices), min_length=1, max_length=10)


class Webhooks(ProjectEndpoint):
    about = ABOUT
    verbs = BOTH

    @extend_schema(operation_id="list_webhooks", parameters=[PageQuery], responses=page_serializer(WebhookSerializer))
    def get(self, request: Request, project: str) -> Response:
        """List the webhooks of a project."""
        webhooks = Webhook.objects.filter(project=self.project)
        return paginate(request, webhooks, lambda rows: WebhookSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="make_webhook",
        parameters=[KEY],
        request=WebhookWantedSerializer,
        responses={201: WebhookSerializer},
    )
    def post(self, request: Request, project: str) -> Response:
        """Create a webhook. Then request a new key for it, because its first key is never shown."""
        wanted = self.read(WebhookWantedSerializer)
        actions.check_webhook_url(wanted["url"])
        return self._make(request, wanted)

    @idempotent
    def _make(self, request: Request, wanted: dict[str, Any]) -> Response:
        # The response leaves out the key, because responses to idempotent requests are stored.
        key, _ = actions.make_webhook(project=self.project, **wanted, by=self.user, now=timezone.now())
        made = key.webhook
        address = reverse("api_webhook", args=[self.project.slug, made.pk], request=request)
        return Response(WebhookSerializer(made).data, status=201, headers={"Location": address})


class _WebhookEndpoint(ProjectEndpoint):
    about = ABOUT

    def one(self, pk: int) -> Webhook:
        """Return the webhook of the project with this id. Raises Http404."""
        return get_object_or_404(Webhook.objects.select_related("project"), project=self.project, pk=pk)


class OneWebhook(_WebhookEndpoint):
    verbs = verbs_by_method(GET=Verb.MANAGE_WEBHOOKS, DELETE=Verb.MANAGE_WEBHOOKS)

    @extend_schema(operation_id="read_webhook", responses=WebhookSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        """Return one webhook."""
        return Response(WebhookSerializer(self.one(pk)).data)

    @extend_schema(operation_id="delete_webhook", responses={204: None})
    def delete(self, request: Request, project: str, pk: int) -> Response:
        """Delete a webhook and its deliveries."""
        actions.delete_webhook(webhook=self.one(pk), by=self.user, now=timezone.now())
        return Response(status=204)


class KeyWantedSerializer(serializers.Serializer[Any]):
    hours = serializers.IntegerField(
        default=OVERLAPS[0],
        min_value=0,
        max_value=max(OVERLAPS),
        help_text=f"Hours for which the previous key also signs: {', '.join(map(str, OVERLAPS))} (it ends now).",
    )


class Key(_WebhookEndpoint):
    verbs = verbs_by_method(POST=Verb.MANAGE_WEBHOOKS)

    @extend_schema(operation_id="change_webhook_key", request=KeyWantedSerializer, responses=WebhookKeySerializer)
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Give a webhook a new key. It is shown only once; a repeated request creates another key."""
        wanted = self.read(KeyWantedSerializer)
        _, text = actions.change_key(webhook=self.one(pk), **wanted, by=self.user, now=timezone.now())
        return Response(WebhookKeySerializer({"key": text}).data)


class TryOut(_WebhookEndpoint):
    verbs = verbs_by_method(POST=Verb.MANAGE_WEBHOOKS)
    parser_classes = ()

    @extend_schema(operation_id="try_webhook", request=None, responses={202: DeliverySerializer})
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Send a test message to the webhook."""
        delivery = actions.send_test(webhook=self.one(pk), by=self.user, now=timezone.now())
        tasks.deliver.delay_on_commit()
        return Response(_delivery_json(delivery), status=202)


class SwitchOn(_WebhookEndpoint):
    verbs = verbs_by_method(POST=Verb.MANAGE_WEBHOOKS)
    parser_classes = ()

    @extend_schema(operation_id="switch_webhook_on", request=None, responses=WebhookSerializer)
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Switch a webhook on again and send the messages that wait for it."""
        actions.switch_on(webhook=self.one(pk), by=self.user, now=timezone.now())
        tasks.deliver.delay_on_commit()
        return Response(WebhookSerializer(self.one(pk)).data)


class Deliveries(_WebhookEndpoint):
    verbs = verbs_by_method(GET=Verb.MANAGE_WEBHOOKS)

    @extend_schema(
        operation_id="list_deliveries", parameters=[PageQuery], responses=page_serializer(DeliverySerializer)
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        """List the messages of the last 30 days, sent or waiting, newest first."""
        deliveries = Delivery.objects.filter(webhook=self.one(pk))
        return paginate(request, deliveries, lambda rows: [_delivery_json(each) for each in rows], newest_first=True)


class Repeat(ProjectEndpoint):
    about = ABOUT
    verbs = verbs_by_method(POST=Verb.MANAGE_WEBHOOKS)
    parser_classes = ()

    @extend_schema(operation_id="repeat_delivery", request=None, responses={202: DeliverySerializer})
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Send a message again with the same id, whatever its state."""
        deliveries = Delivery.objects.select_related("webhook__project")
        delivery = get_object_or_404(deliveries, webhook__project=self.project, pk=pk)
        actions.send_again(delivery=delivery, by=self.user, now=timezone.now())
        tasks.deliver.delay_on_commit()
        delivery.refresh_from_db()
        return Response(_delivery_json(delivery), status=202)
