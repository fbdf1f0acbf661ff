"""Training runs: request, follow, cancel, resume, delete, and read the model card."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from background.tasks import send
from results.actions.model_cards import write_model_card
from results.actions.training_data import check_trainable, find_training_data
from results.views.cached_statistics import results_for
from studies.permissions import Verb
from training.actions.deletion import delete_run
from training.actions.runs import MOST_SEED, Wanted, cancel_run, read_price, request_offered_run, resume_run
from training.messages import TRAINING, VALIDATION
from training.models import LONGEST_NAME, TrainingRun
from training.recipes import RECIPES
from training.tasks import ask_to_discard, send_order
from workspace.api.framework.endpoints import ProjectEndpoint, verbs_by_method
from workspace.api.framework.idempotency import idempotent
from workspace.api.framework.pagination import PageQuery, page_serializer, paginate
from workspace.api.serializers import Plain

ABOUT = "Training"


class TrainingSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    recipe = serializers.CharField()
    recipe_version = serializers.CharField()
    options = serializers.DictField(help_text="All options of the recipe, with their defaults.")
    base = serializers.CharField(help_text="The model that training begins with.")
    seed = serializers.IntegerField()
    release = serializers.CharField(
        source="release_name", allow_blank=True, help_text="Empty for the accepted items of the project."
    )
    state = serializers.ChoiceField(choices=TrainingRun.State.choices)
    error = serializers.CharField(allow_blank=True)
    step = serializers.IntegerField()
    steps = serializers.IntegerField(help_text="0 while unknown.")
    training_examples = serializers.SerializerMethodField(help_text="0 until they are prepared.")
    validation_examples = serializers.SerializerMethodField()
    losses = serializers.DictField(child=serializers.FloatField(), help_text="Of its last step.")
    score = serializers.FloatField(allow_null=True, help_text="The last one on the validation set, from 0 to 1.")
    best_score = serializers.FloatField(allow_null=True)
    seconds = serializers.FloatField(help_text="Time on the device so far.")
    seconds_left = serializers.FloatField(allow_null=True, help_text="Estimated; null while unknown and at the end.")
    peak_memory = serializers.IntegerField(help_text="Bytes: of a GPU, or of the process on a CPU.")
    cost = serializers.DecimalField(
        source="cost.amount", max_digits=16, decimal_places=2, default=None, allow_null=True, help_text="So far."
    )
    expected_cost = serializers.DecimalField(
        source="expected_cost.amount",
        max_digits=16,
        decimal_places=2,
        default=None,
        allow_null=True,
        help_text="Estimated cost of the whole run; null without a price, while unknown and at the end.",
    )
    currency = serializers.CharField(allow_blank=True)
    notes = serializers.ListField(
        source="sentences", child=serializers.CharField(), help_text="What people should know about it."
    )
    model = serializers.CharField(
        source="result.spec", default=None, allow_null=True, help_text="The trained model, for `ask_model`."
    )
    weights = serializers.CharField(source="result.weights", default=None, allow_null=True, help_text="SHA-256.")
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    def get_training_examples(self, run: TrainingRun) -> int:
        return run.count(TRAINING)

    def get_validation_examples(self, run: TrainingRun) -> int:
        return run.count(VALIDATION)


class TrainingWantedSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=LONGEST_NAME, help_text="Lower-case letters, digits and hyphens.")
    recipe = serializers.ChoiceField(choices=list(RECIPES))
    base = serializers.CharField(
        max_length=300, help_text="A model that the site offers, such as `open_clip:ViT-B-32/openai`."
    )
    release = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="Empty: the accepted items of the project."
    )
    options = serializers.DictField(required=False, default=dict, help_text="Those that differ from the paper's.")
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MOST_SEED)
    hour_price = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="Price per hour of the device, such as `2.50`."
    )
    currency = serializers.CharField(required=False, default="USD", allow_blank=True)


class ModelCardSerializer(Plain):
    text = serializers.CharField(help_text="README.md in the format of the Hugging Face Hub.")


class Trainings(ProjectEndpoint):
    about = ABOUT
    verbs = verbs_by_method(GET=Verb.VIEW, POST=Verb.PREDICT)

    @extend_schema(operation_id="list_trainings", parameters=[PageQuery], responses=page_serializer(TrainingSerializer))
    def get(self, request: Request, project: str) -> Response:
        """List the training runs, newest first."""
        runs = TrainingRun.objects.filter(project=self.project)
        return paginate(request, runs, lambda rows: TrainingSerializer(rows, many=True).data, newest_first=True)

    @extend_schema(operation_id="train_model", request=TrainingWantedSerializer, responses={202: TrainingSerializer})
    @idempotent
    def post(self, request: Request, project: str) -> Response:
        """Train a model by a recipe in the background. Follow it at the `Location` of the response."""
        told = self.read(TrainingWantedSerializer)
        wanted = Wanted(
            name=told["name"],
            recipe=told["recipe"],
            base=told["base"],
            options=told["options"],
            data=find_training_data(self.project, told["release"]),
            seed=told["seed"],
            hour_price=read_price(told["hour_price"]),
            currency=told["currency"],
        )
        check_trainable(self.project, wanted)
        run, job = request_offered_run(project=self.project, wanted=wanted, by=self.user, now=timezone.now())
        send(job)
        address = reverse("api_training", args=[self.project.slug, run.pk], request=request)
        return Response(TrainingSerializer(run).data, status=202, headers={"Location": address})


class _TrainingEndpoint(ProjectEndpoint):
    about = ABOUT

    def one(self, pk: int) -> TrainingRun:
        """Return the training run of the project with this id. Raises Http404."""
        found = TrainingRun.objects.filter(project=self.project).select_related("project", "job")
        return get_object_or_404(found, pk=pk)


class OneTraining(_TrainingEndpoint):
    verbs = verbs_by_method(GET=Verb.VIEW, DELETE=Verb.MANAGE_MODELS)

    @extend_schema(operation_id="read_training", responses=TrainingSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        """Return the progress of a training run, and its model once it is done."""
        return Response(TrainingSerializer(self.one(pk)).data)

    @extend_schema(operation_id="delete_training", responses={204: None})
    def delete(self, request: Request, project: str, pk: int) -> Response:
        """Delete a training run that has ended, with its model; a worker deletes the weights."""
        delete_run(run=self.one(pk), by=self.user, now=timezone.now())
        ask_to_discard.delay_on_commit()
        return Response(status=204)


class CancelTraining(_TrainingEndpoint):
    verbs = verbs_by_method(POST=Verb.PREDICT)
    parser_classes = ()

    @extend_schema(operation_id="cancel_training", request=None, responses=TrainingSerializer)
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Cancel a training run; its worker keeps the last checkpoint."""
        cancel_run(run=self.one(pk), by=self.user, now=timezone.now())
        return Response(TrainingSerializer(self.one(pk)).data)


class ResumeTraining(_TrainingEndpoint):
    verbs = verbs_by_method(POST=Verb.PREDICT)
    parser_classes = ()

    @extend_schema(operation_id="resume_training", request=None, responses=TrainingSerializer)
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Resume a training run that was cancelled or failed, from its last checkpoint."""
        job = resume_run(run=self.one(pk), by=self.user, now=timezone.now())
        if job is None:
            send_order.delay_on_commit(pk)
        else:
            send(job)
        return Response(TrainingSerializer(self.one(pk)).data)


class TrainingCard(_TrainingEndpoint):
    verbs = verbs_by_method(GET=Verb.VIEW)
    # Until the model is trained, and until its scores are computed.
    when_reading = ("409",)

    @extend_schema(operation_id="read_model_card", responses=ModelCardSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        """Return the model card of a trained model, with the scores of the project's results as stored."""
        run = self.one(pk)
        return Response(
            ModelCardSerializer({"text": write_model_card(run=run, results=results_for(self.project))}).data
        )
