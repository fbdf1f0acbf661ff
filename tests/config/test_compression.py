"""What is compressed: pages, and nothing that is compressed already or has an ETag that is compared."""

import gzip

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import Client, RequestFactory
from django.urls import reverse

from config.compression import CompressTextsMiddleware
from tests.factories import make_member, make_project
from tests.pages import signed_in

GZIP = {"Accept-Encoding": "gzip, br"}


@pytest.mark.django_db
def test_a_page_is_compressed_for_a_browser_that_accepts_it_and_says_so_to_caches() -> None:
    browser: Client = signed_in(make_member(make_project("birds"), "owner"))
    whole, packed = browser.get(reverse("home")), browser.get(reverse("home"), headers=GZIP)
    assert "Content-Encoding" not in whole.headers
    assert packed["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed["Vary"]
    assert b"<h1" in whole.content
    assert b"<h1" in gzip.decompress(packed.content)
    assert len(packed.content) < len(whole.content) / 2


@pytest.mark.parametrize(
    "response",
    [
        HttpResponse(b"x" * 1000, content_type="image/jpeg"),
        HttpResponse(b"x" * 1000, content_type="application/json"),
        StreamingHttpResponse([b"x" * 1000], content_type="text/html"),
    ],
    ids=["image", "API", "stream"],
)
def test_other_responses_stay_as_they_are(response: HttpResponseBase) -> None:
    request = RequestFactory().get("/", headers=GZIP)
    answered = CompressTextsMiddleware(lambda request: response).process_response(request, response)
    assert "Content-Encoding" not in answered.headers
