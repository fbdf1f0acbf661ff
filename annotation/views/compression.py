"""Compress annotators' pages: uncompressed, a page of questions is five times as large.

Compressing secrets is unsafe if an attacker can have a browser request a page repeatedly with text of their own next to
the secret (BREACH). The only secret in these pages is the session token, which is in their address: whoever can cause
requests to it knows it already, and no cookie adds content.
"""

import zlib

from django.http import HttpRequest
from django.http.response import HttpResponse
from django.utils.cache import patch_vary_headers

# Smaller responses consist mostly of headers.
LEAST_BYTES = 500
# Sized for a page of questions: allocating the largest window would take longer than compressing. The usual level, 6,
# takes twice as long for 7 % fewer bytes.
_LEVEL, _GZIP, _WINDOW_BITS, _MEMORY = 3, 16, 13, 6


def compress(request: HttpRequest, response: HttpResponse) -> None:
    """Compress `response` if the browser accepts gzip."""
    if len(response.content) < LEAST_BYTES or response.has_header("Content-Encoding"):
        return
    patch_vary_headers(response, ("Accept-Encoding",))
    if "gzip" not in request.META.get("HTTP_ACCEPT_ENCODING", ""):
        return
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP + _WINDOW_BITS, _MEMORY)
    response.content = packer.compress(response.content) + packer.flush()
    response["Content-Encoding"] = "gzip"
