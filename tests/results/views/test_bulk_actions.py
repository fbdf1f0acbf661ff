"""What is done with several instances: tagged, exported, asked about again; those ticked, or all that match."""

import json
import re
from html import escape, unescape
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.test import Client

from background.models import Job
from results.actions.exports import download_name, job_of, request_export
from results.models import Export
from studies.models import Event, Instance, Project, Study, Tag
from tests.databases import kept
from tests.factories import NOON, make_instance, make_member, make_project
from tests.jobs import run_now
from tests.pages import signed_in, words_of
from tests.results.pipelines import make_pipeline
from tests.results.views.test_instances import LIST, listed

CHOSEN = "/projects/vases/chosen"
made = kept(make_pipeline)


@pytest.fixture
def client(project: Project) -> Client:
    return signed_in(User.objects.get(username="researcher"))


def address(what: str, *keys: str, **query: str) -> str:
    picks = [("pick", str(Instance.objects.get(key=key).pk)) for key in keys]
    return f"{CHOSEN}/{what}/?{urlencode([*picks, *query.items()])}"


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The jobs that are sent."""
    caught: list[Job] = []
    monkeypatch.setattr("results.views.bulk_actions.send", caught.append)
    return caught


def test_those_that_are_ticked_get_a_tag_and_are_found_by_it(client: Client) -> None:
    assert "Tag 2 instances" in words_of(client.get(address("tag", "vase-0", "vase-3")))
    sent = client.post(address("tag", "vase-0", "vase-3", type="swap"), {"name": " look again ", "do": "tag"})
    # Back to the list as it was.
    assert sent["Location"] == f"{LIST}?type=swap"
    assert "Tag look again added to 2 instances." in words_of(client.get(sent["Location"]))
    assert listed(client, tag="look again") == ["vase-0", "vase-3"]
    assert listed(client, tag="look again", type="swap") == ["vase-3"]
    event = Event.objects.get(what="instances tagged")
    assert event.details == {"tag": "look again", "instances": 2}
    # Who has it already does not get it again.
    client.post(address("tag", "vase-0", "vase-1"), {"name": "look again", "do": "tag"})
    assert listed(client, tag="look again") == ["vase-0", "vase-1", "vase-3"]
    assert Event.objects.filter(what="instances tagged").latest("pk").details["instances"] == 1


def test_from_the_page_of_an_instance_the_way_leads_back_there(client: Client) -> None:
    page = f"{LIST}vase-1/"
    here = address("tag", "vase-1", **{"from": "instance"})
    assert f'href="{page}"' in client.get(here).content.decode()
    assert client.post(here, {"name": "odd one", "do": "tag"})["Location"] == page
    assert listed(client, tag="odd one") == ["vase-1"]


def test_a_tag_is_taken_off_and_goes_with_its_last_instance(client: Client) -> None:
    client.post(address("tag", "vase-0", "vase-3"), {"name": "strange", "do": "tag"})
    client.post(address("tag", "vase-0", "vase-1"), {"name": "strange", "do": "untag"})
    assert listed(client, tag="strange") == ["vase-3"]
    client.post(address("tag", which="all", tag="strange"), {"name": "strange", "do": "untag"})
    assert not Tag.objects.filter(name="strange").exists()
    assert Event.objects.filter(what="instances untagged").count() == 2
    refused = client.post(address("tag", "vase-0"), {"name": "strange", "do": "untag"})
    assert refused.status_code == 409
    assert "has the tag strange." in words_of(refused)


def test_who_may_only_look_is_offered_nothing_to_do(client: Client, project: Project) -> None:
    assert "Ask again…" in words_of(client.get(LIST))
    viewer = signed_in(make_member(project, "viewer"))
    page = words_of(viewer.get(LIST))
    assert "vase-0" in page
    assert "Ask again…" not in page
    assert "checkbox" not in page


def test_all_that_match_are_meant_and_no_more(client: Client) -> None:
    client.post(address("tag", which="all", study="step-3", state="accepted"), {"name": "good", "do": "tag"})
    assert listed(client, tag="good") == ["vase-0", "vase-1"]


@pytest.mark.usefixtures("jobs")
@pytest.mark.parametrize("what", ["tag", "export", "ask-again"])
def test_nothing_is_done_with_other_instances_than_the_page_was_about(
    client: Client, project: Project, what: str
) -> None:
    matching = address(what, which="all", type="swap")
    page = client.get(matching)
    (shown,) = re.findall(r'name="shown" value="(\w+)"', words_of(page))
    number = page.context["chosen"].count
    # As many, but others.
    Instance.objects.filter(pk=page.context["chosen"].ids[0]).update(type="add")
    make_instance(project, "late", type="swap")
    fields = {"name": "again", "do": "tag", "study": "step-3", "format": "jsonl"}
    before = Event.objects.count()
    refused = client.post(matching, {**fields, "shown": shown})
    assert (refused.status_code, Event.objects.count()) == (409, before)
    assert f"now {number} instances. Send again to use them." in words_of(refused)
    (now,) = re.findall(r'name="shown" value="(\w+)"', words_of(refused))
    assert client.post(matching, {**fields, "shown": now}).status_code == 302
    assert Event.objects.latest("pk").details["instances"] == number


@pytest.mark.parametrize(("name", "problem"), [("", "It is empty"), ("a\x07", "cannot be"), ("x" * 51, "at most 50")])
def test_what_is_no_name_of_a_tag_is_refused(client: Client, name: str, problem: str) -> None:
    refused = client.post(address("tag", "vase-0"), {"name": name, "do": "tag"})
    assert refused.status_code == 409
    assert problem in words_of(refused) or "control character" in words_of(refused)
    assert Tag.objects.get().name == "odd"


def test_instances_of_another_project_cannot_be_chosen(client: Client) -> None:
    elsewhere = make_instance(make_project("maps"), "elsewhere")
    assert "No instance is selected" in words_of(client.get(f"{CHOSEN}/tag/?pick={elsewhere.pk}"))
    assert client.post(f"{CHOSEN}/tag/?pick={elsewhere.pk}", {"name": "mine", "do": "tag"}).status_code == 409
    assert Tag.objects.get().name == "odd"


@pytest.mark.parametrize("what", ["tag", "export", "ask-again"])
@pytest.mark.parametrize("query", ["", "pick=x", f"pick={2**63}", "which=all&type=none-such"])
def test_nothing_chosen_leads_back(client: Client, what: str, query: str) -> None:
    assert "No instance is selected" in words_of(client.get(f"{CHOSEN}/{what}/?{query}"))
    assert client.post(f"{CHOSEN}/{what}/?{query}", {"name": "b", "study": "step-3"}).status_code == 409


def test_an_export_holds_those_that_were_chosen(client: Client, jobs: list[Job]) -> None:
    assert "<option selected>step-3</option>" in words_of(client.get(address("export", "vase-1", study="step-3")))
    wanted = {"study": "step-3", "format": "jsonl"}
    sent = client.post(address("export", "vase-1", "vase-2"), wanted)
    assert sent["Location"] == "/studies/vases/step-3/exports/"
    run_now(jobs.pop())
    export = Export.objects.get()
    with default_storage.open(export.file) as file:
        rows = [json.loads(line) for line in file]
    # vase-2 was not accepted.
    assert [row["key"] for row in rows] == ["vase-1"]
    assert "jsonl, 2 chosen instances" in words_of(client.get("/studies/vases/step-3/exports/"))
    assert "of 2 chosen instances" in words_of(client.get("/projects/vases/events/"))


@pytest.mark.parametrize(("format", "rows"), [("responses", 1), ("decisions", 2), ("predictions", 0), ("parquet", 1)])
def test_every_sort_of_rows_can_be_narrowed(client: Client, jobs: list[Job], format: str, rows: int) -> None:
    client.post(address("export", "vase-1", "vase-2"), {"study": "step-3", "format": format})
    run_now(jobs.pop())
    assert Export.objects.get().rows_done == rows


def test_an_export_of_some_does_not_overwrite_that_of_all_nor_one_of_others(client: Client, jobs: list[Job]) -> None:
    for key in ("vase-1", "vase-2"):
        client.post(address("export", key), {"study": "step-3", "format": "jsonl"})
        run_now(jobs.pop())
    of_all = request_export(
        study=Study.objects.get(slug="step-3"), format="jsonl", by=User.objects.get(username="researcher"), now=NOON
    )
    run_now(job_of(export=of_all))
    exports = Export.objects.order_by("pk")
    first, second, _ = exports
    names = [download_name(export) for export in exports]
    assert names == [
        f"step-3-selection-{first.pk}-instances.jsonl",
        f"step-3-selection-{second.pk}-instances.jsonl",
        "step-3-instances.jsonl",
    ]
    assert len({export.file for export in exports}) == 3


def test_a_study_is_asked_again_about_those_that_were_chosen(client: Client) -> None:
    fields = {"study": "step-3", "name": "step-3-again", "title": ""}
    sent = client.post(address("ask-again", which="all", state="none-yet"), fields)
    assert sent["Location"] == "/studies/vases/step-3-again/"
    again = Study.objects.get(slug="step-3-again")
    assert (again.state, again.kind, again.title) == ("draft", "best_of_n", "T")
    assert again.design.instances.keys == ("vase-2", "vase-3")
    event = Event.objects.get(what="study duplicated")
    assert event.details == {"original": "step-3", "instances": 2}
    assert "a copy of step-3, about 2 instances" in words_of(client.get("/projects/vases/events/"))


def test_a_study_that_another_feeds_is_asked_again_about_what_that_accepted(client: Client) -> None:
    fields = {"study": "step-4", "name": "step-4-again", "title": "Which one, again?"}
    client.post(address("ask-again", "vase-1", "vase-3"), fields)
    again = Study.objects.get(slug="step-4-again")
    assert (again.design.instances.from_study, again.design.instances.keys) == ("step-3", ("vase-1", "vase-3"))


@pytest.mark.parametrize(
    ("keys", "name", "problem"),
    [
        (["vase-1"], "step-4", "already has a study called step-4"),
        (["vase-1"], "B B", "study"),
        (["vase-1", "vase-2"], "b", "2 instances are selected, but a study file can list at most 1"),
    ],
    ids=["taken", "no name", "too many"],
)
def test_why_it_cannot_be_asked_again_is_told(
    client: Client, monkeypatch: pytest.MonkeyPatch, keys: list[str], name: str, problem: str
) -> None:
    monkeypatch.setattr("studies.actions.drafts.MOST_NAMED", 1)
    refused = client.post(address("ask-again", *keys), {"study": "step-3", "name": name})
    assert (refused.status_code, problem in words_of(refused)) == (409, True)
    assert Study.objects.count() == 2


def test_an_instance_is_taken_out_of_all_studies_after_a_preview_and_put_back(client: Client) -> None:
    page = f"{LIST}vase-0/"
    here = address("take-out", "vase-0", **{"from": "instance"})
    assert escape(here) in client.get(page).content.decode()
    before = words_of(client.get(here))
    # One answer in step 3 and one in step 4, which accepted it.
    assert "2 questions with 2 answers no longer count" in before
    assert re.search(r'<th scope="row">step-3</th> <td class="number">2</td> .*?<strong>1</strong>', before)
    assert re.search(r'<th scope="row">step-4</th> <td class="number">1</td> .*?<strong>0</strong>', before)
    # The preview keeps nothing.
    assert not Event.objects.filter(what="question taken out").exists()
    assert client.post(here, {"reason": " "}).status_code == 409
    assert client.post(here, {"reason": "Wrong picture."})["Location"] == page
    gone = words_of(client.get(page))
    assert "vase-0 was taken out of all studies. Answers that no longer count: 2." in gone
    assert "A researcher took it out." in gone
    assert "Take out…" not in gone
    back = f"{here}&back=1"
    assert "2 questions with 2 answers count again" in words_of(client.get(back))
    assert client.post(back)["Location"] == page
    assert "vase-0 was put back. Answers that count again: 2." in words_of(client.get(page))
    assert "2 questions with 2 answers no longer count" in words_of(client.get(here))


def test_many_instances_are_not_taken_out_at_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("results.views.bulk_actions.MOST_TAKEN_OUT", 2)
    some = address("take-out", "vase-0", "vase-1", "vase-2")
    assert "At most 2 instances can be taken out at once." in words_of(client.get(some))
    assert "Choose at most 2 instances." in words_of(client.post(some, {"reason": "Odd."}))
    assert not Event.objects.filter(what="question taken out").exists()
    two = client.post(address("take-out", "vase-0", "vase-1"), {"reason": "Odd."})
    said = words_of(client.get(two["Location"]))
    assert "2 instances were taken out of all studies. Answers that no longer count: 4." in said
    undo = re.search(r'<a href="([^"]+)">Undo</a>', said)
    assert undo
    assert "Put 2 instances back?" in words_of(client.get(unescape(undo[1])))


def test_an_instance_that_nobody_asks_about_cannot_be_taken_out(client: Client, project: Project) -> None:
    make_instance(project, "new")
    page = words_of(client.get(address("take-out", "new")))
    assert "No study asks about it, so there is nothing to take out." in page


def test_more_matches_than_one_request_can_change_are_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("results.views.bulk_actions.MOST_MATCHING", 3)
    answer = client.get(address("tag", which="all"), follow=True)
    assert answer.redirect_chain == [(LIST, 302)]
    assert "Narrow the filters, then select all again." in words_of(answer)
    assert "Tag 2 instances" in words_of(client.get(address("tag", which="all", type="swap")))
