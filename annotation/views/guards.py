"""Decorators of all annotator views: find the session by its token, show errors as pages."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.csrf import csrf_exempt

from annotation.errors import AnnotationError, TooManyAtOnce
from annotation.language import activate_language, in_readers_language
from annotation.models import Session
from annotation.notices import notice_pages
from annotation.pages import session_urls
from annotation.views.compression import compress

P = ParamSpec("P")
# As Django's never_cache, without the date that it writes for browsers of the last century.
NEVER_CACHED = "max-age=0, no-cache, no-store, must-revalidate, private"


def wants_json(request: HttpRequest) -> bool:
    """Whether the request comes from the page's script."""
    # Not `request.headers`, which parses all headers; this runs for every answer.
    return "application/json" in request.META.get("HTTP_ACCEPT", "")


def problem_response(request: HttpRequest, error: AnnotationError) -> HttpResponse:
    context = {"heading": error.heading, "message": error.message, "what_next": error.what_next}
    response: HttpResponse
    if wants_json(request):
        about = {"submission": request.POST["submission"]} if "submission" in request.POST else {}
        response = JsonResponse(about | {"error": error.whole}, status=error.status)
    else:
        response = render(request, "annotation/problem.html", context | _notices(request), status=error.status)
    if isinstance(error, TooManyAtOnce):
        response["Retry-After"] = str(error.retry_after)
    return response


def _notices(request: HttpRequest) -> dict[str, Any]:
    """Return the template context for the notices of an error page, if its address has a session."""
    token = request.resolver_match.kwargs.get("token", "") if request.resolver_match else ""
    session = Session.objects.filter(token=token).first()
    if session is None:
        return {}
    return {"answer_notices": notice_pages(session), "urls": session_urls(token)}


def annotator_view(view: Callable[Concatenate[HttpRequest, P], HttpResponse]) -> Callable[..., HttpResponse]:
    """Show AnnotationErrors as pages, compress, disable caching and CSRF cookies.

    Pages use the reader's language until the study is known. The token in the address is the credential: whoever does
    not know it cannot forge a post, and browsers that refuse cookies work too (docs/decisions/0001).
    """

    @in_readers_language
    @csrf_exempt
    @wraps(view)
    def wrapper(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except AnnotationError as error:
            response = problem_response(request, error)
        response.headers["Cache-Control"] = NEVER_CACHED
        compress(request, response)
        return response

    return wrapper


def session_view(view: Callable[Concatenate[HttpRequest, Session, P], HttpResponse]) -> Callable[..., HttpResponse]:
    """Pass the session with the token in the address to the view; 404 for an unknown token."""

    @annotator_view
    @wraps(view)
    def with_session(request: HttpRequest, /, token: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        session = get_object_or_404(Session.objects.select_related("study", "last_seat"), token=token)
        activate_language(session.study.design.language)
        return view(request, session, *args, **kwargs)

    return with_session


class StudyFacts(NamedTuple):
    """What every answer needs of the study of a session; a launched study never changes it."""

    pk: int = 0
    language: str = ""
    records_writing: bool = False


def study_facts(token: str) -> StudyFacts:
    """Return the facts about a session's study; the defaults for an unknown token."""
    try:
        return _cached_study_facts(token)
    except Session.DoesNotExist:
        return StudyFacts()


@lru_cache(maxsize=10_000)
def _cached_study_facts(token: str) -> StudyFacts:
    study = Session.objects.select_related("study").get(token=token).study
    return StudyFacts(study.pk, study.design.language, study.design.records_writing)
