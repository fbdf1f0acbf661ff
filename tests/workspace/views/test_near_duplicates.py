"""The page of near duplicates: both sides of what somebody may see, and of the rest only that there is something."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from predictions.actions.duplicates import embedding_in_use, look_for_new
from predictions.models import NearDuplicate
from studies.models import Project
from tests.factories import NOON, make_member, make_project
from tests.jobs import run_now
from tests.pages import signed_in, words_of
from tests.predictions.near import put, saved

pytestmark = pytest.mark.django_db
PAGE = "/projects/birds/near-duplicates/"
HIDDEN = "An image of a project that you may not see."


@pytest.fixture
def birds() -> Project:
    return make_project("birds")


@pytest.fixture
def client(birds: Project) -> Client:
    return signed_in(make_member(birds, "viewer"))


def look() -> None:
    for job in look_for_new(now=NOON):
        run_now(job, now=NOON)


def text_of(client: Client, page: str = PAGE) -> str:
    return words_of(client.get(page))


def test_a_project_without_any_says_so(client: Client) -> None:
    assert "None found." in text_of(client)
    assert "nearly the same" not in text_of(client, "/projects/birds/")
    assert f'<a href="{PAGE}">Near duplicates</a>' in text_of(client, "/projects/birds/instances/")


def test_two_pictures_of_the_project_stand_side_by_side(client: Client, birds: Project) -> None:
    put(birds, "first", saved(1))
    put(birds, "again", saved(1, quality=40))
    look()
    text = text_of(client)
    assert text.count("<figure>") == 2
    for key in ("first", "again"):
        assert f'<a href="/projects/birds/instances/{key}/">{key}</a>' in text
    for page in ("/projects/birds/", "/projects/birds/imports/"):
        told = text_of(client, page)
        assert "1 pair of near-duplicate images" in told
        assert f'href="{PAGE}"' in told


def test_of_a_project_that_somebody_may_not_see_only_that_there_is_something_is_told(
    client: Client, birds: Project
) -> None:
    put(birds, "mine", saved(1))
    secret = put(make_project("secret-fish"), "secret-key", saved(1, quality=40)).images.get()
    look()
    text = text_of(client)
    assert (text.count("<figure>"), HIDDEN in text) == (1, True)
    for told in ("ecret", str(secret.image_id), secret.filename):
        assert told not in text


def test_of_a_project_that_somebody_may_see_the_other_side_is_shown_with_its_project(birds: Project) -> None:
    put(birds, "mine", saved(1))
    fish = make_project("fish")
    put(fish, "theirs", saved(1, quality=40))
    look()
    member = make_member(birds, "editor")
    fish.memberships.create(user=member, role="viewer")
    client = signed_in(member)
    text = text_of(client)
    assert (text.count("<figure>"), HIDDEN in text) == (2, False)
    assert "in Fish" in text
    # From the other project the same pair is seen the other way round.
    other = text_of(client, "/projects/fish/near-duplicates/")
    assert other.index("theirs</a>") < other.index("mine</a>")


def test_a_picture_of_a_known_test_set_is_named(client: Client, birds: Project) -> None:
    image = put(birds, "mine", saved(1)).images.get().image
    assert image is not None
    NearDuplicate.objects.create(image=image, known="coco: 139.jpg", embedding=embedding_in_use(), distance=0.001)
    text = text_of(client)
    assert "An image of a known test set: <strong>coco: 139.jpg</strong>" in text
    assert HIDDEN not in text


def test_a_pair_one_of_which_stands_nowhere_any_more_is_not_told(client: Client, birds: Project) -> None:
    put(birds, "mine", saved(1))
    gone = put(birds, "gone", saved(1, quality=40))
    look()
    gone.delete()
    assert "None found." in text_of(client)


def test_while_it_is_being_looked_for_the_page_says_how_far(client: Client, birds: Project) -> None:
    put(birds, "mine", saved(1))
    (job,) = look_for_new(now=NOON)
    job.done, job.total = 1200, 3000
    job.save()
    assert "Searching: 1,200 of 3,000 images." in text_of(client)


def test_twice_as_many_pairs_ask_no_more_queries(client: Client, birds: Project) -> None:
    def queries(page: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            client.get(page)
        return len(asked)

    def add(first: int, end: int) -> None:
        for number in range(first, end):
            put(birds, f"first-{number}", saved(number))
            put(birds, f"again-{number}", saved(number, quality=40))
        look()

    add(0, 2)
    queries(PAGE)
    before = queries(PAGE), queries("/projects/birds/")
    add(2, 4)
    assert (queries(PAGE), queries("/projects/birds/")) == before
