"""Images by SHA-256: list the missing ones, upload one."""

import re
from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from studies.importing.pictures import LARGEST_FILE
from studies.permissions import Verb
from workspace.actions.uploaded_images import UploadRefused, missing_images, upload_image
from workspace.api.framework.endpoints import ProjectEndpoint, verbs_by_method
from workspace.api.framework.files import refuse_too_large
from workspace.api.framework.problems import Problem, Refused
from workspace.api.serializers import MissingSerializer, UploadedSerializer

MOST_ASKED = 10_000
_SHA256 = re.compile(r"[0-9a-f]{64}")


class AskedForSerializer(serializers.Serializer[Any]):
    sha256 = serializers.ListField(
        child=serializers.RegexField(
            r"^[0-9a-f]{64}\Z", error_messages={"invalid": "This is not a SHA-256 in hexadecimal digits."}
        ),
        max_length=MOST_ASKED,
    )


class Missing(ProjectEndpoint):
    about = "Instances"
    verbs = verbs_by_method(POST=Verb.IMPORT)

    @extend_schema(operation_id="missing_images", request=AskedForSerializer, responses={200: MissingSerializer})
    def post(self, request: Request, project: str) -> Response:
        """Return which of these images the project lacks."""
        missing = missing_images(self.project, self.read(AskedForSerializer)["sha256"])
        return Response(MissingSerializer({"missing": missing}).data)


class OneImage(ProjectEndpoint):
    about = "Instances"
    verbs = verbs_by_method(PUT=Verb.IMPORT)

    @extend_schema(
        operation_id="upload_image",
        parameters=[OpenApiParameter("sha256", {"type": "string", "pattern": "^[0-9a-f]{64}$"}, "path")],
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses={
            200: OpenApiResponse(UploadedSerializer, description="The project had it already."),
            201: UploadedSerializer,
        },
    )
    def put(self, request: Request, project: str, sha256: str) -> Response:
        """Upload the bytes of an image. They must match its SHA-256 and be a readable image."""
        if not _SHA256.fullmatch(sha256):
            raise Refused(Problem("not-found", 404, "An image is named by its SHA-256, 64 digits of 0-9 and a-f."))
        refuse_too_large(request._request, LARGEST_FILE)
        data = request._request.read()
        try:
            image, is_new = upload_image(
                project=self.project, sha256=sha256, data=data, uploader=self.user, now=timezone.now()
            )
        except UploadRefused as error:
            raise Refused(Problem("image-refused", 422, str(error))) from error
        return Response(UploadedSerializer(image).data, status=201 if is_new else 200)
