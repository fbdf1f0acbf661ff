"""Exports and releases: request, follow, download. They contain no Prolific ids."""

from collections.abc import Iterable
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from background.tasks import send
from results.actions.exports import cancel_export, download_name, job_of, request_export
from results.actions.releases import RELEASE_FORMATS, other_dataset_studies, prepare_release
from results.exporting import FORMATS
from results.exporting.dataset_card import About
from results.models import Export, Release
from results.queries.exports.available_exports import OfferedExport, offered_exports
from studies.permissions import Verb
from workspace.api.framework.endpoints import ProjectEndpoint, StudyEndpoint, verbs_by_method
from workspace.api.framework.files import send_file
from workspace.api.framework.idempotency import idempotent
from workspace.api.framework.pagination import PageQuery, page_serializer, paginate
from workspace.api.framework.problems import Problem, Refused
from workspace.api.serializers import ExportSerializer, ReleaseSerializer


def _with_relations(exports: QuerySet[Export]) -> QuerySet[Export]:
    return exports.select_related("study__project", "project", "requested_by", "release", "job")


def _export_json(request: Request, offered: OfferedExport) -> dict[str, Any]:
    export, job = offered.export, offered.export.job
    address = reverse("api_export_file", args=[export.project.slug, export.pk], request=request)
    state = _state(offered)
    return {
        "id": export.pk,
        "study": export.study.slug,
        "release": export.release.name if export.release else None,
        "format": export.format,
        "state": state,
        "rows_done": job.done if job and export.is_unmade else export.rows_done,
        "rows_total": job.total if job and export.is_unmade else export.rows_total,
        "error": export.error,
        "requested_at": export.requested_at,
        "finished_at": export.finished_at,
        "file_url": address if state == "ready" else None,
    }


def _state(offered: OfferedExport) -> str:
    export = offered.export
    if offered.since.withdrawn_at is not None:
        return "withdrawn"
    if export.is_ready:
        return "ready"
    if not export.is_unmade:
        return "failed"
    return "running" if export.job and export.job.started_at else "waiting"


def _exports_json(request: Request, exports: Iterable[Export]) -> Any:
    return ExportSerializer([_export_json(request, each) for each in offered_exports(exports)], many=True).data


class ExportWantedSerializer(serializers.Serializer[Any]):
    format = serializers.ChoiceField(choices=list(FORMATS))


class Exports(StudyEndpoint):
    about = "Exports and releases"
    verbs = verbs_by_method(GET=Verb.VIEW, POST=Verb.EXPORT)

    @extend_schema(operation_id="list_exports", parameters=[PageQuery], responses=page_serializer(ExportSerializer))
    def get(self, request: Request, project: str, study: str) -> Response:
        """List the exports of a study, newest first."""
        exports = _with_relations(Export.objects.filter(study=self.study))
        return paginate(request, exports, lambda rows: _exports_json(request, rows), newest_first=True)

    @extend_schema(operation_id="request_export", request=ExportWantedSerializer, responses={202: ExportSerializer})
    @idempotent
    def post(self, request: Request, project: str, study: str) -> Response:
        """Start an export in the background. Follow it at the `Location` of the response.

        409 for a format that can hold none of the accepted items, such as `harness` without pairs.
        """
        format = self.read(ExportWantedSerializer)["format"]
        export = request_export(study=self.study, format=format, by=self.user, now=timezone.now())
        send(job_of(export=export))
        return _accepted_response(request, export)


def _accepted_response(request: Request, export: Export) -> Response:
    address = reverse("api_export", args=[export.project.slug, export.pk], request=request)
    (told,) = _exports_json(request, [export])
    return Response(told, status=202, headers={"Location": address})


class _ExportEndpoint(ProjectEndpoint):
    about = "Exports and releases"

    def one(self, pk: int) -> OfferedExport:
        """Return the export of the project with this id. Raises Http404."""
        return offered_exports(
            [get_object_or_404(_with_relations(Export.objects.filter(project=self.project)), pk=pk)]
        )[0]


class OneExport(_ExportEndpoint):
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="read_export", responses=ExportSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        """Return the progress of an export, and the URL of its file once it is ready."""
        return Response(ExportSerializer(_export_json(request, self.one(pk))).data)


class Cancel(_ExportEndpoint):
    verbs = verbs_by_method(POST=Verb.EXPORT)
    parser_classes = ()

    @extend_schema(operation_id="cancel_export", request=None, responses=ExportSerializer)
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Cancel an export that is not ready yet."""
        cancel_export(export=self.one(pk).export, by=self.user, now=timezone.now())
        return Response(ExportSerializer(_export_json(request, self.one(pk))).data)


RANGE = OpenApiParameter("Range", str, OpenApiParameter.HEADER, description="One range, such as `bytes=1000-`.")


class ExportFile(_ExportEndpoint):
    verbs = verbs_by_method(GET=Verb.EXPORT)

    @extend_schema(
        operation_id="fetch_export",
        parameters=[RANGE],
        responses={
            (200, "application/octet-stream"): OpenApiTypes.BINARY,
            (206, "application/octet-stream"): OpenApiTypes.BINARY,
            304: OpenApiResponse(description="The file still has the ETag that was sent."),
            410: OpenApiResponse(description="Somebody whose answers it contains has withdrawn."),
            416: OpenApiResponse(description="The file has no such range."),
        },
    )
    def get(self, request: Request, project: str, pk: int) -> HttpResponseBase:
        """Download the file of an export, or a range of it to resume a download."""
        offered = self.one(pk)
        export = offered.export
        if offered.since.withdrawn_at is not None:
            reason = "Somebody whose answers it holds has withdrawn since, so it is no longer available."
            raise Refused(Problem("no-longer-given-out", 410, reason))
        if not export.is_ready or not default_storage.exists(export.file):
            raise Refused(
                Problem("not-found", 404, "There is no file: the export is not ready, has failed, or was deleted.")
            )
        return send_file(
            request._request,
            default_storage.open(export.file),
            size=default_storage.size(export.file),
            name=download_name(export),
            etag=f'"export-{export.pk}"',
        )


class ReleaseWantedSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="Such as v1.")
    format = serializers.ChoiceField(choices=list(RELEASE_FORMATS))
    description = serializers.CharField(required=False, default="", allow_blank=True)
    licence = serializers.CharField(required=False, default="", allow_blank=True)
    citation = serializers.CharField(required=False, default="", allow_blank=True)
    dataset = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Whether it contains the whole dataset of the project, of which the study is a part.",
    )


class Releases(StudyEndpoint):
    about = "Exports and releases"
    verbs = verbs_by_method(GET=Verb.VIEW, POST=Verb.RELEASE)

    @extend_schema(operation_id="list_releases", parameters=[PageQuery], responses=page_serializer(ReleaseSerializer))
    def get(self, request: Request, project: str, study: str) -> Response:
        """List the releases that contain a study's accepted items, newest first, with their exports."""
        of_study = Q(study=self.study) | Q(beside=self.study)
        releases = Release.objects.filter(of_study).distinct().select_related("study").prefetch_related("beside")
        return paginate(request, releases, lambda rows: self._serialize(request, rows), newest_first=True)

    def _serialize(self, request: Request, releases: list[Release]) -> Any:
        written = _with_relations(Export.objects.filter(release__in=[each.pk for each in releases]).order_by("pk"))
        by_release: dict[int, list[dict[str, Any]]] = {each.pk: [] for each in releases}
        for offered in offered_exports(written):
            by_release[offered.export.release_id or 0].append(_export_json(request, offered))
        names = ReleaseSerializer().fields.keys() - {"study", "studies", "exports"}
        told = [
            {name: getattr(each, name) for name in names}
            | {"study": each.study.slug, "studies": [one.slug for one in each.studies()]}
            | {"exports": by_release[each.pk]}
            for each in releases
        ]
        return ReleaseSerializer(told, many=True).data

    @extend_schema(operation_id="make_release", request=ReleaseWantedSerializer, responses={202: ExportSerializer})
    @idempotent
    def post(self, request: Request, project: str, study: str) -> Response:
        """Freeze a release, or export an existing one again. The response is the export.

        409, without a release, for a format that can hold none of the accepted items, such as `harness` without pairs.
        """
        told, now = self.read(ReleaseWantedSerializer), timezone.now()
        format, whole = told.pop("format"), told.pop("dataset")
        about = About(release=told.pop("name"), **told)
        beside = other_dataset_studies(self.study) if whole else None
        with transaction.atomic():
            release, _ = prepare_release(study=self.study, beside=beside, about=about, by=self.user, now=now)
            export = request_export(study=self.study, format=format, by=self.user, now=now, release=release)
        send(job_of(export=export))
        return _accepted_response(request, export)
