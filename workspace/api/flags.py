"""Flags of sessions, and verdicts on them. People are identified by pseudonym."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.actions.reviewing import flag_verdicts
from annotation.models import SessionFlag
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.queries.people.flagged_sessions import evidence_sentence, visible_flags
from studies.names import LONGEST_NOTE
from studies.permissions import Verb
from workspace.api.framework.endpoints import ProjectEndpoint, verbs_by_method
from workspace.api.framework.idempotency import idempotent
from workspace.api.framework.pagination import PageQuery, page_serializer, paginate


class FlagSerializer(serializers.Serializer[Any]):
    """A reason to look at a session. It excludes nobody by itself."""

    id = serializers.IntegerField()
    study = serializers.CharField(help_text="The name of the study.")
    session = serializers.IntegerField(help_text="The `id` of the session in the list of sessions.")
    person = serializers.CharField(help_text="The annotator's pseudonym in the project.")
    rule = serializers.CharField()
    version = serializers.IntegerField(help_text="Of the rule that found it.")
    evidence = serializers.CharField(help_text="In a sentence.")
    found_at = serializers.DateTimeField()
    cleared_at = serializers.DateTimeField(allow_null=True, help_text="When a later check no longer found it.")
    verdict = serializers.CharField(allow_blank=True, help_text="`upheld`, `dismissed`, or empty: to review.")
    note = serializers.CharField(allow_blank=True)
    reviewed_at = serializers.DateTimeField(allow_null=True)


def _serialize(flags: list[SessionFlag]) -> Any:
    people = {flag.session.annotator_id for flag in flags}
    projects = {flag.session.study.project_id for flag in flags}
    named = Pseudonym.objects.filter(project__in=projects, annotator__in=people)
    names = dict(named.values_list("annotator_id", "name"))
    lines = [
        {
            **{name: getattr(flag, name) for name in ("id", "rule", "version", "found_at", "cleared_at")},
            **{name: getattr(flag, name) for name in ("verdict", "note", "reviewed_at")},
            "study": flag.session.study.slug,
            "session": flag.session_id,
            "person": names.get(flag.session.annotator_id, ""),
            "evidence": evidence_sentence(flag),
        }
        for flag in flags
    ]
    return FlagSerializer(lines, many=True).data


class Flags(ProjectEndpoint):
    about = "Answers"
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="list_flags", parameters=[PageQuery], responses=page_serializer(FlagSerializer))
    def get(self, request: Request, project: str) -> Response:
        """List the flags of a project's sessions, also reviewed and cleared ones; without people who withdrew."""
        name_annotators(project=self.project)
        return paginate(request, visible_flags(self.project).select_related("session__study"), _serialize)


class VerdictSerializer(serializers.Serializer[Any]):
    verdict = serializers.ChoiceField(choices=SessionFlag.Verdict.values)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=LONGEST_NOTE)


class _FlagEndpoint(ProjectEndpoint):
    about = "Answers"
    verbs = verbs_by_method(POST=Verb.REMOVE_PEOPLE)

    def flag(self, pk: int) -> SessionFlag:
        """Return the flag of the project with this id. Raises Http404."""
        flags = visible_flags(self.project).select_related("session__study__project", "session__annotator")
        return get_object_or_404(flags, pk=pk)

    def answer(self, pk: int) -> Response:
        name_annotators(project=self.project)
        return Response(_serialize([self.flag(pk)])[0])


class ReviewFlag(_FlagEndpoint):
    @extend_schema(operation_id="review_flag", request=VerdictSerializer, responses={200: FlagSerializer})
    @idempotent
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Uphold or dismiss a flag. No answer and no pay changes."""
        wanted = self.read(VerdictSerializer)
        flag_verdicts.review_flags(
            session=self.flag(pk).session,
            flags=[pk],
            verdict=SessionFlag.Verdict(wanted["verdict"]),
            note=wanted["note"],
            by=self.user,
            now=timezone.now(),
        )
        return self.answer(pk)


class UndoFlagReview(_FlagEndpoint):
    parser_classes = ()

    @extend_schema(operation_id="undo_flag_review", request=None, responses={200: FlagSerializer})
    @idempotent
    def post(self, request: Request, project: str, pk: int) -> Response:
        """Undo the review of a flag. Whoever was excluded with it is included again."""
        flag_verdicts.undo_review(session=self.flag(pk).session, flags=[pk], by=self.user, now=timezone.now())
        return self.answer(pk)
