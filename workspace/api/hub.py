"""Pushes of releases and trained models to the Hugging Face Hub. No response contains the token."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from background.tasks import send
from results.models import Release
from studies.permissions import Verb
from training.models import TrainingRun
from workspace.actions.hub import LONGEST_TOKEN, cancel_push, request_push
from workspace.actions.model_push import LONGEST_LICENCE, cancel_model_push, request_model_push
from workspace.api.framework.endpoints import ProjectEndpoint, verbs_by_method
from workspace.api.framework.idempotency import idempotent
from workspace.api.framework.pagination import PageQuery, page_serializer, paginate
from workspace.api.framework.problems import Problem, Refused
from workspace.api.serializers import HubPushSerializer, ModelPushSerializer
from workspace.models import HubPush, ModelPush

ABOUT, ABOUT_MODELS = "Exports and releases", "Training"


def _push_json(push: HubPush) -> Any:
    job = push.job
    sizes = {"bytes_done": job.done if job else 0, "bytes_total": job.total if job else 0}
    return HubPushSerializer({"release": push.release.name, **sizes, **_told(push)}).data


def _model_push_json(push: ModelPush) -> Any:
    asked = {"training": push.run_id, "licence": push.licence, "with_weights": push.with_weights}
    return ModelPushSerializer({**asked, **_told(push), "card_url": push.card_url or None}).data


def _told(push: HubPush | ModelPush) -> dict[str, Any]:
    """Return what is told of every push."""
    return {
        "id": push.pk,
        "repository": push.repository,
        "state": _state(push),
        "error": push.error,
        "requested_at": push.requested_at,
        "finished_at": push.finished_at,
        "url": push.url or None,
    }


def _state(push: HubPush | ModelPush) -> str:
    if push.finished_at is not None:
        return "failed" if push.error else "pushed"
    return "running" if push.job and push.job.started_at else "waiting"


class PushWantedSerializer(serializers.Serializer[Any]):
    """What every push needs."""

    private = serializers.BooleanField(default=True, help_text="Whether a new repository is private.")
    token = serializers.CharField(
        max_length=LONGEST_TOKEN, write_only=True, help_text="Token of the Hub; stored encrypted until the push ends."
    )


class HubPushWantedSerializer(PushWantedSerializer):
    release = serializers.CharField(max_length=40)
    repository = serializers.CharField(max_length=200, help_text="The dataset repository, OWNER/NAME.")


class ModelPushWantedSerializer(PushWantedSerializer):
    repository = serializers.CharField(max_length=200, help_text="The model repository, OWNER/NAME.")
    licence = serializers.CharField(
        max_length=LONGEST_LICENCE, required=False, default="", allow_blank=True, help_text="Of the model, such as MIT."
    )
    with_weights = serializers.BooleanField(default=True, help_text="False: the model card alone.")


class HubPushes(ProjectEndpoint):
    about = ABOUT
    verbs = verbs_by_method(GET=Verb.EXPORT, POST=Verb.PUBLISH)

    @extend_schema(operation_id="list_hub_pushes", parameters=[PageQuery], responses=page_serializer(HubPushSerializer))
    def get(self, request: Request, project: str) -> Response:
        """List the pushes to the Hugging Face Hub, newest first."""
        pushes = HubPush.objects.filter(project=self.project).select_related("release", "job")
        return paginate(request, pushes, lambda rows: [_push_json(each) for each in rows], newest_first=True)

    @extend_schema(operation_id="push_to_hub", request=HubPushWantedSerializer, responses={202: HubPushSerializer})
    @idempotent
    def post(self, request: Request, project: str) -> Response:
        """Push a frozen release to a dataset repository in the background. Follow it at the `Location`."""
        wanted = self.read(HubPushWantedSerializer)
        name = wanted.pop("release")
        release = Release.objects.select_related("project", "study").filter(project=self.project, name=name).first()
        if release is None:
            raise Refused(Problem("not-now", 409, f"{self.project.name} has no release called {name}."))
        push = request_push(release=release, **wanted, by=self.user, now=timezone.now())
        if push.job:
            send(push.job)
        address = reverse("api_hub_push", args=[self.project.slug, push.pk], request=request)
        return Response(_push_json(push), status=202, headers={"Location": address})


class _PushEndpoint(ProjectEndpoint):
    about = ABOUT

    def one(self, pk: int) -> HubPush:
        """Return the push of the project with this id. Raises Http404."""
        pushes = HubPush.objects.select_related("project", "release", "job")
        return get_object_or_404(pushes, project=self.project, pk=pk)


class OneHubPush(_PushEndpoint):
    verbs = verbs_by_method(GET=Verb.EXPORT)

    @extend_schema(operation_id="read_hub_push", responses=HubPushSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        """Return the progress of a push, and the URL of its commit once it is done."""
        return Response(_push_json(self.one(pk)))


class CancelHubPush(_PushEndpoint):
    verbs = verbs_by_method(POST=Verb.EXPORT)
    parser_classes = ()

    @extend_schema(operation_id="cancel_hub_push", request=None, responses=HubPushSerializer)
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Cancel a push: at once if it is waiting, before its next file if it is running."""
        cancel_push(push=self.one(pk), by=self.user, now=timezone.now())
        return Response(_push_json(self.one(pk)))


class ModelPushes(ProjectEndpoint):
    about = ABOUT_MODELS
    verbs = verbs_by_method(GET=Verb.EXPORT, POST=Verb.PUBLISH)

    @extend_schema(
        operation_id="list_model_pushes", parameters=[PageQuery], responses=page_serializer(ModelPushSerializer)
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        """List the pushes of a trained model to the Hugging Face Hub, newest first."""
        pushes = ModelPush.objects.filter(run=self._run(pk)).select_related("job")
        return paginate(request, pushes, lambda rows: [_model_push_json(each) for each in rows], newest_first=True)

    @extend_schema(operation_id="push_model", request=ModelPushWantedSerializer, responses={202: ModelPushSerializer})
    @idempotent
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Push a trained model to a model repository in the background. Follow it at the `Location`."""
        wanted = self.read(ModelPushWantedSerializer)
        push = request_model_push(run=self._run(pk), **wanted, by=self.user, now=timezone.now())
        if push.job:
            send(push.job)
        address = reverse("api_model_push", args=[self.project.slug, push.pk], request=request)
        return Response(_model_push_json(push), status=202, headers={"Location": address})

    def _run(self, pk: int) -> TrainingRun:
        return get_object_or_404(TrainingRun.objects.select_related("project"), project=self.project, pk=pk)


class _ModelPushEndpoint(ProjectEndpoint):
    about = ABOUT_MODELS

    def one(self, pk: int) -> ModelPush:
        """Return the push of the project with this id. Raises Http404."""
        return get_object_or_404(ModelPush.objects.select_related("project", "run", "job"), project=self.project, pk=pk)


class OneModelPush(_ModelPushEndpoint):
    verbs = verbs_by_method(GET=Verb.EXPORT)

    @extend_schema(operation_id="read_model_push", responses=ModelPushSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        """Return the progress of a push, and the URLs of its commits."""
        return Response(_model_push_json(self.one(pk)))


class CancelModelPush(_ModelPushEndpoint):
    verbs = verbs_by_method(POST=Verb.EXPORT)
    parser_classes = ()

    @extend_schema(operation_id="cancel_model_push", request=None, responses=ModelPushSerializer)
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Cancel a push: at once if it is waiting, before its next file if it is running."""
        cancel_model_push(push=self.one(pk), by=self.user, now=timezone.now())
        return Response(_model_push_json(self.one(pk)))
