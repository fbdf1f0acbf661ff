"""Whose answers count, and settlements of undecided questions.

The API identifies people by their pseudonyms in the project, and never reveals who they are.
"""

from dataclasses import asdict
from typing import Any

from django.db.models import Exists, OuterRef
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.actions.deciding import adjudication
from annotation.actions.removing.removals import RemovalEffects
from annotation.actions.removing.reopen_places import ReopenedPlaces
from annotation.models import Decision, Session
from results import tasks
from results.actions import participants
from results.actions.participant_changes import ACTS
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.queries.people.participants import removals_of
from results.queries.people.payments_due import amounts_due, study_pseudonyms
from results.sentences import say_effects
from studies.names import LONGEST_NOTE
from studies.permissions import Verb
from workspace.api.framework.endpoints import ProjectEndpoint, StudyEndpoint, verbs_by_method
from workspace.api.framework.idempotency import idempotent
from workspace.api.framework.pagination import PageQuery, page_serializer, paginate
from workspace.api.serializers import FollowedSerializer, OwedSerializer, PersonSerializer, SettledSerializer


class People(ProjectEndpoint):
    about = "Answers"
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="list_people", parameters=[PageQuery], responses=page_serializer(PersonSerializer))
    def get(self, request: Request, project: str) -> Response:
        """List the annotators of a project, by pseudonym, and whether their answers count."""
        name_annotators(project=self.project)
        came = Session.objects.filter(study__project=self.project, annotator=OuterRef("annotator"))
        named = Pseudonym.objects.filter(Exists(came), project=self.project)
        return paginate(request, named, self._serialize)

    def _serialize(self, named: list[Pseudonym]) -> Any:
        removals = removals_of([each.annotator_id for each in named], project=self.project)
        lines = []
        for each in named:
            removal = removals.get(each.annotator_id)
            why, since = (removal.why, removal.at) if removal else ("", None)
            lines.append({"name": each.name, "counts": removal is None, "why_not": why, "since": since})
        return PersonSerializer(lines, many=True).data


class Owed(StudyEndpoint):
    about = "Answers"
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="list_owed", parameters=[PageQuery], responses=page_serializer(OwedSerializer))
    def get(self, request: Request, project: str, study: str) -> Response:
        """List the amounts owed to the annotators of a study, by pseudonym, with reasons."""
        name_annotators(project=self.project)
        people = study_pseudonyms(self.study)
        return paginate(request, people, lambda rows: OwedSerializer(amounts_due(self.study, rows), many=True).data)


class ReasonSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=LONGEST_NOTE, help_text="Required by `exclude`."
    )
    dry_run = serializers.BooleanField(default=False, help_text="Return the effects, but change nothing.")


class ChangePerson(ProjectEndpoint):
    about = "Answers"
    verbs = verbs_by_method(POST=Verb.REMOVE_PEOPLE)

    @extend_schema(request=ReasonSerializer, responses=FollowedSerializer)
    @idempotent
    def post(self, request: Request, project: str, name: str, change: str) -> Response:
        """Withdraw, exclude or include an annotator, or ask others the questions whose answers no longer count.

        `withdraw` cannot be undone.
        """
        form = self.read(ReasonSerializer)
        dry_run, reason = form["dry_run"], form["reason"]
        person = participants.find_person(project=self.project, name=name.replace("\0", ""))

        def act() -> RemovalEffects | ReopenedPlaces:
            # A dry run needs no reason.
            why = reason or ("foreseen" if dry_run else "")
            return ACTS[change](person, self.project, why, self.user, timezone.now())

        followed = participants.foresee(act) if dry_run else act()
        if change == "withdraw" and not dry_run:
            tasks.discard_files.delay_on_commit()
        if not dry_run:
            tasks.flag_new_answers.delay_on_commit()
        return Response(FollowedSerializer(_effects_json(followed) | {"sentence": say_effects(change, followed)}).data)


def _effects_json(followed: RemovalEffects | ReopenedPlaces) -> dict[str, Any]:
    if isinstance(followed, ReopenedPlaces):
        return {**asdict(RemovalEffects()), "slots": followed.answers}
    return {**asdict(followed), "slots": 0}


class SettlementSerializer(serializers.Serializer[Any]):
    choice = serializers.CharField(help_text="The option to settle the question with.")
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=LONGEST_NOTE)


class _DecisionEndpoint(StudyEndpoint):
    about = "Answers"
    verbs = verbs_by_method(POST=Verb.SETTLE)

    def decision(self, pk: int) -> Decision:
        """Return the decision of the study with this id. Raises Http404."""
        decisions = Decision.objects.select_related("question__instance", "question__study")
        return get_object_or_404(decisions, study=self.study, pk=pk)


class Settle(_DecisionEndpoint):
    @extend_schema(operation_id="settle", request=SettlementSerializer, responses={200: SettledSerializer})
    @idempotent
    def post(self, request: Request, project: str, study: str, pk: int) -> Response:
        """Settle a question that its answers leave undecided. `pk` is the `id` of its decision."""
        wanted = self.read(SettlementSerializer)
        question = self.decision(pk).question
        made = adjudication.settle(question=question, **wanted, by=self.user, now=timezone.now())
        return Response(SettledSerializer(made).data)


class Unsettle(_DecisionEndpoint):
    parser_classes = ()

    @extend_schema(operation_id="unsettle", request=None, responses={200: SettledSerializer})
    @idempotent
    def post(self, request: Request, project: str, study: str, pk: int) -> Response:
        """Undo a settlement; the answers decide again."""
        made = adjudication.unsettle(question=self.decision(pk).question, by=self.user, now=timezone.now())
        return Response(SettledSerializer(made).data)
