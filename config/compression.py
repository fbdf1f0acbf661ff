"""Compress the pages of researchers: the results of a project are eleven times as large without it."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

# Images and archives are compressed already. The API says ETags, which a compressed response would weaken.
_TEXTS = ("text/html", "image/svg+xml")


class CompressTextsMiddleware(GZipMiddleware):
    """Compress whole responses of text, with Django's padding of random length against BREACH.

    Exports stream as they are: they are read once, and often by programs.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming or not response.headers.get("Content-Type", "").startswith(_TEXTS):
            return response
        return super().process_response(request, response)
