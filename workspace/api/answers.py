"""Results of a study: sessions, counted answers, decisions and ratings."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from results.actions.pseudonyms import name_annotators
from results.exporting.rows import decision_record, response_record
from results.models import KeptNumbers
from results.queries.exports.export_rows import counted_responses, decisions_after, rating_summaries
from results.queries.studies.overview import answers_sent
from results.queries.studies.sessions import named_sessions, session_line
from results.views.cached_statistics import numbers_for
from studies.permissions import Verb
from workspace.api.framework.endpoints import StudyEndpoint, verbs_by_method
from workspace.api.framework.pagination import PageQuery, page_response, page_serializer, paginate, read_page_request
from workspace.api.serializers import (
    AllRatingsSerializer,
    DecisionSerializer,
    ResponseSerializer,
    SessionSerializer,
)


class Sessions(StudyEndpoint):
    about = "Answers"
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="list_sessions", parameters=[PageQuery], responses=page_serializer(SessionSerializer))
    def get(self, request: Request, project: str, study: str) -> Response:
        """List the sessions of a study, with the annotators' pseudonyms in the project."""
        name_annotators(project=self.project)
        return paginate(request, named_sessions(self.study), _sessions_json)


def _sessions_json(rows: list[Any]) -> Any:
    lines = [(session, session_line(session)) for session in rows]
    told = [
        {
            "id": line.pk,
            "worker": line.name,
            "state": session.state,
            "answered": line.answered,
            "total": line.total,
            "arrived_at": line.arrived_at,
            "last_seen_at": line.last_seen_at,
            "ended_at": session.ended_at,
            "comment": line.comment,
        }
        for session, line in lines
    ]
    return SessionSerializer(told, many=True).data


class Responses(StudyEndpoint):
    about = "Answers"
    verbs = verbs_by_method(GET=Verb.EXPORT)

    @extend_schema(operation_id="list_responses", parameters=[PageQuery], responses=page_serializer(ResponseSerializer))
    def get(self, request: Request, project: str, study: str) -> Response:
        """List the counted answers, with the columns of the export `responses`."""
        name_annotators(project=self.project)
        wanted = read_page_request(request)
        found = counted_responses(self.study, after=wanted.after, limit=wanted.limit + 1)
        records = [(pk, response_record(row)) for pk, row in found]
        return page_response(request, records, wanted, lambda rows: ResponseSerializer(rows, many=True).data)


class Decisions(StudyEndpoint):
    about = "Answers"
    verbs = verbs_by_method(GET=Verb.EXPORT)

    @extend_schema(operation_id="list_decisions", parameters=[PageQuery], responses=page_serializer(DecisionSerializer))
    def get(self, request: Request, project: str, study: str) -> Response:
        """List the decision on each question, with the columns of the export `decisions`."""
        wanted = read_page_request(request)
        found = decisions_after(self.study, after=wanted.after, limit=wanted.limit + 1)
        records = [(pk, decision_record(row) | {"id": pk}) for pk, row in found]
        return page_response(request, records, wanted, lambda rows: DecisionSerializer(rows, many=True).data)


class Ratings(StudyEndpoint):
    about = "Answers"
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="read_ratings", responses=AllRatingsSerializer)
    def get(self, request: Request, project: str, study: str) -> Response:
        """Return mean, spread and distribution of ratings by image role and category, as in the study's results."""
        kept = numbers_for(KeptNumbers.Page.STUDY_RATINGS, self.project, self.study, answers=answers_sent(self.study))
        ratings, as_of = (rating_summaries(self.study), None) if kept is None else (kept.numbers, kept.as_of)
        return Response(AllRatingsSerializer({"ratings": ratings, "as_of": as_of}).data)
