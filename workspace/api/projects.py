"""The token's owner, their projects, and the projects' events."""

from typing import Any

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from results.queries.studies.events import lines_of
from results.queries.studies.overview import project_counts
from studies.actions.projects.members import may_make_projects
from studies.actions.projects.projects import archive_project, make_project, rename_project, reopen_project
from studies.models import Event, Project, Study
from studies.permissions import Verb
from workspace.api.framework.endpoints import Endpoint, ProjectEndpoint, verbs_by_method, visible_projects
from workspace.api.framework.idempotency import KEY, idempotent
from workspace.api.framework.pagination import PageQuery, page_serializer, paginate
from workspace.api.framework.problems import Problem, Refused
from workspace.api.serializers import EventSerializer, MeSerializer, ProjectSerializer


class Me(Endpoint):
    @extend_schema(operation_id="me", responses=MeSerializer)
    def get(self, request: Request) -> Response:
        """Return the owner and the scope of the token."""
        told = {
            "username": self.user.get_username(),
            "token": self.token.name,
            "scope": self.token.scope,
            "project": self.token.project.slug if self.token.project else None,
            "expires_at": self.token.expires_at,
        }
        return Response(MeSerializer(told).data)


def _with_counts(projects: QuerySet[Project]) -> QuerySet[Project]:
    datasets = Prefetch("studies", Study.objects.filter(in_dataset=True).order_by("launched_at", "pk"), "datasets")
    return project_counts(projects.prefetch_related(datasets))


def _project_json(project: Any) -> dict[str, Any]:
    datasets = [study.slug for study in project.datasets]
    return {
        "slug": project.slug,
        "name": project.name,
        "created_at": project.created_at,
        "archived_at": project.archived_at,
        "dataset": datasets[0] if len(datasets) == 1 else None,
        "datasets": datasets,
        "instances": project.instance_count,
        "studies": project.study_count,
        "answers": project.answer_count,
    }


class ProjectWantedSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField(help_text="Its name in URLs and commands.")
    name = serializers.CharField(help_text="Its name on pages.")


class Projects(Endpoint):
    @extend_schema(operation_id="list_projects", parameters=[PageQuery], responses=page_serializer(ProjectSerializer))
    def get(self, request: Request) -> Response:
        """List the projects that the token opens."""
        projects = _with_counts(visible_projects(self.user, self.token))
        return paginate(request, projects, lambda rows: ProjectSerializer(map(_project_json, rows), many=True).data)

    @extend_schema(
        operation_id="make_project",
        parameters=[KEY],
        request=ProjectWantedSerializer,
        responses={201: ProjectSerializer},
    )
    def post(self, request: Request) -> Response:
        """Create an empty project, owned by the token's owner. A setting of the site says who may."""
        if not may_make_projects(self.user) or self.token.project_id is not None:
            sentence = "You may not create projects here, or this token is for a single project."
            raise Refused(Problem("not-allowed", 403, sentence))
        return self._make(request)

    @idempotent
    def _make(self, request: Request) -> Response:
        made = make_project(**self.read(ProjectWantedSerializer), by=self.user, now=timezone.now())
        address = reverse("api_project", args=[made.slug], request=request)
        told = _project_json(_with_counts(Project.objects.filter(pk=made.pk)).get())
        return Response(ProjectSerializer(told).data, status=201, headers={"Location": address})


class ProjectChangeSerializer(serializers.Serializer[Any]):
    """Entries that are not given do not change."""

    name = serializers.CharField(required=False, help_text="Its name on pages; its URLs do not change.")
    archived = serializers.BooleanField(required=False, help_text="Whether it is archived.")


class OneProject(ProjectEndpoint):
    verbs = verbs_by_method(GET=Verb.VIEW, PATCH=Verb.MANAGE_MEMBERS)

    @extend_schema(operation_id="read_project", responses=ProjectSerializer)
    def get(self, request: Request, project: str) -> Response:
        """Return one project."""
        return self._answer()

    @extend_schema(operation_id="change_project", request=ProjectChangeSerializer, responses=ProjectSerializer)
    def patch(self, request: Request, project: str) -> Response:
        """Rename, archive or restore a project; all changes are made, or none."""
        told, now = self.read(ProjectChangeSerializer), timezone.now()
        with transaction.atomic():
            if "name" in told:
                rename_project(project=self.project, name=told["name"].strip(), by=self.user, now=now)
            if "archived" in told:
                change = archive_project if told["archived"] else reopen_project
                change(project=self.project, by=self.user, now=now)
        return self._answer()

    def _answer(self) -> Response:
        return Response(
            ProjectSerializer(_project_json(_with_counts(Project.objects.filter(pk=self.project.pk)).get())).data
        )


class Events(ProjectEndpoint):
    about = "Audit"
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="list_events", parameters=[PageQuery], responses=page_serializer(EventSerializer))
    def get(self, request: Request, project: str) -> Response:
        """List the events of a project, newest first, in the words of the page of events."""
        events = Event.objects.filter(project=self.project).select_related("study")
        return paginate(request, events, self._lines, newest_first=True)

    def _lines(self, events: list[Event]) -> Any:
        lines = lines_of(self.project, events)
        told = [
            {
                "id": event.pk,
                "at": event.at,
                "who": line.who,
                "what": line.what,
                "event": event.what,
                "study": event.study_name,
            }
            for event, line in zip(events, lines, strict=True)
        ]
        return EventSerializer(told, many=True).data
