"""Instances of a project: list, tag, and import with the importers of the command."""

import json
import re
from dataclasses import asdict
from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from results.actions.cached_statistics import CachedStatistics
from results.queries.instances.explorer import list_instances
from results.queries.studies.overview import with_answers_sent
from results.queries.studies.pipeline import studies_in_order
from results.views.cached_statistics import figures_for
from studies.actions.imports.importer import import_files
from studies.actions.projects.tags import tag_instances, untag_instances
from studies.importing import IMPORTERS
from studies.importing.captions import CAPTION_RULES
from studies.models import Instance, Project
from studies.permissions import Verb
from workspace.actions.uploaded_images import UploadedImages
from workspace.api.explorer import InstanceQuery, read_instance_filters
from workspace.api.framework.endpoints import ProjectEndpoint, verbs_by_method
from workspace.api.framework.files import on_disk, refuse_too_large
from workspace.api.framework.idempotency import KEY, idempotent, idempotent_by_content
from workspace.api.framework.pagination import page_serializer, paginate
from workspace.api.framework.problems import Problem, Refused
from workspace.api.serializers import ImportedSerializer, InstanceSerializer, TaggedSerializer

_SHA256 = re.compile(r"[0-9a-f]{64}")


NOT_COUNTED = "These filters need statistics that are still being computed. Try again in a minute."
# Instances per request.
MOST_TAGGED = 10_000
TAGGING = {"tag": tag_instances, "untag": untag_instances}


class InstancePageSerializer(page_serializer(InstanceSerializer)):  # type: ignore[misc]
    as_of = serializers.DateTimeField(
        allow_null=True, help_text="When the statistics used by the filters were computed; null: now, or none are used."
    )


class ManifestSerializer(serializers.Serializer[Any]):
    """A file of rows, as the command `import_instances` takes it."""

    manifest = serializers.FileField(help_text="The file with the rows.")
    format = serializers.ChoiceField(choices=list(IMPORTERS))
    images = serializers.FileField(
        required=False,
        allow_empty_file=True,
        help_text="JSON object: name of an image in the rows -> SHA-256 under which it was uploaded.",
    )
    caption_rule = serializers.ChoiceField(choices=list(CAPTION_RULES), default="as-is-v1")
    images_later = serializers.BooleanField(
        default=False, help_text="Accept rows whose images are missing; they wait for them."
    )
    dry_run = serializers.BooleanField(default=False, help_text="Check everything, but change nothing.")


class Instances(ProjectEndpoint):
    about = "Instances"
    verbs = verbs_by_method(GET=Verb.VIEW, POST=Verb.IMPORT)
    parser_classes = (MultiPartParser,)
    # Filters may need statistics that are not computed yet.
    when_reading = ("409",)

    @extend_schema(operation_id="list_instances", parameters=[InstanceQuery], responses=InstancePageSerializer)
    def get(self, request: Request, project: str) -> Response:
        """List the instances of a project in order of import, filtered as on the page of instances.

        In a large project, filters about answers use statistics computed beforehand, at the time `as_of`.
        """
        given = self.read(InstanceQuery, request.query_params)
        wanted = read_instance_filters(self.project, given)
        kept = self._figures() if wanted.needs_figures else None
        found = list_instances(self.project, studies_in_order(self.project), wanted).instances
        if "key" in given:
            found = found.filter(key=given["key"])
        rows = found.prefetch_related("images", "tags")
        page = paginate(request, rows, lambda rows: InstanceSerializer(rows, many=True).data)
        page.data["as_of"] = kept and kept.as_of
        return page

    def _figures(self) -> CachedStatistics | None:
        """Compute the statistics that filters use. Raises Refused if they are not ready, or failed."""
        project = with_answers_sent(Project.objects.filter(pk=self.project.pk), study="study__project").get()
        kept = figures_for(project)
        if kept.as_of is None:
            raise Refused(Problem("not-now", 409, kept.error or NOT_COUNTED))
        return kept if kept.in_background else None

    @extend_schema(
        operation_id="import_instances",
        parameters=[KEY],
        request={"multipart/form-data": ManifestSerializer},
        responses={200: ImportedSerializer},
    )
    def post(self, request: Request, project: str) -> Response:
        """Import all rows of a file, or none with a list of problems. Existing rows do not change."""
        refuse_too_large(request._request)
        return self._import(request)

    @idempotent_by_content
    def _import(self, request: Request) -> Response:
        told = self.read(ManifestSerializer)
        with on_disk(told["manifest"]) as path:
            (summary,) = import_files(
                project=self.project,
                files=[path],
                format=told["format"],
                image_source=UploadedImages(self.project, _names(told.get("images"))),
                caption_rule=told["caption_rule"],
                images_later=told["images_later"],
                dry_run=told["dry_run"],
                by=self.user,
                now=timezone.now(),
            )
        return Response(ImportedSerializer(asdict(summary) | {"sentence": str(summary)}).data)


def _names(file: Any) -> dict[str, str]:
    """Return the value of the form field `images`. Raises Refused."""
    if file is None:
        return {}
    try:
        names = json.load(file)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, dict) or not all(
        isinstance(sha256, str) and _SHA256.fullmatch(sha256) for sha256 in names.values()
    ):
        reason = "`images` must be a JSON object: name of each image -> its SHA-256 in hexadecimal digits."
        raise Refused(Problem("not-understood", 400, reason, [{"field": "images", "reason": reason}]))
    return names


class OneInstance(ProjectEndpoint):
    about = "Instances"
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="read_instance", responses=InstanceSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        """Return one instance."""
        instances = Instance.objects.filter(project=self.project).prefetch_related("images", "tags")
        found = get_object_or_404(instances, pk=pk)
        return Response(InstanceSerializer(found).data)


class TagSerializer(serializers.Serializer[Any]):
    tag = serializers.CharField(help_text="The tag.")
    instances = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1),
        min_length=1,
        max_length=MOST_TAGGED,
        help_text="Ids of the instances.",
    )


class TagInstances(ProjectEndpoint):
    about = "Instances"
    verbs = verbs_by_method(POST=Verb.TAG)

    @extend_schema(request=TagSerializer, responses={200: TaggedSerializer})
    @idempotent
    def post(self, request: Request, project: str, change: str) -> Response:
        """Add a tag to instances, or remove it. Ids of other projects are ignored."""
        told = self.read(TagSerializer)
        changed = TAGGING[change](
            project=self.project, instances=told["instances"], name=told["tag"], by=self.user, now=timezone.now()
        )
        return Response(TaggedSerializer({"changed": changed}).data)
