import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.models import Response
from results.models import Pseudonym
from studies.models import Instance, InstanceImage, Project
from tests.databases import kept
from tests.factories import draw_image, make_instance, make_person, make_project
from tests.removing import exclude, withdraw
from tests.results.pipelines import BASELINE, STEP_3, STEP_4, by_key, open_study, project_of, sit_through
from tests.studies.test_naming import BAD_KEYS, GOOD_KEYS

LIST = "/projects/vases/instances/"


def make_pipeline() -> str:
    """Make a project: step 4 keeps vase-0 and drops vase-1, and step 3 waits for answers to vase-2 and vase-3."""
    step_3 = open_study(project_of(make_person("researcher")), STEP_3)
    sit_through(step_3, "ann", by_key(vase_0="candidate-0", vase_1="candidate-1"))
    step_4 = open_study(step_3.project, STEP_4)
    sit_through(step_4, "ben", by_key(vase_0="original", vase_1="both"))
    return step_3.project.slug


made = kept(make_pipeline)


@pytest.fixture
def project(made: str) -> Project:
    return Project.objects.get(slug=made)


@pytest.fixture
def client(project: Project) -> Client:
    client = Client()
    client.force_login(User.objects.get(username="researcher"))
    return client


def listed(client: Client, **query: str) -> list[str]:
    return [line.instance.key for line in client.get(LIST, query).context["lines"].object_list]


@pytest.mark.both
@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ({}, ["vase-0", "vase-1", "vase-2", "vase-3"]),
        ({"type": "swap"}, ["vase-2", "vase-3"]),
        ({"type": "swap", "subtype": "obj"}, []),
        ({"study": "step-4"}, ["vase-0", "vase-1"]),
        ({"state": "accepted"}, ["vase-0"]),
        ({"state": "accepted", "study": "step-3"}, ["vase-0", "vase-1"]),
        ({"state": "rejected"}, ["vase-1"]),
        ({"state": "rejected", "study": "step-3"}, []),
        ({"state": "none-yet"}, ["vase-2", "vase-3"]),
        ({"state": "not-asked"}, []),
        ({"state": "not-asked", "study": "step-4"}, ["vase-2", "vase-3"]),
        ({"words": "VASE-2"}, ["vase-2"]),
        ({"words": "a map, vase-1"}, ["vase-1"]),
        ({"words": "caption"}, []),
        ({"words": "a\0b"}, []),
        ({"study": "no-such-study"}, []),
        ({"page": "nonsense"}, ["vase-0", "vase-1", "vase-2", "vase-3"]),
    ],
)
def test_the_list_is_narrowed(client: Client, query: dict[str, str], keys: list[str]) -> None:
    assert listed(client, **query) == keys


@pytest.mark.both
def test_a_caption_is_found_in_any_alphabet(client: Client, project: Project) -> None:
    make_instance(project, "cat", captions={"note": "Рыжая кошка спит."}, source_row=9)
    assert listed(client, words="кошка") == ["cat"]


def test_each_line_says_where_its_instance_stands(client: Client, project: Project) -> None:
    lines = client.get(LIST).context["lines"].object_list
    assert [[(each.study.slug, each.outcome) for each in line.standings] for line in lines] == [
        [("step-3", "accepted"), ("step-4", "accepted")],
        [("step-3", "accepted"), ("step-4", "rejected")],
        [("step-3", "none yet")],
        [("step-3", "none yet")],
    ]


def test_pages_keep_the_filter(client: Client, project: Project) -> None:
    for number in range(30):
        make_instance(project, f"late-{number}", source_row=100 + number)
    page = client.get(LIST, {"state": "not-asked"}).content.decode()
    assert 'href="?state=not-asked&amp;page=2"' in page
    assert len(listed(client, state="not-asked", page="2")) == 10


def test_more_instances_take_no_more_queries(
    client: Client, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    # Session, user, project; studies, who is simulated, categories, count, page, images, decisions.
    with django_assert_num_queries(10):
        client.get(LIST)
    for number in range(10):
        make_instance(project, f"late-{number}")
    with django_assert_num_queries(10):
        client.get(LIST)


def page_of(client: Client, key: str) -> str:
    return " ".join(client.get(f"{LIST}{key}/").content.decode().split())


def test_the_page_of_an_instance_says_which_answers_moved_it_where(client: Client, project: Project) -> None:
    page = page_of(client, "vase-1")
    ann, ben = (Pseudonym.objects.get(annotator__provider_id=person).name for person in ("ann", "ben"))
    way = page[page.index('<ol class="path"') : page.index("</ol>", page.index('<ol class="path"'))]
    assert "accepted</span> candidate-1" in way
    assert way.index(ann) < way.index("rejected") < way.index(ben)
    answer = Response.objects.get(annotator__provider_id="ann", question__instance__key="vase-1")
    assert f"{answer.shown_order.index('candidate-1') + 1} of 5" in page
    assert "always last" in page
    assert "4.2 s" in page
    assert "Rule unambiguous-v1, 1 of 1 answer (both 1)." in page


def test_the_page_of_an_instance_shows_what_was_imported(client: Client, project: Project) -> None:
    Instance.objects.filter(key="vase-0").update(original_captions={"caption": "a VASE"}, caption_rule="some-rule-v1")
    page = page_of(client, "vase-0")
    assert "row 1 of vases.csv" in page
    assert "before some-rule-v1: a VASE" in page
    assert "no licence given" in page
    assert page.count("/full") >= 5


def described_set(project: Project) -> None:
    """Store a set of ten pictures with two descriptions, one of which a companion file speaks of."""
    instance = make_instance(project, "kitchen", source_row=9)
    instance.images.all().delete()
    for place in range(10):
        image = draw_image(place)
        InstanceImage.objects.create(
            instance=instance, role="set", position=place, filename=f"kitchen/#{place}of10", image=image, licence="MIT"
        )
    instance.captions = {"description_1": "A cup.", "description_2": "Two cups."}
    instance.reference = {
        "targets": [4, 0],
        "noted": {"4": {"author": "unseen_worker", "tags": [], "looked_for": ["con"]}},
    }
    instance.save()


def test_an_image_set_is_shown_whole_with_what_the_import_knew_of_its_descriptions(
    client: Client, project: Project
) -> None:
    described_set(project)
    page = page_of(client, "kitchen")
    assert [f"<strong>set-{place}</strong>" in page for place in range(10)] == [True] * 10
    assert "about set-4 · unseen worker · phenomena: none" in page
    assert "about set-0</span>" in page
    # What is the same for all ten is said once.
    assert page.count("MIT") == 1
    InstanceImage.objects.filter(role="set", position=3).update(licence="CC0")
    again = page_of(client, "kitchen")
    assert (again.count("MIT"), again.count("CC0")) == (9, 1)


def test_the_list_shows_the_first_images_of_a_set_and_says_how_many_more_there_are(
    client: Client, project: Project
) -> None:
    described_set(project)
    page = client.get(LIST, {"words": "kitchen"}).content.decode()
    assert page.count('alt="set"') == 5
    assert "and 5 more" in page


def test_answers_that_do_not_count_are_told_apart(client: Client, project: Project) -> None:
    Response.objects.filter(annotator__provider_id="ann").update(slot=None)
    Response.objects.filter(annotator__provider_id="ben").update(is_current=False)
    page = page_of(client, "vase-0")
    assert page.count("its place had gone to somebody else, not counted") == 1
    assert page.count("changed later") == 1


def test_an_answer_of_somebody_who_withdrew_is_not_shown_and_of_somebody_excluded_is_marked(
    client: Client, project: Project
) -> None:
    exclude(project, "ann")
    assert page_of(client, "vase-0").count("excluded, not counted") == 1
    withdraw(Project.objects.get(), "ann")
    page = page_of(client, "vase-0")
    assert "excluded, not counted" not in page
    assert "withdrawn, not counted" not in page
    assert Pseudonym.objects.get(annotator__provider_id="ann").name not in page


def test_the_way_of_an_instance_counts_its_right_answers(client: Client, project: Project) -> None:
    baseline = open_study(project, BASELINE)
    sit_through(baseline, "dora", lambda question: "caption" if question.kind == "image_to_text" else question.right)
    assert "3 of 4 right" in page_of(client, "vase-0")


@pytest.mark.both
def test_a_key_with_a_slash_has_a_page(client: Client, project: Project) -> None:
    make_instance(project, "train/1 ü")
    assert client.get(LIST, {"words": "train/"}).content.decode().count("train/1%20%C3%BC/") == 1
    assert "train/1 ü" in page_of(client, "train/1 ü")


@pytest.mark.both
@pytest.mark.parametrize("key", GOOD_KEYS)
def test_every_key_that_is_let_in_has_a_page(key: str, client: Client, project: Project) -> None:
    instance = make_instance(project, key)
    address = reverse("instance", args=[project.slug, instance.name_in_address])
    assert address.startswith(LIST)
    assert "by-id" not in address
    assert client.get(address).context["instance"] == instance


@pytest.mark.both
@pytest.mark.parametrize("key", [key for key, _ in BAD_KEYS if key and len(key) <= 200 and "\ud800" not in key])
def test_a_key_that_an_older_version_let_in_has_one_too(key: str, client: Client, project: Project) -> None:
    instance = make_instance(project, key)
    page = client.get(LIST, {"type": instance.type}).content.decode()
    address = f"{LIST}by-id/{instance.pk}/"
    assert address in page
    assert client.get(address).context["instance"] == instance


def test_a_key_that_looks_like_an_id_is_not_taken_for_one(client: Client, project: Project) -> None:
    other = Instance.objects.get(key="vase-0")
    instance = make_instance(project, f"by-id/{other.pk}")
    address = reverse("instance", args=[project.slug, instance.name_in_address])
    assert client.get(address).context["instance"] == instance


@pytest.mark.both
def test_an_instance_of_another_project_is_not_found(client: Client, project: Project) -> None:
    instance = make_instance(make_project("maps"), "elsewhere")
    assert client.get(f"{LIST}elsewhere/").status_code == 404
    assert client.get(f"{LIST}by-id/{instance.pk}/").status_code == 404
    assert client.get(f"{LIST}by-id/{10**30}/").status_code == 404


def test_more_answers_take_no_more_queries(
    client: Client, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    key = "vase-0"
    client.get(f"{LIST}{key}/")
    # Session, user, project; names to give, instance, studies, questions, responses, names,
    # images, who is simulated.
    with django_assert_num_queries(11):
        client.get(f"{LIST}{key}/")
    sit_through(open_study(project, STEP_3 | {"study": "again"}), "cleo", "none")
    client.get(f"{LIST}{key}/")
    with django_assert_num_queries(11):
        client.get(f"{LIST}{key}/")
