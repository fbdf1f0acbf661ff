"""Errors as RFC 9457 problems: the pages' sentences, with a type for scripts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response

from annotation.actions.deciding.adjudication import CannotSettle
from annotation.actions.removing.removals import CannotRemove
from annotation.actions.reviewing.flag_verdicts import CannotReview
from predictions.errors import CannotPredict, PredictionsRefused
from results.errors import CannotExport, UnknownPerson
from studies.actions.imports.import_state import ImportRefused
from studies.actions.imports.uploads import MisplacedPiece
from studies.design import DesignRefused
from studies.errors import StudyError
from training.errors import CannotTrain
from workspace.actions.hub import PushRefused
from workspace.actions.webhooks import WebhookRefused

CONTENT_TYPE = "application/problem+json"
# Problems of a refused file that are listed; the rest are counted.
MOST_ERRORS = 100
# Types of problems are names, not URLs; docs/api.md explains each.
TYPE = "urn:lineup:problem:"
NOTHING_HERE = "There is nothing here that you may see. Check the address and whose token this is."


@dataclass(frozen=True)
class Problem:
    """What is wrong: `detail` is a sentence for people, `errors` are places, each with a sentence."""

    name: str
    status: int
    detail: str
    errors: Sequence[Mapping[str, Any]] = ()

    def as_json(self) -> dict[str, Any]:
        told = {
            "type": f"{TYPE}{self.name}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
        }
        return told | ({"errors": list(self.errors)} if self.errors else {})


class Refused(Exception):
    """An endpoint refuses a request; the answer is the problem."""

    def __init__(self, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(problem.detail)
        self.problem = problem
        self.headers = headers or {}


def handle(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Answer an exception that an endpoint raised; None for a bug, which becomes a 500 as everywhere."""
    problem = problem_of(error)
    if problem is None:
        return None
    headers: dict[str, str] = {}
    if isinstance(error, Refused):
        headers |= error.headers
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = error.auth_header  # type: ignore[attr-defined]
    return Response(problem.as_json(), status=problem.status, headers=headers, content_type=CONTENT_TYPE)


def problem_of(error: Exception) -> Problem | None:
    """Return the problem for an exception, None for an unexpected one."""
    match error:
        case Refused():
            return error.problem
        case DesignRefused():
            errors = [{"line": each.line, "reason": each.message} for each in error.problems[:MOST_ERRORS]]
            return Problem("study-file-refused", 422, "The study file cannot be used.", errors)
        case ImportRefused():
            return _import_refused(error)
        case PredictionsRefused():
            errors = [{"reason": reason} for reason in error.problems[:MOST_ERRORS]]
            found = _count_words(len(error.problems))
            return Problem("predictions-refused", 422, f"No prediction was imported: {found}.", errors)
        case MisplacedPiece():
            return Problem("misplaced", 409, str(error))
        case StudyError():
            return Problem("not-now", 409, " ".join(error.problems), [{"reason": each} for each in error.problems])
        case (
            CannotExport()
            | CannotPredict()
            | CannotTrain()
            | CannotSettle()
            | CannotRemove()
            | CannotReview()
            | PushRefused()
            | WebhookRefused()
        ):
            return Problem("not-now", 409, str(error))
        case UnknownPerson():
            return Problem("not-found", 404, str(error))
        case Http404():
            return Problem("not-found", 404, NOTHING_HERE)
        case PermissionDenied():
            return Problem("not-allowed", 403, "You may not do this.")
        case RequestDataTooBig():
            return Problem("too-large", 413, "What you sent is too large for this address.")
        case SuspiciousOperation():
            return Problem("not-understood", 400, "The request cannot be read.")
        case exceptions.APIException():
            return _problem_of_framework(error)
    return None


def _import_refused(error: ImportRefused) -> Problem:
    errors = [{"record": each.row or None, "field": each.field, "reason": each.reason} for each in error.problems]
    return Problem("import-refused", 422, f"Nothing was imported: {_count_words(error.count)}.", errors[:MOST_ERRORS])


def _count_words(number: int) -> str:
    return "1 problem was found" if number == 1 else f"{number:,} problems were found"


_NAMES = {
    400: "not-understood",
    401: "no-token",
    403: "not-allowed",
    404: "not-found",
    405: "no-such-method",
    415: "unknown-media-type",
    429: "too-many",
}


def _problem_of_framework(error: exceptions.APIException) -> Problem:
    name = _NAMES.get(error.status_code, "not-understood")
    if isinstance(error, exceptions.ValidationError):
        errors = list(_field_errors(error.detail, ""))
        return Problem(name, 400, "What you sent cannot be used.", errors[:MOST_ERRORS])
    return Problem(name, error.status_code, str(error.detail))


def _field_errors(detail: Any, field: str) -> list[dict[str, str]]:
    """Return a serializer's errors, each with the name of its field, nested names joined by dots."""
    if isinstance(detail, Mapping):
        return [each for name, inner in detail.items() for each in _field_errors(inner, f"{field}.{name}".strip("."))]
    if isinstance(detail, list):
        return [each for inner in detail for each in _field_errors(inner, field)]
    return [{"field": "" if field == "non_field_errors" else field, "reason": str(detail)}]
