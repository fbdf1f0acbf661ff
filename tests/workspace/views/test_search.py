import pytest
from bs4 import BeautifulSoup
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from studies.models import Instance, Project, Study, StudyState
from tests.factories import NOON, make_launched, make_member, make_person, make_project, make_study, questions, sit_down
from tests.pages import hidden_fields, signed_in, words_of
from workspace.views import search


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("BIRDS-step", "/studies/birds/birds-step-3/"),
        ("birds", "/projects/birds/"),
        ("activ", "/projects/birds/events/"),
        ("minimum wage", "/help/#minimum-pay"),
        ("pay floor", "/help/#minimum-pay"),
        ("dark", "/help/#display"),
    ],
    ids=["study", "project", "page", "minimum wage", "pay floor", "dark mode"],
)
def test_search_finds_studies_projects_and_pages(client: Client, study: Study, words: str, address: str) -> None:
    assert f'href="{address}"' in words_of(client.get("/search/", {"q": words}))


def test_search_finds_instances_by_key(client: Client, study: Study) -> None:
    key = questions(study)[0].instance.key
    assert f">{key}</a>" in words_of(client.get("/search/", {"q": key}))


@pytest.mark.parametrize("words", ["", "birds", "<script>", "nothing at all"])
def test_strangers_find_nothing(study: Study, words: str) -> None:
    page = words_of(signed_in(make_person("stranger")).get("/search/", {"q": words}))
    assert "/studies/birds/" not in page
    assert "/projects/birds/" not in page
    assert "<script>" not in page.partition("<main")[2]


def test_whoever_is_signed_out_signs_in_first(client: Client, study: Study) -> None:
    assert Client().get("/search/?q=birds").status_code == 302


def test_search_finds_people_by_pseudonym(client: Client, study: Study) -> None:
    sit_down(study, "one")
    name_annotators(project=study.project)
    name = Pseudonym.objects.get().name
    for words in (name, name.lower()[2:]):
        page = words_of(client.get("/search/", {"q": words}))
        assert f'<a href="/projects/birds/people/{name}/">{name}</a>' in page
    assert "/people/" not in words_of(signed_in(make_person("stranger")).get("/search/", {"q": name}))


def test_search_finds_instances_by_words_of_their_captions(client: Client, study: Study) -> None:
    instance = questions(study)[0].instance
    Instance.objects.filter(pk=instance.pk).update(captions={"a": "A tree", "b": "A red Mushroom under a tree"})
    page = words_of(client.get("/search/", {"q": "mushroom"}))
    assert f'/projects/birds/instances/{instance.key}/">{instance.key}</a>' in page
    assert "A red Mushroom under a tree" in page
    stranger = signed_in(make_person("stranger"))
    assert "A red Mushroom" not in words_of(stranger.get("/search/", {"q": "mushroom"}))


def test_many_captions_lead_to_the_filtered_list(client: Client, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    Instance.objects.update(captions={"a": "A red mushroom"})
    monkeypatch.setattr(search, "MOST_SHOWN", 2)
    page = words_of(client.get("/search/", {"q": "red mush"}))
    assert '<a href="/projects/birds/instances/?words=red+mush">All instances with “red mush”</a>' in page


def test_captions_of_large_projects_are_not_read_but_linked(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    Instance.objects.update(captions={"a": "A red mushroom"})
    monkeypatch.setattr(search, "MOST_READ", 3)
    page = words_of(client.get("/search/", {"q": "mushroom"}))
    assert '<a href="/projects/birds/instances/?words=mushroom">Instances with “mushroom”</a>' in page
    assert "captions of small projects" in page
    assert "A red mushroom" not in page


def test_search_leads_from_an_outcome_to_its_instances(client: Client, study: Study) -> None:
    page = words_of(client.get("/search/", {"q": "conflicting"}))
    assert '<a href="/projects/birds/instances/?state=conflicting">Conflicting</a>' in page


def test_search_says_what_it_reads_when_it_finds_nothing(client: Client, study: Study) -> None:
    page = words_of(client.get("/search/", {"q": "zzzz"}))
    assert "This search covers pages, actions, projects, studies, outcomes, pseudonyms, keys and captions." in page


PROJECT = "/projects/birds/"
STUDY = "/studies/birds/birds-step-3/"


def found_by(browser: Client, words: str, **here: str) -> list[str]:
    """Return the addresses that the search leads to, in order."""
    page = BeautifulSoup(browser.get("/search/", {"q": words, **here}).content, "html.parser")
    assert page.main
    return [str(link["href"]) for link in page.main.select("li a")]


@pytest.fixture
def owner(study: Study) -> Client:
    return signed_in(make_member(study.project, "owner"))


def test_every_page_of_the_rail_and_the_tabs_is_found_by_its_own_name(owner: Client) -> None:
    names = set[tuple[str, str]]()
    for address in (PROJECT, STUDY, f"{PROJECT}members/"):
        page = BeautifulSoup(owner.get(address).content, "html.parser")
        # Studies of the rail are found by their names, not among the pages.
        links = page.select(".rail > ul > li > a, nav.tabs a, .bar-help, .bar .menu a")
        names |= {(str(link["href"]), link.get_text(strip=True)) for link in links}
    assert len(names) == 11 + 10 + 6 + 3
    here = {"project": "birds", "study": "birds-step-3"}
    for address, name in names:
        assert address in found_by(owner, name, **here), name


@pytest.mark.parametrize(
    ("words", "addresses"),
    [
        ("kappa", [f"{PROJECT}results/#section-agreement", f"{STUDY}results/"]),
        ("download", [f"{STUDY}exports/", f"{PROJECT}releases/"]),
        ("pay", [f"{STUDY}owed/", f"{STUDY}recruit/", f"{PROJECT}people/"]),
        ("exclude someone", [f"{PROJECT}people/"]),
        ("invite a colleague", [f"{PROJECT}members/#invite"]),
        ("settings", [f"{PROJECT}members/", f"{PROJECT}groups/", f"{PROJECT}webhooks/", f"{PROJECT}delete/"]),
        ("start a new project", ["/new-project/"]),
        ("add a study", [f"{PROJECT}new-study/"]),
        ("upload", [f"{PROJECT}imports/new/", f"{PROJECT}imports/"]),
        ("new release", [f"{STUDY}releases/#new-release"]),
        ("run models", [f"{PROJECT}models/#ask", f"{PROJECT}models/"]),
        ("pause birds-step-3", [f"{STUDY}pause/"]),
        ("clone", [f"{STUDY}duplicate/"]),
        ("end the study", [f"{STUDY}close/"]),
        ("log out", ["/account/#browsers"]),
        ("lost instances", [f"{PROJECT}instances/?state=lost"]),
        ("duplicates", [f"{PROJECT}near-duplicates/"]),
        ("jobs", [f"{PROJECT}imports/", f"{PROJECT}models/", f"{STUDY}exports/"]),
        ("openapi", ["/api/docs/"]),
    ],
)
def test_usual_words_find_pages_and_actions(owner: Client, words: str, addresses: list[str]) -> None:
    found = found_by(owner, words, project="birds", study="birds-step-3")
    assert [each for each in addresses if each not in found] == []


def test_an_action_that_changes_something_leads_to_its_confirmation(client: Client, study: Study) -> None:
    (address,) = [each for each in found_by(client, "pause") if each.endswith("/pause/")]
    assert client.get(address).status_code == 200
    assert Study.objects.get().state == StudyState.OPEN


@pytest.mark.parametrize(
    ("fields", "there", "not_there"),
    [
        ({"state": StudyState.OPEN}, {"pause", "close", "more"}, {"resume", "launch"}),
        ({"state": StudyState.PAUSED}, {"resume", "close", "more"}, {"pause", "launch"}),
        ({"state": StudyState.CLOSED, "closed_at": NOON}, {"duplicate"}, {"pause", "resume", "close", "launch"}),
        (
            {"state": StudyState.DRAFT, "launched_at": None},
            {"launch", "delete", "practice"},
            {"pause", "results", "exports"},
        ),
    ],
    ids=["open", "paused", "closed", "draft"],
)
def test_the_search_finds_the_actions_of_the_state_of_a_study(
    client: Client, study: Study, fields: dict[str, object], there: set[str], not_there: set[str]
) -> None:
    Study.objects.update(**fields)
    wanted = there | not_there
    words = {"more": "add questions"}
    found = {each for each in wanted if f"{STUDY}{each}/" in found_by(client, f"{words.get(each, each)} birds-step-3")}
    assert found == there


def test_members_find_what_their_role_allows(study: Study) -> None:
    viewer, editor = (signed_in(make_member(study.project, role)) for role in ("viewer", "editor"))
    of_editors = {"pause": f"{STUDY}pause/", "recruit": f"{STUDY}recruit/", "new study": f"{PROJECT}new-study/"}
    of_owners = {"groups": f"{PROJECT}groups/", "invite": f"{PROJECT}members/#invite"}
    for words, address in of_editors.items():
        assert address in found_by(editor, words)
        assert address not in found_by(viewer, words)
    for words, address in of_owners.items():
        assert address not in found_by(editor, words)
    assert f"{STUDY}results/" in found_by(viewer, "results")


def test_help_says_the_minimum_pay_and_how_pages_get_dark(owner: Client) -> None:
    page = words_of(owner.get("/help/"))
    assert '<dt id="minimum-pay">Minimum pay</dt> <dd>USD 8.00 an hour on this site.' in page
    assert "Pages are light or dark, as your system or browser is set." in page


def test_an_archived_project_offers_no_changes(owner: Client) -> None:
    assert f"{PROJECT}new-study/" in found_by(owner, "new study")
    Project.objects.update(archived_at=NOON)
    assert f"{PROJECT}new-study/" not in found_by(owner, "new study")
    assert f"{PROJECT}members/#archive" in found_by(owner, "restore")


def test_strangers_find_no_pages_of_projects(study: Study) -> None:
    stranger = signed_in(make_person("stranger"))
    for words in ("results", "pause", "instances", "birds results"):
        found = found_by(stranger, words, project="birds", study="birds-step-3")
        assert [each for each in found if "birds" in each] == []


def test_what_is_here_is_found_first(client: Client, study: Study) -> None:
    other = make_project("apples", members=list(study.project.members.all()))
    assert found_by(client, "activity", project=other.slug)[0] == "/projects/apples/events/"
    assert found_by(client, "activity", project="birds")[0] == f"{PROJECT}events/"
    page = BeautifulSoup(client.get(f"{STUDY}design/").content, "html.parser")
    form = page.select_one('form[role="search"]')
    assert form
    assert hidden_fields(form) == {"project": "birds", "study": "birds-step-3"}


def test_htmx_gets_options_for_the_field(client: Client, study: Study) -> None:
    response = client.get("/search/", {"q": "activity"}, headers={"HX-Request": "true"})
    options = BeautifulSoup(response.content, "html.parser").select('a[role="option"]')
    assert [(each["href"], each.find(string=True, recursive=False)) for each in options] == [
        (f"{PROJECT}events/", "Activity "),
        ("/search/?q=activity", "All results for “activity”"),
    ]
    assert len({each["id"] for each in options}) == 2


def test_many_studies_take_no_more_queries(
    client: Client, study: Study, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(12):
        make_launched(make_study(study.project, f"copy-{number}"))
    with django_assert_max_num_queries(14):
        assert len({each for each in found_by(client, "exports copy") if each.endswith("/exports/")}) == 12
