import hashlib
import re
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.test import Client
from django.utils import timezone
from PIL import Image as Pillow
from pytest_django import DjangoAssertNumQueries

from annotation.models import Session
from studies.actions.images import check_and_store, original_name, rendition_name
from studies.importing.pictures import SIZES
from studies.models import Image, InstanceImage, Membership, Study
from studies.picture_handles import handle_of
from tests.factories import draw_image, draw_instance, make_person, make_project, sit_down
from tests.pages import signed_in
from tests.studies.source_files import picture_bytes

pytestmark = pytest.mark.django_db
TEMPLATES = Path(__file__).resolve().parents[3] / "templates"
FOR_EVER = "public, max-age=31536000, immutable"


def store(data: bytes) -> str:
    sha256, facts = check_and_store(data, keep=True, on_write=lambda name: None)
    Image.objects.create(
        sha256=sha256, width=facts.width, height=facts.height, format=facts.format, byte_size=len(data)
    )
    return sha256


@pytest.fixture
def sha256() -> str:
    return store(picture_bytes(size=(1200, 600)))


@pytest.mark.parametrize(("size", "shown"), [("card", (400, 200)), ("view", (1024, 512)), ("full", (1200, 600))])
def test_a_picture_is_served_in_the_size_asked_for(
    size: str, shown: tuple[int, int], client: Client, sha256: str
) -> None:
    response = client.get(f"/images/{handle_of(sha256, study=1)}/{size}")
    assert response.status_code == 200
    with Pillow.open(BytesIO(response.content)) as picture:
        assert (picture.format, picture.size) == ("WEBP", shown)


def test_it_may_be_kept_for_ever_and_costs_no_query(
    client: Client, sha256: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    address = f"/images/{handle_of(sha256, study=1)}/view"
    with django_assert_num_queries(0):
        response = client.get(address, headers={"Accept-Language": "es"})
    assert response["Content-Type"] == "image/webp"
    assert response["Cache-Control"] == FOR_EVER
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Disposition"] == "inline"
    assert int(response["Content-Length"]) == len(response.content)
    # With Vary, a cache would keep it once for every wording of a header.
    assert not response.cookies
    assert not response.has_header("Vary")
    assert not response.has_header("Content-Language")
    # A retry gets the same picture, and a browser that has it is told so.
    assert client.get(f"{address}?try=2").content == response.content
    kept = {"if-none-match": response["ETag"]}
    again = client.get(address, headers=kept)
    assert (again.status_code, again["ETag"], again["Cache-Control"]) == (304, response["ETag"], FOR_EVER)
    assert client.get(f"/images/{handle_of(sha256, study=1)}/card", headers=kept).status_code == 200
    # Only reading is allowed.
    assert client.post(address).status_code == 405
    assert client.head(address).status_code == 200


def test_by_the_handle_of_another_study_it_is_the_same_picture(client: Client, sha256: str) -> None:
    response = client.get(f"/images/{handle_of(sha256, study=2)}/view")
    assert response.content == client.get(f"/images/{handle_of(sha256, study=1)}/view").content
    assert response["Cache-Control"] == FOR_EVER
    # Nothing that comes with it says which it is.
    assert sha256[:8] not in str(response.headers)


def test_a_small_picture_is_stored_once_for_all_sizes(client: Client) -> None:
    small = store(picture_bytes(size=(100, 80)))
    folder = Path(default_storage.path(rendition_name(small, "card"))).parent
    assert [file.name for file in folder.iterdir()] == ["card.webp"]
    bodies = {client.get(f"/images/{handle_of(small, study=1)}/{size}").content for size in ("card", "view", "full")}
    assert len(bodies) == 1


def test_a_missing_rendition_is_made_again(client: Client, sha256: str) -> None:
    first = client.get(f"/images/{handle_of(sha256, study=1)}/view").content
    default_storage.delete(rendition_name(sha256, "view"))
    assert client.get(f"/images/{handle_of(sha256, study=1)}/view").content == first
    assert default_storage.exists(rendition_name(sha256, "view"))


def test_an_original_that_is_gone_gets_a_sentence(client: Client, sha256: str) -> None:
    for name in (rendition_name(sha256, "view"), original_name(sha256)):
        default_storage.delete(name)
    response = client.get(f"/images/{handle_of(sha256, study=1)}/view")
    assert response.status_code == 404
    assert b"The file of this image is missing." in response.content


@pytest.mark.parametrize(
    "address",
    [
        *("{handle}/huge", "{sha256}/huge", "{sha256}/view", "{unknown}/view", "{handle}x/view", "{sha256}x/view"),
        *("{unsealed}/view", "..%5c..%5cetc/view", "%2e%2e/view"),
    ],
)
def test_an_unknown_picture_or_size_gets_a_sentence(address: str, client: Client, sha256: str) -> None:
    named = {
        "handle": handle_of(sha256, study=1),
        "sha256": sha256,
        "unknown": hashlib.sha256(b"x").hexdigest(),
        "unsealed": "A" * 70,
    }
    response = client.get(f"/images/{address.format(**named)}")
    assert response.status_code == 404
    assert response["Cache-Control"] == "no-store"
    assert response.content.startswith(b"There is no such ")


def test_a_file_of_the_storage_is_never_half_there(sha256: str) -> None:
    root = Path(settings.MEDIA_ROOT)
    assert not [path for path in root.rglob(".*") if path.is_file()]
    assert (root / original_name(sha256)).stat().st_mode & 0o044


@pytest.fixture
def held(study: Study) -> str:
    """A picture of the researcher's project, by its SHA-256."""
    uses = InstanceImage.objects.filter(instance__project=study.project, image__isnull=False)
    return str(uses.order_by("pk").values_list("image", flat=True)[0])


UNKNOWN = hashlib.sha256(b"x").hexdigest()


def answered(response: HttpResponseBase) -> tuple[int, dict[str, str], bytes]:
    assert isinstance(response, HttpResponse)
    return response.status_code, dict(response.headers), response.content


@pytest.mark.parametrize("size", SIZES)
def test_members_and_superusers_see_it_by_its_sha256(
    size: str, researcher: User, study: Study, held: str, client: Client
) -> None:
    for browser in (signed_in(researcher), signed_in(make_person("root", superuser=True))):
        response = browser.get(f"/images/{held}/{size}")
        assert (response.status_code, response["Content-Type"]) == (200, "image/webp")
        assert response["Cache-Control"] == "private, max-age=86400"
        # A browser that has it is told so, unless somebody else uses it now.
        kept = {"if-none-match": response["ETag"]}
        assert browser.get(f"/images/{held}/{size}", headers=kept).status_code == 304
        assert Client().get(f"/images/{held}/{size}", headers=kept).status_code == 404


def test_members_of_a_project_that_shares_the_picture_see_it_and_former_members_do_not(held: str) -> None:
    colleague = make_person("colleague")
    shared = make_project("shared", members=[colleague])
    assert signed_in(colleague).get(f"/images/{held}/card").status_code == 404
    InstanceImage.objects.create(instance=draw_instance(shared, 50), role="photo", filename="a.png", image_id=held)
    assert signed_in(colleague).get(f"/images/{held}/card").status_code == 200
    Membership.objects.filter(user=colleague).delete()
    assert signed_in(colleague).get(f"/images/{held}/card").status_code == 404


@pytest.mark.parametrize(
    "who", ["a stranger", "a researcher of another project", "one who was deactivated", "annotator"]
)
@pytest.mark.parametrize("size", [*SIZES, "huge"])
def test_everybody_else_gets_the_same_answer_for_every_sha256(
    who: str, size: str, study: Study, researcher: User, held: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser, headers = Client(), {}
    if who == "a researcher of another project":
        other = make_person("other")
        draw_instance(make_project("others", members=[other]), 90)
        browser = signed_in(other)
    elif who == "one who was deactivated":
        browser = signed_in(researcher)
        User.objects.update(is_active=False)
    elif who == "annotator":
        session = sit_down(study, "new", now=timezone.now())
        headers = {"referer": f"http://testserver/s/{session.token}/"}
    answers = [answered(browser.get(f"/images/{name}/{size}", headers=headers)) for name in (held, UNKNOWN)]
    assert answers[0] == answers[1]
    assert answers[0][0] == 404
    # Whoever is not signed in costs no query.
    with django_assert_num_queries(0):
        assert Client().get(f"/images/{held}/{size}").status_code == 404


def test_an_open_page_from_before_handles_keeps_its_pictures(study: Study) -> None:
    """Such pages call pictures by SHA-256; what a browser sends with each is the address of its page."""
    old = sit_down(study, "old", now=timezone.now() - timedelta(days=400))
    slots = list(old.seats.get().slots.order_by("position"))
    shown = slots[0].question.content["options"][0]["image"]
    page = {"referer": f"http://testserver/s/{old.token}/"}
    response = Client().get(f"/images/{shown}/view", headers=page)
    assert (response.status_code, response["Cache-Control"]) == (200, "private, max-age=86400")
    assert Client().get(f"/images/{UNKNOWN}/view", headers=page).status_code == 404
    assert Client().get(f"/images/{draw_image(77).sha256}/view", headers=page).status_code == 404
    no_such = ("http://testserver/s/no-such-token/", "http://testserver/take/x/")
    for referer in ("", *no_such, f"/s/{old.token}/", "http://["):
        assert Client().get(f"/images/{shown}/view", headers={"referer": referer}).status_code == 404
    Session.objects.filter(pk=old.pk).update(state="finished", ended_at=timezone.now())
    assert Client().get(f"/images/{shown}/view", headers=page).status_code == 404


def test_every_size_that_a_page_shows_is_there() -> None:
    """Otherwise its pictures are missing on that page, and nothing else says so."""
    written = (path.read_text(encoding="utf-8") for path in TEMPLATES.rglob("*.html"))
    shown = {size for text in written for size in re.findall(r"{% url 'image' \S+ '(\w+)'", text)}
    assert shown
    assert shown <= set(SIZES)
