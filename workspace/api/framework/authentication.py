"""Authentication by a personal token in `Authorization: Bearer lineup_...`; no cookies."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from throttle.counters import hit
from throttle.networks import network_of
from workspace.actions.tokens import find_token, record_use
from workspace.api.framework.problems import Problem, Refused
from workspace.models import Token

SCHEME = "Bearer"
FAILURES = 30
FAILURE_WINDOW = timedelta(minutes=15)
OPENS_NOTHING = "This token is not valid: it is misspelled, expired or revoked. Create a new one on /tokens/."


class PersonalToken(BaseAuthentication):
    """Read the token of the request. Wrong tokens are rate-limited by network."""

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if not scheme:
            return None
        now = timezone.now()
        token = find_token(text=text.strip(), now=now) if scheme.lower() == SCHEME.lower() else None
        if token is None:
            self._count_failure(request)
            raise AuthenticationFailed(OPENS_NOTHING)
        record_use(token=token, now=now)
        return token.owner, token

    def _count_failure(self, request: Request) -> None:
        network = network_of(request._request)
        verdict = hit(scope="api failures", key=network, limit=FAILURES, window=FAILURE_WINDOW, now=timezone.now())
        if not verdict.allowed:
            problem = Problem("too-many", 429, "Too many wrong tokens came from your network. Wait a while.")
            raise Refused(problem, {"Retry-After": str(verdict.retry_after)})

    def authenticate_header(self, request: Request) -> str:
        return f'{SCHEME} realm="Lineup"'


class PersonalTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describe the tokens in the schema."""

    target_class = PersonalToken
    name = "personalToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A personal token, made on /tokens/."}
