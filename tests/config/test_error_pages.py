"""The pages for what went wrong need nothing of the request, not even a database."""

import pytest
from django.template.loader import render_to_string


@pytest.mark.parametrize("status", [400, 403, 404, 500])
def test_an_error_page_says_what_happened_and_what_to_do(status: int) -> None:
    html = render_to_string(f"{status}.html")
    assert '<html lang="en">' in html
    assert html.count("<h1>") == 1
    assert '<p class="lead">' in html
