"""Base classes of endpoints: authentication, rate limit, permissions and ETags.

An endpoint names the verb of each of its methods. A project that the user may not see answers 404. A member without the
permission, and a read-only token that writes, get 403.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.cache import patch_cache_control, patch_vary_headers
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser, JSONParser
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from results.queries.studies.overview import with_answers_sent
from studies.actions.projects.members import may, owners_of, permitted_projects, role_in
from studies.models import Project, Study
from studies.permissions import IN_ARCHIVE, WORDS, Verb, who_may, why_not_in_archive, with_article
from throttle.counters import hit
from workspace.api.framework.authentication import PersonalToken
from workspace.api.framework.problems import Problem, Refused, handle
from workspace.models import Scope, Token

READING = frozenset({"GET", "HEAD", "OPTIONS"})
MINUTE = timedelta(minutes=1)


class AlwaysJson(DefaultContentNegotiation):
    """Always answer in JSON: a 406 would help nobody."""

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


class Endpoint(APIView):
    """One address of the API, for requests with a token."""

    authentication_classes: Sequence[type[BaseAuthentication]] = (PersonalToken,)
    permission_classes: Sequence[type[BasePermission]] = (IsAuthenticated,)
    renderer_classes = (JSONRenderer,)
    parser_classes: Sequence[type[BaseParser]] = (JSONParser,)
    content_negotiation_class = AlwaysJson
    # The schema documents endpoints; DRF's answer to OPTIONS does not.
    metadata_class = None

    def get_exception_handler(self) -> Any:
        return handle

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self._count(request)
        if request.method not in READING and self.token.scope != Scope.WRITE:
            raise Refused(Problem("not-allowed", 403, "This token may only read. Create one that may change things."))

    def read(self, form: type[Serializer[Any]], given: Any = None) -> dict[str, Any]:
        """Return the values of the body, or of `given`, as `form` describes them. Raises ValidationError."""
        sent = form(data=self.request.data if given is None else given)
        sent.is_valid(raise_exception=True)
        return dict(sent.validated_data)

    @property
    def token(self) -> Token:
        return cast(Token, self.request.auth)

    @property
    def user(self) -> User:
        return cast(User, self.request.user)

    def _count(self, request: Request) -> None:
        limit = settings.API_REQUESTS_PER_MINUTE
        if not limit:
            return
        verdict = hit(scope="api requests", key=str(self.token.pk), limit=limit, window=MINUTE, now=timezone.now())
        if not verdict.allowed:
            problem = Problem("too-many", 429, f"More than {limit:,} requests came with this token in a minute. Wait.")
            raise Refused(problem, {"Retry-After": str(verdict.retry_after)})

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Answer 304 when the ETag matches."""
        final = super().finalize_response(request, response, *args, **kwargs)
        patch_vary_headers(final, ["Authorization"])
        patch_cache_control(final, private=True, no_cache=True)
        if request.method == "GET" and final.status_code == 200 and isinstance(final, Response):
            final.add_post_render_callback(partial(_conditional_response, request._request))
        return final


def _conditional_response(request: HttpRequest, response: Any) -> HttpResponseBase:
    return ConditionalGetMiddleware(lambda _: response)(request)  # type: ignore[return-value]


def verbs_by_method(**by_method: Verb) -> Mapping[str, Verb]:
    """Return the verb of each method of an endpoint."""
    return MappingProxyType(by_method)


class ProjectEndpoint(Endpoint):
    """An address inside of a project: `project` is the named one, once the user may do the method's verb."""

    verbs: Mapping[str, Verb]
    project: Project

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # Check the scope of the token without revealing to strangers that the project exists.
        self.perform_authentication(request)
        self.check_permissions(request)
        self.project = get_object_or_404(self.visible_projects(), slug=kwargs["project"])
        super().initial(request, *args, **kwargs)
        verb = self.verbs.get("GET" if request.method == "HEAD" else request.method or "")
        if verb is None:
            raise MethodNotAllowed(request.method or "")
        if verb is not Verb.VIEW:
            self.require(verb)

    def require(self, verb: Verb) -> None:
        """Raise Refused, with the page's sentence, unless the user may do `verb`."""
        if not may(self.user, verb, self.project):
            raise Refused(Problem("not-allowed", 403, _refusal(self.user, verb, self.project)))

    def visible_projects(self) -> Any:
        return visible_projects(self.user, self.token)


def visible_projects(user: User, token: Token) -> Any:
    """Return the projects that the token opens: those its owner may see, or the one that it is for."""
    projects = permitted_projects(user, Verb.VIEW)
    return projects if token.project_id is None else projects.filter(pk=token.project_id)


def _refusal(user: User, verb: Verb, project: Project) -> str:
    """Return the page's sentence for a member without the permission."""
    if project.archived_at is not None and verb not in IN_ARCHIVE:
        return why_not_in_archive(project.name, verb)
    role = role_in(user, project)
    owners = ", ".join(owner.get_username() for owner in owners_of(project))
    sentences = [
        f"Only {who_may(verb)} of {project.name} may {WORDS[verb]}.",
        f"You are {with_article(role)}." if role else "",
        f"Ask {owners}." if owners else "The project has no owner: ask your administrator.",
    ]
    return " ".join(filter(None, sentences))


class StudyEndpoint(ProjectEndpoint):
    """An address inside of a study."""

    study: Study

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        found = Study.objects.select_related("project").filter(project=self.project, slug=kwargs["study"])
        study = with_answers_sent(found, study="study").first()
        if study is None:
            raise Refused(Problem("not-found", 404, f"{self.project.name} has no study called {kwargs['study']}."))
        self.study = study


class NoSuchAddress(Endpoint):
    """Answer 404 for unknown addresses of the API."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise Refused(Problem("not-found", 404, "There is no such address. They are listed on /api/docs/."))
