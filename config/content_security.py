"""The header Content-Security-Policy."""

from functools import cache

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class SitePolicyMiddleware(CSPMiddleware):
    """Sends the site's policy. Building its text for every answer took a fifteenth of the time of an answer."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        has_own = any(name.startswith("_csp_") for name in vars(response))
        if has_own or settings.DEBUG or getattr(request, "_csp_nonce", None) is not None:
            return super().process_response(request, response)
        response.headers.setdefault(HEADER, _site_policy())
        return response


@cache
def _site_policy() -> str:
    return build_policy()
