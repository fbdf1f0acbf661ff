"""Uploads in pieces for imports, used by scripts: begin, query, send the next piece."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from results.views.guards import project_view, refusal, signed_in_user, visible_projects
from studies.actions.imports.uploads import (
    BLOCK,
    IMAGES,
    LARGEST_PIECE,
    PARTS,
    ROWS,
    MisplacedPiece,
    begin_upload,
    receive,
    received_bytes,
)
from studies.errors import StudyError
from studies.models import Project, Upload
from studies.permissions import Verb

REFUSED, ELSEWHERE = 422, 409


@project_view(Verb.IMPORT)
@require_POST
def begin(request: HttpRequest, project: Project) -> HttpResponse:
    upload = begin_upload(project, signed_in_user(request), timezone.now())
    return JsonResponse({"upload": str(upload.pk), "address": reverse("upload", args=[upload.pk])}, status=201)


def own_upload(request: HttpRequest, pk: UUID) -> Upload:
    """Return the user's own upload into a project that they may still see; else 404."""
    own = Upload.objects.select_related("project").filter(made_by=signed_in_user(request))
    return get_object_or_404(own, project__in=visible_projects(request), pk=pk)


@never_cache
@login_required
@require_safe
def upload(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Return how many bytes of each file have arrived."""
    own = own_upload(request, pk)
    return JsonResponse({part: received_bytes(own, part) for part in (ROWS, IMAGES)})


@never_cache
@login_required
@require_POST
def piece(request: HttpRequest, pk: UUID, part: str) -> HttpResponse:
    """Write the request's body to the file `name` from byte `offset` on; return how many bytes it then has."""
    own = own_upload(request, pk)
    if refused := refusal(request, own.project, Verb.IMPORT):
        return refused
    offset = request.GET.get("offset", "")
    if part not in PARTS or not offset.isdecimal() or len(offset) > 15:
        return JsonResponse({"problem": "This request has no valid file part and offset."}, status=REFUSED)
    told: dict[str, Any]
    try:
        return JsonResponse({"have": receive(own, part, request.GET.get("name", ""), request, offset=int(offset))})
    except MisplacedPiece as error:
        told, status = {"have": error.have}, ELSEWHERE
    except StudyError as error:
        told, status = {"problem": str(error)}, REFUSED
    _drain(request)
    return JsonResponse(told, status=status)


def _drain(request: HttpRequest) -> None:
    """Read the rest of a piece.

    A server that answers and closes while a browser still sends breaks the connection, and the browser never gets the
    response.
    """
    with suppress(UnreadablePostError):
        for _ in range(LARGEST_PIECE // BLOCK):
            if not request.read(BLOCK):
                return
