"""Predictions for a project's instances: list, and import with the readers of the command."""

from dataclasses import asdict
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from predictions.actions.import_predictions import ModelName, import_predictions
from predictions.importing import FORMATS
from predictions.models import Prediction
from results.exporting.rows import prediction_record
from results.queries.exports.export_rows import predictions_after
from studies.permissions import Verb
from workspace.api.framework.endpoints import ProjectEndpoint, verbs_by_method
from workspace.api.framework.files import on_disk, refuse_too_large
from workspace.api.framework.idempotency import KEY, idempotent_by_content
from workspace.api.framework.pagination import PageQuery, page_response, page_serializer, read_page_request
from workspace.api.serializers import PredictionSerializer, PredictionsImportedSerializer


class PredictionQuery(PageQuery):
    model = serializers.CharField(required=False, help_text="The name of the model.")
    kind = serializers.CharField(required=False)


class PredictionFileSerializer(serializers.Serializer[Any]):
    """A file of predictions, as the command `import_predictions` takes it."""

    file = serializers.FileField()
    format = serializers.ChoiceField(choices=list(FORMATS), default="scores")
    model = serializers.CharField(help_text="Name of the model. Name, version and weights identify it.")
    version = serializers.CharField(required=False, default="", allow_blank=True)
    weights = serializers.CharField(required=False, default="", allow_blank=True)
    skip_unknown = serializers.BooleanField(
        default=False, help_text="Skip rows about instances that the project does not have."
    )
    dry_run = serializers.BooleanField(default=False)


class Predictions(ProjectEndpoint):
    about = "Predictions"
    verbs = verbs_by_method(GET=Verb.EXPORT, POST=Verb.IMPORT)
    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="list_predictions", parameters=[PredictionQuery], responses=page_serializer(PredictionSerializer)
    )
    def get(self, request: Request, project: str) -> Response:
        """List the predictions, with the columns of the export `predictions`."""
        query = self.read(PredictionQuery, request.query_params)
        found = Prediction.objects.about(self.project)
        if model := query.get("model"):
            found = found.filter(model__name=model)
        if kind := query.get("kind"):
            found = found.filter(kind=kind)
        wanted = read_page_request(request)
        rows = predictions_after(found, after=wanted.after, limit=wanted.limit + 1)
        records = [(pk, prediction_record(row)) for pk, row in rows]
        return page_response(request, records, wanted, lambda rows: PredictionSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="import_predictions",
        parameters=[KEY],
        request={"multipart/form-data": PredictionFileSerializer},
        responses={200: PredictionsImportedSerializer},
    )
    def post(self, request: Request, project: str) -> Response:
        """Import all predictions of a file, or none with a list of problems."""
        refuse_too_large(request._request)
        return self._import(request)

    @idempotent_by_content
    def _import(self, request: Request) -> Response:
        told = self.read(PredictionFileSerializer)
        with on_disk(told["file"]) as path:
            summary = import_predictions(
                project=self.project,
                file=path,
                format=told["format"],
                model=ModelName(told["model"], told["version"], told["weights"]),
                skip_unknown=told["skip_unknown"],
                dry_run=told["dry_run"],
                by=self.user,
                now=timezone.now(),
            )
        return Response(PredictionsImportedSerializer(asdict(summary) | {"sentence": str(summary)}).data)
