"""Compresses what annotators get: a page of questions is five times its size otherwise, on the line of a phone.

What makes compressing secrets unsafe elsewhere (BREACH) needs somebody who has a browser ask for the page again and
again with text of their own beside the secret. The one secret in these pages is the token of the session, which is in
their address: whoever can have them asked for knows it already, and no cookie brings anything into them.
"""

import zlib

from django.http import HttpRequest
from django.http.response import HttpResponse
from django.utils.cache import patch_vary_headers

# Below it the headers are most of what travels.
LEAST_BYTES = 500
# As a whole page of questions needs it: making room for the largest window would take longer than compressing.
_LEVEL, _GZIP, _WINDOW_BITS, _MEMORY = 6, 16, 13, 6


def compress(request: HttpRequest, response: HttpResponse) -> None:
    """Compress `response` where the browser can read it then."""
    if len(response.content) < LEAST_BYTES or response.has_header("Content-Encoding"):
        return
    patch_vary_headers(response, ("Accept-Encoding",))
    if "gzip" not in request.META.get("HTTP_ACCEPT_ENCODING", ""):
        return
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP + _WINDOW_BITS, _MEMORY)
    response.content = packer.compress(response.content) + packer.flush()
    response["Content-Encoding"] = "gzip"
