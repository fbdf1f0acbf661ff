"""A study on Prolific from the Recruit tab, against the local platform."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from annotation.models import ProlificAccount, ProlificStudy, Seat
from background.sealed_secrets import seal
from results.queries.studies.progress import count_seats
from simulation.prolific_double.server import WORKSPACE
from simulation.prolific_double.switches import Switch
from studies.models import CompletionCode, Event, Outcome, Study
from tests.factories import NOON, launch_study, make_member, make_project, make_submission, sit_down
from tests.prolific import TOKEN, Local, local_platform

pytestmark = pytest.mark.django_db
RECRUIT = "/studies/vases/best-vase/recruit/"
PAGE = "/studies/vases/best-vase/prolific/"
FORM = {
    "name": "Which vase?",
    "description": "You will choose vases.\n\nIt is quick.",
    "reward": "4.00",
    "places": "3",
    "minutes": "20",
    "at_most": "60",
    "devices": ["desktop", "mobile"],
    "currency": "USD",
}


@pytest.fixture
def local(tmp_path: Path, settings: Settings) -> Iterator[Local]:
    with local_platform(tmp_path) as running:
        settings.PROLIFIC_ADDRESS = running.double.address
        yield running


@pytest.fixture
def study() -> Study:
    return launch_study(time={"estimated_minutes": 20}, pay={"per_session": "4.00"}, answers=3)


@pytest.fixture
def account(study: Study) -> ProlificAccount:
    return ProlificAccount.objects.create(
        project=study.project, sealed_token=seal(TOKEN), user_id="5f00", workspace_id=WORKSPACE, saved_at=NOON
    )


@pytest.fixture
def owner(study: Study, account: ProlificAccount, client: Client) -> Client:
    client.force_login(make_member(study.project, "owner"))
    return client


def text(client: Client, address: str = RECRUIT) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def send(client: Client, address: str = PAGE, **changes: Any) -> tuple[int, str]:
    response = client.post(address, {**FORM, "do": "save", **changes})
    return response.status_code, " ".join(response.content.decode().split())


def there(local: Local) -> list[dict[str, Any]]:
    return local.double.store.list("study")


def test_the_form_begins_with_what_the_study_file_says(local: Local, owner: Client) -> None:
    """2 + 2 * 20 + 2 * sqrt(20) is 50.9, so 51 minutes at most; 4.00 for 20 minutes are 12.00 an hour."""
    page = text(owner, PAGE)
    for field, value in (("reward", "4.00"), ("places", "3"), ("minutes", "20"), ("at_most", "51")):
        assert f'name="{field}" value="{value}"' in page
    assert "<strong>USD 12.00</strong> an hour" in page


def test_in_four_clicks_a_study_is_published(local: Local, owner: Client) -> None:
    assert 'href="/studies/vases/best-vase/prolific/"' in text(owner)
    status, _ = send(owner)
    assert status == 302
    page = text(owner, f"{PAGE}publish/")
    assert 'USD 16.00 <small class="muted">Prolific says: USD 12.00 for people, USD 4.00 fee, USD 0.00 tax' in page
    assert "USD 10,000.00" in page
    said = owner.post(f"{PAGE}publish/", follow=True).content.decode()
    assert "The study is published on Prolific." in said
    [remote] = there(local)
    assert (remote["status"], remote["description"]) == ("ACTIVE", "<p>You will choose vases.</p><p>It is quick.</p>")
    assert remote["device_compatibility"] == ["desktop", "mobile"]
    page = text(owner)
    assert "0 of 3 taken" in page
    assert "USD 4.00" in page


def test_a_running_study_gets_places_is_paused_resumed_and_stopped(local: Local, owner: Client) -> None:
    send(owner)
    owner.post(f"{PAGE}publish/")
    said = owner.post(f"{PAGE}places/", {"places": "5"}, follow=True).content.decode()
    assert "The study has 5 places on Prolific." in said
    for action, says, status in (
        ("pause", "paused on Prolific", "PAUSED"),
        ("resume", "running on Prolific again", "ACTIVE"),
        ("stop", "stopped on Prolific", "COMPLETED"),
    ):
        assert says in owner.post(f"{PAGE}{action}/", follow=True).content.decode()
        assert (ProlificStudy.objects.get().status, there(local)[0]["status"]) == (status, status)
    assert "Set up another round" in text(owner)


def test_refreshing_says_what_it_has_cost(local: Local, owner: Client) -> None:
    send(owner)
    owner.post(f"{PAGE}publish/")
    local.client.approve_submission(local.completed(there(local)[0]["id"]))
    said = owner.post(f"{PAGE}refresh/", follow=True).content.decode()
    assert "Prolific says: USD 5.33 so far (USD 4.00 for people, USD 1.33 fee, USD 0.00 tax)." in said
    assert "1 of 3 taken" in text(owner)


@pytest.fixture
def practised() -> Study:
    """A study of 4.00 whose practice can be failed."""
    asked = [{"instance": "vase-2", "right": "candidate-0"}]
    return launch_study(
        time={"estimated_minutes": 20},
        pay={"per_session": "4.00"},
        answers=3,
        instances=3,
        practice={"questions": asked, "pass": 1, "rounds": 1},
    )


SCREEN_OUT = {"screen_out_reward": "0.50", "screen_out_places": "6"}


def test_pay_for_failing_the_practice_is_drafted_priced_and_kept(
    local: Local, practised: Study, client: Client
) -> None:
    """6 people at 0.50 are 3.00, and 1.00 fee; 3 rewards of 4.00 are 12.00, and 4.00 fee."""
    ProlificAccount.objects.create(
        project=practised.project, sealed_token=seal(TOKEN), user_id="5f00", workspace_id=WORKSPACE, saved_at=NOON
    )
    client.force_login(make_member(practised.project, "owner"))
    assert "Pay people who fail the practice" in text(client, PAGE)
    _, page = send(client, do="look", **SCREEN_OUT)
    assert 'USD 20.00 <small class="muted">Prolific says: USD 12.00 for people, USD 4.00 fee and taxes' in page
    assert "<dt>Screen-outs</dt><dd>USD 4.00" in page
    for wrong, says in (
        ({"screen_out_reward": "4.00"}, "Write an amount from 0.14 to less than the reward"),
        ({"screen_out_reward": "0.13"}, "Write an amount from 0.14"),
        ({"screen_out_places": ""}, "Write a number of people from 1"),
        ({"screen_out_reward": ""}, "Write an amount from 0.14"),
    ):
        status, page = send(client, **SCREEN_OUT | wrong)
        assert (status, says in page) == (409, True)
    assert send(client, **SCREEN_OUT)[0] == 302
    assert "<dt>Screen-outs</dt><dd>USD 4.00" in text(client, f"{PAGE}publish/")
    page = text(client, PAGE)
    assert 'name="screen_out_reward" value="0.50"' in page
    assert 'name="screen_out_places" value="6"' in page
    for number in range(6):
        make_submission(ProlificStudy.objects.get(), None, f"66f0{number}", status="SCREENED OUT")
    assert "<dt>Screen-outs</dt><dd>6 of 6 paid <small" in text(client)


def test_a_study_without_a_practice_that_can_be_failed_screens_nobody_out(local: Local, owner: Client) -> None:
    assert "Pay people who fail the practice" not in text(owner, PAGE)


WRONG = {
    "name": ("", "Write a title of 1 to 200 characters."),
    "description": ("<a href='x'>Here</a>", "&lt;a&gt; is not allowed. Prolific allows b, i, em,"),
    "reward": ("four", "Write an amount over 0 in whole units with up to two decimals, such as 4.00."),
    "places": ("0", "Write a number of places from 1 to 100,000."),
    "minutes": ("2.5", "Write a number of minutes from 1 to 720."),
    "at_most": ("50", "Prolific requires 51 for a study of 20 minutes."),
    "devices": ([], "Choose at least one device."),
}


@pytest.mark.parametrize("field", WRONG)
def test_what_is_wrong_is_said_and_nothing_typed_is_lost(local: Local, owner: Client, field: str) -> None:
    value, says = WRONG[field]
    status, page = send(owner, **dict[str, Any]({"name": "My own title", field: value}))
    assert status == 409
    # At the top, too: the field may be out of sight.
    assert page.index(says) < page.index('class="design-form"')
    assert says in page
    assert (field == "name") != ('value="My own title"' in page)
    assert there(local) == []
    assert not ProlificStudy.objects.exists()


@pytest.mark.parametrize(
    ("switch", "says"),
    [
        (Switch.AWAY, "Prolific failed (503). Try again later."),
        (Switch.TOKEN_REVOKED, "Prolific does not accept the token."),
        (Switch.RATE_LIMITED, "Prolific has too much to do at the moment."),
    ],
)
def test_while_prolific_is_away_the_draft_is_kept_here(local: Local, owner: Client, switch: Switch, says: str) -> None:
    local.switch(switch)
    assert says in text(owner, PAGE)
    status, page = send(owner, name="My own title")
    assert (status, says in page, 'value="My own title"' in page) == (409, True, True)
    assert says in text(owner)
    local.switch(switch, "off")
    assert send(owner, name="My own title")[0] == 302
    assert [one["name"] for one in there(local)] == ["My own title"]
    assert says not in text(owner)


@pytest.mark.parametrize(
    ("switch", "says"),
    [(Switch.BALANCE_LOW, "The balance of the workspace is too low"), (Switch.STUDY_REFUSED, "does not meet the")],
)
def test_a_refused_publication_is_said_and_stays_on_the_page(
    local: Local, owner: Client, switch: Switch, says: str
) -> None:
    send(owner)
    local.switch(switch)
    response = owner.post(f"{PAGE}publish/")
    assert (response.status_code, says in response.content.decode()) == (409, True)
    assert says in text(owner)


def test_fewer_places_are_refused_with_what_was_typed(local: Local, owner: Client) -> None:
    send(owner)
    owner.post(f"{PAGE}publish/")
    for typed, says in (
        ("2", "Enter a larger number: you entered 2."),
        ("many", "Enter the total number of places"),
        ("000000100999", "Enter the total number"),
    ):
        status, page = send(owner, f"{PAGE}places/", places=typed)
        assert (status, says in page, f'value="{typed}"' in page) == (409, True, True)


def test_filters_are_found_by_their_name_and_chosen(local: Local, owner: Client) -> None:
    """Typing goes on through each addition."""
    assert '<option value="Approval rate">' in text(owner, PAGE)
    status, page = send(owner, do="add", filter="country", name="My own title")
    assert (status, 'value="My own title"' in page) == (200, True)
    assert "In what country do you currently reside?" in page
    assert "United States" in page
    # Enter presses the first button, which saves: not while a filter is being named.
    chosen: dict[str, Any] = {
        "filters": ["current-country-of-residence"],
        "values-current-country-of-residence": ["1", "2"],
    }
    status, page = send(owner, filter="Approval rate", **chosen)
    assert (status, page.count("checked> United States"), "At least" in page) == (200, 1, True)
    assert there(local) == []
    chosen["filters"].append("approval_rate")
    status, _ = send(owner, **chosen, **{"lower-approval_rate": "98", "upper-approval_rate": ""})
    assert status == 302
    assert [one for one in there(local)[0]["filters"] if "group" not in one["filter_id"]] == [
        {"filter_id": "current-country-of-residence", "selected_values": ["1", "2"]},
        {"filter_id": "approval_rate", "selected_range": {"lower": 98}},
    ]
    page = text(owner, PAGE)
    assert 'name="lower-approval_rate" value="98"' in page
    status, page = send(owner, do="", remove="approval_rate", **chosen)
    assert (status, "lower-approval_rate" in page) == (200, False)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"do": "add", "filter": "shoe size"}, "No filter is called “shoe size”. Choose one from the list."),
        ({"do": "add", "filter": "r"}, "2 filters contain “r”"),
        ({"filters": ["approval_rate"]}, "Write a lower or an upper bound for “Approval rate”, or remove it."),
        (
            {"filters": ["approval_rate"], "lower-approval_rate": "99", "upper-approval_rate": "98"},
            "The lower bound of “Approval rate” is above the upper one.",
        ),
        (
            {"filters": ["current-country-of-residence"]},
            "Choose at least one value of “Current country of residence”, or remove it.",
        ),
    ],
)
def test_what_is_wrong_with_a_filter_is_said(local: Local, owner: Client, changes: dict[str, Any], says: str) -> None:
    assert says in send(owner, **changes)[1]
    assert there(local) == []


def test_groups_let_people_in_or_keep_them_out(local: Local, owner: Client) -> None:
    trained = local.client.create_group(WORKSPACE, name="Trained", participants=[]).id
    careless = local.client.create_group(WORKSPACE, name="Careless", participants=[]).id
    assert "Trained" in text(owner, PAGE)
    send(owner, **{f"group-{trained}": "allow", f"group-{careless}": "block"})
    filters = {one["filter_id"]: one["selected_values"] for one in there(local)[0]["filters"]}
    assert filters["participant_group_allowlist"] == [trained]
    assert filters["participant_group_blocklist"][0] == careless
    page = text(owner, PAGE)
    assert page.count("selected>Only these people") == page.count("selected>Keep these people out") == 1
    # Ours is no choice.
    assert "Lineup vases" not in page


def test_what_was_chosen_survives_a_time_without_prolific(local: Local, owner: Client) -> None:
    trained = local.client.create_group(WORKSPACE, name="Trained", participants=[]).id
    chosen: dict[str, Any] = {"filters": ["approval_rate"], "lower-approval_rate": "98", f"group-{trained}": "allow"}
    send(owner, **chosen)
    local.switch(Switch.AWAY)

    cache.clear()
    page = text(owner, PAGE)
    assert 'name="lower-approval_rate" value="98"' in page
    assert f'<input type="hidden" name="group-{trained}" value="allow">' in page


@pytest.mark.parametrize(
    ("reward", "says"),
    [
        ("2.66", "Prolific requires at least USD 8.00 an hour."),
        ("2.67", "Prolific recommends USD 12.00 an hour."),
        ("3.99", "Prolific recommends USD 12.00 an hour."),
        ("4.00", ""),
    ],
)
def test_the_wage_follows_while_one_types(local: Local, owner: Client, reward: str, says: str) -> None:
    """For 20 minutes, 2.67 are 8.01 an hour, and 4.00 are 12.00."""
    _, page = send(owner, f"{PAGE}foresee/", reward=reward)
    assert says in page
    assert ("Prolific requires" in page, "Prolific recommends" in page) == ("requires" in says, "recommends" in says)


def test_another_reward_than_the_study_file_has_is_said(local: Local, owner: Client) -> None:
    says = "The study file pays USD 4.00. Annotators see that amount"
    assert says in send(owner, f"{PAGE}foresee/", reward="4.50")[1]
    assert says not in send(owner, f"{PAGE}foresee/", reward="4.00")[1]


def test_the_wage_is_in_the_currency_of_the_account(local: Local, owner: Client) -> None:
    local.switch(Switch.OTHER_CURRENCY)
    page = text(owner, PAGE)
    # The amount of the study file would be another wage.
    assert 'name="reward" value=""' in page
    assert "The account pays in GBP, but the study file in USD" in page
    _, page = send(owner, f"{PAGE}foresee/", reward="1.99", currency="GBP")
    assert "Prolific requires at least GBP 6.00 an hour." in page


def test_prolific_is_asked_for_cost_balance_and_people(local: Local, owner: Client) -> None:
    """The local platform takes a third, and lets half of 10,000 people through each filter."""
    chosen: dict[str, Any] = {"filters": ["approval_rate"], "lower-approval_rate": "98"}
    _, page = send(owner, f"{PAGE}foresee/?ask=1", **chosen)
    assert 'USD 16.00 <small class="muted">Prolific says: USD 12.00 for people, USD 4.00 fee and taxes' in page
    assert "5,000 <small" in page
    local.switch(Switch.BALANCE_LOW)
    assert "The balance is too low." in send(owner, f"{PAGE}foresee/?ask=1")[1]
    # Without scripts a button asks.
    assert "The balance is too low." in send(owner, do="look")[1]


def test_what_is_frozen_is_grey_with_the_reason(local: Local, owner: Client) -> None:
    send(owner)
    owner.post(f"{PAGE}publish/")
    page = text(owner, PAGE)
    assert '<fieldset class="plain short-form" disabled>' in page
    assert "Prolific freezes a published study" in page
    # Whoever took a place fills one here: fewer are open than places on Prolific, which is no reason to warn.
    Seat.objects.filter(filled_at=None).update(filled_at=NOON)
    assert "when no place is left" not in text(owner, PAGE)
    assert "Save draft on Prolific" not in page
    assert send(owner, reward="9.00")[0] == 409
    assert (there(local)[0]["reward"], ProlificStudy.objects.get().reward) == (400, Decimal(4))


def test_who_would_be_refused_is_counted(local: Local, owner: Client, study: Study) -> None:
    sit_down(study, "60bf9310e8dec401be6e9615", state="finished")
    assert 'Kept out</dt><dd>1 <small class="muted">person whom the study would refuse' in text(owner, PAGE)


def test_people_of_rules_and_of_allowed_groups_are_counted_in_words(local: Local, owner: Client, study: Study) -> None:
    launch_study(study.project, study="for-group", eligibility=[{"rule": "in_group", "group": "test"}])
    page = "/studies/vases/for-group/prolific/"
    trained = local.client.create_group(WORKSPACE, name="Trained", participants=[]).id
    says = '0 <small class="muted">people who fit the study’s rules'
    assert f"{says}</small>" in text(owner, page)
    assert send(owner, page, **{f"group-{trained}": "allow"})[0] == 302
    for address in (page, f"{page}publish/"):
        assert f"{says}, if they are also in the groups that you allow</small>" in text(owner, address)


def test_a_clock_that_differs_is_said(owner: Client) -> None:
    assert "The clock of this site" not in text(owner)
    ProlificAccount.objects.update(clock_ahead=-720)
    says = "The clock of this site is 12 minutes ahead of Prolific’s."
    ProlificStudy.objects.create(study=Study.objects.get(), places=1, reward=4, currency="USD", created_at=NOON)
    for address in (RECRUIT, "/projects/vases/prolific/"):
        assert says in text(owner, address)


def test_more_places_on_prolific_than_are_open_here_are_said(local: Local, owner: Client, study: Study) -> None:
    send(owner)
    owner.post(f"{PAGE}publish/")
    ProlificStudy.objects.update(places=count_seats(study).free + 1)
    assert "People who arrive when no place is left are sent back." in text(owner)
    ProlificStudy.objects.update(places_taken=1)
    assert "People who arrive when no place is left are sent back." not in text(owner)


def test_people_who_come_for_places_of_others_who_finished_are_said(local: Local, owner: Client, study: Study) -> None:
    """Of 5 places, 3 are taken. Of the people who lost theirs, two had finished and one had not begun."""
    send(owner, places="5")
    owner.post(f"{PAGE}publish/")
    row = ProlificStudy.objects.get()
    ProlificStudy.objects.update(places_taken=3)
    for number, state in enumerate(("finished", "finished", "waited")):
        session = sit_down(study, f"60bf9310e8dec401be6e961{number}", state=state)
        make_submission(row, session, f"66f000000000000000000b0{number}", "RETURNED", flag="place_lost")
    page = text(owner)
    assert "2 people finished here, but returned or timed out on Prolific." in page
    assert "Prolific offers these places again, so 2 more people will come than you asked for." in page
    assert "To avoid that, pause now." in page
    ProlificStudy.objects.update(places_taken=2)
    assert "so 2 more people will come than you asked for. To avoid that, pause when 3 of 5 places are" in text(owner)
    ProlificStudy.objects.update(places_taken=4)
    assert "so 1 more person will come than you asked for. To avoid that, pause now." in text(owner)
    # Paused, or with all places taken, nobody more comes.
    ProlificStudy.objects.update(places_taken=5)
    assert "than you asked for" not in text(owner)
    ProlificStudy.objects.update(places_taken=3)
    assert "Pause now" in text(owner)
    owner.post(f"{PAGE}pause/")
    assert "than you asked for" not in text(owner)


def test_a_closed_study_that_still_gets_people_is_said(local: Local, owner: Client, study: Study) -> None:
    send(owner)
    owner.post(f"{PAGE}publish/")
    said = owner.post("/studies/vases/best-vase/pause/", follow=True).content.decode()
    assert 'Prolific still sends people: <a href="/studies/vases/best-vase/recruit/">pause or stop it there</a>' in said
    assert "Prolific still sends people, but the study here is paused." in text(owner)


def test_without_a_token_prolifics_own_form_is_filled_in(owner: Client, study: Study) -> None:
    ProlificAccount.objects.all().delete()
    page = text(owner)
    assert f'href="{PAGE}own-form/"' in page
    code = CompletionCode.objects.get(study=study, outcome=Outcome.FINISHED).code
    address = owner.get(f"{PAGE}own-form/")["Location"]
    assert address.startswith("https://app.prolific.com/researcher/studies/new?name=Which+vase%3F&")
    assert f"completion_code={code}&completion_option=url&prolific_id_option=url_parameters" in address
    assert "%26STUDY_ID%3D%7B%7B%25STUDY_ID%25%7D%7D%26" in address
    assert "Connect an account" in page
    assert owner.get(PAGE, follow=True).redirect_chain == [(RECRUIT, 302)]


def test_a_workspace_must_be_chosen_first(owner: Client) -> None:
    ProlificAccount.objects.update(workspace_id="")
    assert "Choose workspace" in text(owner)


def test_codes_of_researchers_are_on_no_page(local: Local, owner: Client) -> None:
    send(owner)
    [code] = [one["code"] for one in there(local)[0]["completion_codes"] if one["actor"] == "researcher"]
    for address in (RECRUIT, PAGE, f"{PAGE}publish/", "/projects/vases/events/"):
        assert code not in text(owner, address)
        assert TOKEN not in text(owner, address)


ACTIONS = ("publish/", "places/", "pause/", "resume/", "stop/", "refresh/", "foresee/")


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), (None, 404)])
def test_viewers_and_strangers_do_nothing(
    local: Local, account: ProlificAccount, client: Client, study: Study, role: str | None, status: int
) -> None:
    client.force_login(make_member(study.project, role) if role else make_member(make_project("jugs"), "stranger"))
    assert client.get(PAGE).status_code == status
    for address in ("", *ACTIONS):
        assert client.post(f"{PAGE}{address}", FORM | {"do": "save"}).status_code == status
    assert there(local) == []
    assert not Event.objects.filter(what__startswith="prolific").exists()


def test_editors_draft_and_pause_and_owners_spend(
    local: Local, account: ProlificAccount, client: Client, study: Study
) -> None:
    editor, owner = make_member(study.project, "editor"), make_member(study.project, "owner")
    client.force_login(editor)
    assert send(client)[0] == 302
    assert "only an owner of the project can publish" in text(client, f"{PAGE}publish/")
    assert client.post(f"{PAGE}publish/").status_code == 403
    client.force_login(owner)
    client.post(f"{PAGE}publish/")
    client.force_login(editor)
    assert "Add places" not in text(client)
    assert client.post(f"{PAGE}places/", {"places": "9"}).status_code == 403
    assert client.post(f"{PAGE}pause/").status_code == 302
    assert (there(local)[0]["status"], there(local)[0]["total_available_places"]) == ("PAUSED", 3)
