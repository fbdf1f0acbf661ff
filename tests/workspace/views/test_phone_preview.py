"""The preview stands in a frame as large as a phone, and in no frame of another site."""

import pytest
from django.test import Client

from tests.factories import create_draft, make_member

pytestmark = pytest.mark.django_db


def test_only_the_preview_may_stand_in_a_frame_and_only_of_this_site(client: Client) -> None:
    draft = create_draft(instances=1)
    client.force_login(make_member(draft.project, "viewer"))
    around = client.get("/studies/vases/best-vase/preview/phone/")
    assert 'src="/studies/vases/best-vase/preview/"' in around.content.decode()
    inside = client.get("/studies/vases/best-vase/preview/")
    assert inside["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in inside["Content-Security-Policy"]
    assert around["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in around["Content-Security-Policy"]
