"""Model runs: request, follow, cancel. A worker with models computes them in the background."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from predictions.actions.runs import cancel_run, request_offered_run, resume_run
from predictions.models import Run
from predictions.tasks import send_to_worker
from studies.actions.lookup import find_study_of
from studies.permissions import Verb
from workspace.api.framework.endpoints import ProjectEndpoint, verbs_by_method
from workspace.api.framework.idempotency import idempotent
from workspace.api.framework.pagination import PageQuery, page_serializer, paginate
from workspace.api.serializers import Plain


class RunSerializer(Plain):
    id = serializers.IntegerField()
    model = serializers.CharField(source="spec")
    study = serializers.CharField(source="study.slug", default=None, allow_null=True)
    kind = serializers.CharField(
        allow_blank=True, help_text="Question kind of a run about all instances; empty for a run about a study."
    )
    variant = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(choices=Run.State.choices)
    error = serializers.CharField(allow_blank=True)
    total = serializers.IntegerField(help_text="Questions to be scored; 0 until a worker has loaded the model.")
    stored = serializers.IntegerField()
    wrong = serializers.IntegerField(help_text="Questions that could not be scored.")
    already_there = serializers.IntegerField(help_text="Questions that already had a score.")
    left_out = serializers.IntegerField(help_text="Questions that models cannot answer.")
    unreachable_since = serializers.DateTimeField(
        allow_null=True,
        help_text="When its images became unreachable; null while they can be reached. The run waits and retries.",
    )
    unreachable = serializers.CharField(allow_blank=True, help_text="Why its images cannot be reached.")
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class RunWantedSerializer(serializers.Serializer[Any]):
    """Name either a study or a question kind."""

    model = serializers.CharField(help_text="A model that the site offers, such as `open_clip:ViT-B-32/openai`.")
    study = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="Score the questions of this study."
    )
    kind = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="Score the default questions of this kind about all instances.",
    )
    variant = serializers.CharField(required=False, default="", allow_blank=True)


class Runs(ProjectEndpoint):
    about = "Predictions"
    verbs = verbs_by_method(GET=Verb.VIEW, POST=Verb.PREDICT)

    @extend_schema(operation_id="list_runs", parameters=[PageQuery], responses=page_serializer(RunSerializer))
    def get(self, request: Request, project: str) -> Response:
        """List the model runs, newest first."""
        runs = Run.objects.filter(project=self.project).select_related("study")
        return paginate(request, runs, lambda rows: RunSerializer(rows, many=True).data, newest_first=True)

    @extend_schema(operation_id="ask_model", request=RunWantedSerializer, responses={202: RunSerializer})
    @idempotent
    def post(self, request: Request, project: str) -> Response:
        """Start a model run in the background. Follow it at the `Location` of the response."""
        told = self.read(RunWantedSerializer)
        run = request_offered_run(
            project=self.project,
            spec=told["model"],
            study=find_study_of(self.project, told["study"]) if told["study"] else None,
            kind=told["kind"],
            variant=told["variant"],
            by=self.user,
            now=timezone.now(),
        )
        send_to_worker(run)
        address = reverse("api_run", args=[self.project.slug, run.pk], request=request)
        return Response(RunSerializer(run).data, status=202, headers={"Location": address})


class _RunEndpoint(ProjectEndpoint):
    about = "Predictions"

    def one(self, pk: int) -> Run:
        """Return the run of the project with this id. Raises Http404."""
        return get_object_or_404(Run.objects.filter(project=self.project).select_related("study", "project"), pk=pk)


class OneRun(_RunEndpoint):
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="read_run", responses=RunSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        """Return the progress of a model run."""
        return Response(RunSerializer(self.one(pk)).data)


class CancelRun(_RunEndpoint):
    verbs = verbs_by_method(POST=Verb.PREDICT)
    parser_classes = ()

    @extend_schema(operation_id="cancel_run", request=None, responses=RunSerializer)
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Cancel a model run; scores computed so far are kept."""
        cancel_run(run=self.one(pk), by=self.user, now=timezone.now())
        return Response(RunSerializer(self.one(pk)).data)


class ResumeRun(_RunEndpoint):
    verbs = verbs_by_method(POST=Verb.PREDICT)
    parser_classes = ()

    @extend_schema(operation_id="resume_run", request=None, responses=RunSerializer)
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Resume a run that has ended, for the questions without a score."""
        run = self.one(pk)
        resume_run(run=run, by=self.user, now=timezone.now())
        send_to_worker(run)
        return Response(RunSerializer(self.one(pk)).data)
