"""Background imports: upload files in pieces, start an import of them, follow, cancel and repeat it."""

import json
from itertools import islice
from typing import Any
from uuid import UUID

from django.core.files.storage import default_storage
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from background.models import JobState
from background.tasks import send
from studies.actions.imports.import_jobs import (
    CANCELLED,
    CHANGE_CANCELLED,
    cancel_import,
    request_again,
    request_import,
    request_mapping_change,
)
from studies.actions.imports.uploads import (
    IMAGES,
    LARGEST_PIECE,
    PARTS,
    begin_upload,
    folder_of,
    receive,
    received_bytes,
    rows_of,
)
from studies.importing import IMPORTERS
from studies.importing.captions import CAPTION_RULES
from studies.models import Import, Upload
from studies.permissions import Verb
from workspace.api.framework.endpoints import ProjectEndpoint, verbs_by_method
from workspace.api.framework.files import refuse_too_large
from workspace.api.framework.idempotency import idempotent
from workspace.api.framework.pagination import PageQuery, page_response, page_serializer, paginate, read_page_request
from workspace.api.framework.problems import Problem, Refused
from workspace.api.serializers import ImportSerializer, PieceSerializer, RowProblemSerializer, UploadSerializer

NO_ROWS = "Send the file with the rows first, as one of the part `rows`."


def _upload_json(upload: Upload) -> Any:
    return UploadSerializer({"id": upload.pk} | {part: received_bytes(upload, part) for part in PARTS}).data


class _UploadEndpoint(ProjectEndpoint):
    about = "Instances"

    def own(self, pk: UUID) -> Upload:
        """Return the user's own upload into the project. Raises Http404."""
        return get_object_or_404(
            Upload.objects.select_related("project"), project=self.project, made_by=self.user, pk=pk
        )


class Uploads(_UploadEndpoint):
    verbs = verbs_by_method(POST=Verb.IMPORT)
    parser_classes = ()

    @extend_schema(operation_id="begin_upload", request=None, responses={201: UploadSerializer})
    @idempotent
    def post(self, request: Request, project: str) -> Response:
        """Begin an upload of files for an import. It is kept for a week."""
        made = begin_upload(self.project, self.user, timezone.now())
        address = reverse("api_upload", args=[self.project.slug, made.pk], request=request)
        return Response(_upload_json(made), status=201, headers={"Location": address})


class OneUpload(_UploadEndpoint):
    verbs = verbs_by_method(GET=Verb.IMPORT)

    @extend_schema(operation_id="read_upload", responses=UploadSerializer)
    def get(self, request: Request, project: str, pk: UUID) -> Response:
        """Return the bytes received of each file, to resume after a lost connection."""
        return Response(_upload_json(self.own(pk)))


class PieceQuery(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="Name of the file with its folders, as in the rows.", trim_whitespace=False)
    offset = serializers.IntegerField(
        min_value=0, max_value=10**15, help_text="Position in the file where the piece begins, in bytes."
    )


class Piece(_UploadEndpoint):
    verbs = verbs_by_method(PUT=Verb.IMPORT)

    @extend_schema(
        operation_id="send_piece",
        parameters=[PieceQuery, OpenApiParameter("part", str, "path", enum=PARTS)],
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses=PieceSerializer,
    )
    def put(self, request: Request, project: str, pk: UUID, part: str) -> Response:
        """Add a piece to a file: rows, or an image or zip of images. It must begin where the file ends."""
        query = self.read(PieceQuery, request.query_params)
        refuse_too_large(request._request, LARGEST_PIECE)
        name, offset = query["name"], query["offset"]
        return Response(
            PieceSerializer({"have": receive(self.own(pk), part, name, request._request, offset=offset)}).data
        )


class ImportWantedSerializer(serializers.Serializer[Any]):
    """The upload to import, and how to read it."""

    upload = serializers.UUIDField()
    format = serializers.ChoiceField(choices=list(IMPORTERS))
    mapping = serializers.DictField(
        child=serializers.CharField(),
        default=dict,
        help_text='Column -> what it becomes, for the format `table`: {"id": "key", "text": "caption:caption"}.',
    )
    caption_rule = serializers.ChoiceField(choices=list(CAPTION_RULES), default="as-is-v1")
    images_later = serializers.BooleanField(
        default=False, help_text="Accept rows whose images are missing; they wait for them."
    )
    dry_run = serializers.BooleanField(default=False, help_text="Check everything, but change nothing.")


def _state(one: Import) -> str:
    if one.is_unfinished:
        return "waiting" if one.job is None or one.job.state == JobState.WAITING else "running"
    if not one.error:
        return "done"
    return "cancelled" if one.error in {CANCELLED, CHANGE_CANCELLED} else "failed"


def _import_json(request: Request, one: Import) -> dict[str, Any]:
    address = reverse("api_import_problems", args=[one.project.slug, one.pk], request=request)
    return {
        "id": one.pk,
        "files": one.names,
        "format": one.format,
        "mapping": one.mapping,
        "changes": one.changes_id,
        "state": _state(one),
        "stage": one.stage,
        "done": one.job.done if one.job else 0,
        "total": one.job.total if one.job else 0,
        "dry_run": one.dry_run,
        "results": one.summaries,
        "problems": one.problem_count,
        "problems_url": address if one.problems_file else None,
        "error": one.error,
        "requested_by": one.by_name,
        "requested_at": one.requested_at,
        "finished_at": one.finished_at,
    }


def _accepted_response(request: Request, one: Import) -> Response:
    if one.job is not None:
        send(one.job)
    address = reverse("api_import", args=[one.project.slug, one.pk], request=request)
    return Response(ImportSerializer(_import_json(request, one)).data, status=202, headers={"Location": address})


class Imports(_UploadEndpoint):
    verbs = verbs_by_method(GET=Verb.VIEW, POST=Verb.IMPORT)

    @extend_schema(operation_id="list_imports", parameters=[PageQuery], responses=page_serializer(ImportSerializer))
    def get(self, request: Request, project: str) -> Response:
        """List the background imports, newest first."""
        found = Import.objects.filter(project=self.project).select_related("job", "project")
        return paginate(request, found, lambda rows: self._all(request, rows), newest_first=True)

    def _all(self, request: Request, rows: list[Import]) -> Any:
        return ImportSerializer([_import_json(request, one) for one in rows], many=True).data

    @extend_schema(operation_id="request_import", request=ImportWantedSerializer, responses={202: ImportSerializer})
    @idempotent
    def post(self, request: Request, project: str) -> Response:
        """Import the files of an upload in the background. Follow it at the `Location` of the response."""
        told = self.read(ImportWantedSerializer)
        upload = self.own(told.pop("upload"))
        rows, images = rows_of(upload), folder_of(upload, IMAGES)
        if not rows:
            raise Refused(Problem("not-now", 409, NO_ROWS))
        asked_for = request_import(
            project=self.project,
            files=rows,
            images_dir=images if images.is_dir() else None,
            upload=upload,
            by=self.user,
            now=timezone.now(),
            **told,
        )
        return _accepted_response(request, asked_for)


class _ImportEndpoint(ProjectEndpoint):
    about = "Instances"

    def one(self, pk: int) -> Import:
        """Return the import into the project with this id. Raises Http404."""
        return get_object_or_404(Import.objects.select_related("job", "project", "upload"), project=self.project, pk=pk)


class OneImport(_ImportEndpoint):
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="read_import", responses=ImportSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        """Return the progress and the results of an import."""
        return Response(ImportSerializer(_import_json(request, self.one(pk))).data)


class CancelImport(_ImportEndpoint):
    verbs = verbs_by_method(POST=Verb.IMPORT)
    parser_classes = ()

    @extend_schema(operation_id="cancel_import", request=None, responses=ImportSerializer)
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Cancel an unfinished import; nothing of it is kept."""
        cancel_import(wanted=self.one(pk), by=self.user, now=timezone.now())
        return Response(ImportSerializer(_import_json(request, self.one(pk))).data)


class ImportAgain(_ImportEndpoint):
    verbs = verbs_by_method(POST=Verb.IMPORT)
    parser_classes = ()

    @extend_schema(operation_id="import_again", request=None, responses={202: ImportSerializer})
    @idempotent
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Retry an import that failed or was cancelled, or import after a dry run."""
        return _accepted_response(request, request_again(wanted=self.one(pk), by=self.user, now=timezone.now()))


class MappingSerializer(serializers.Serializer[Any]):
    mapping = serializers.DictField(
        child=serializers.CharField(), help_text="Column -> what it becomes, for every column of the table."
    )


class ImportMapping(_ImportEndpoint):
    verbs = verbs_by_method(POST=Verb.IMPORT)

    @extend_schema(operation_id="change_mapping", request=MappingSerializer, responses={202: ImportSerializer})
    @idempotent
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Change what the columns of an imported table are, until a study asks about its instances.

        Captions, types, splits and notes can change into each other, and images change their roles. The change is a
        job: follow it at the `Location` of the response.
        """
        wanted = self.read(MappingSerializer)["mapping"]
        change = request_mapping_change(wanted=self.one(pk), mapping=wanted, by=self.user, now=timezone.now())
        return _accepted_response(request, change)


class ImportProblems(_ImportEndpoint):
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(
        operation_id="list_import_problems", parameters=[PageQuery], responses=page_serializer(RowProblemSerializer)
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        """List the bad rows of an import, in the order found."""
        one, wanted = self.one(pk), read_page_request(request)
        found: list[tuple[int, Any]] = []
        if one.problems_file and default_storage.exists(one.problems_file):
            first = wanted.after or 0
            with default_storage.open(one.problems_file) as lines:
                numbered = enumerate(lines, start=1)
                found = [
                    (number, json.loads(line)) for number, line in islice(numbered, first, first + wanted.limit + 1)
                ]
        return page_response(request, found, wanted, lambda rows: RowProblemSerializer(rows, many=True).data)
