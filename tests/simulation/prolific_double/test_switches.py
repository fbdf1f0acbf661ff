"""Failures on request; those of webhooks and of requests are in `test_deliveries` and `test_prolific_connection`."""

from datetime import timedelta
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from annotation.recruitment.prolific.connection import ProlificError
from annotation.recruitment.prolific.signed_links import ExpiredLink, ForgedLink, Link, verify
from simulation.prolific_double.server import WORKSPACE
from simulation.prolific_double.switches import Switch
from tests.prolific import DONE, NOON, Local, new_study


def test_a_token_can_be_revoked(local: Local) -> None:
    local.switch(Switch.TOKEN_REVOKED)
    with pytest.raises(ProlificError, match="does not accept the token"):
        local.client.read_user()


def test_an_empty_balance_publishes_extends_and_pays_nothing(local: Local) -> None:
    draft, study = local.client.create_study(new_study()).id, local.published()
    submission = local.completed(study)
    local.switch(Switch.BALANCE_LOW)
    assert local.client.read_balance(WORKSPACE).available_balance == 0
    with pytest.raises(ProlificError, match="balance of the workspace is too low"):
        local.client.publish_study(draft)
    with pytest.raises(ProlificError, match="balance of the workspace is too low"):
        local.client.set_places(study, 4)
    with pytest.raises(ProlificError, match="balance of the workspace is too low"):
        local.client.set_up_bonuses(study, {submission: Decimal(1)})
    assert local.client.read_study(draft).status == "UNPUBLISHED"
    assert local.client.read_study(study).total_available_places == 3


def test_a_study_can_be_refused_once(local: Local) -> None:
    local.switch(Switch.STUDY_REFUSED, "1")
    study = local.client.create_study(new_study()).id
    with pytest.raises(ProlificError, match="does not meet the platform's rules"):
        local.client.publish_study(study)
    assert local.client.publish_study(study).status == "ACTIVE"


def test_the_clock_can_be_ahead(local: Local) -> None:
    local.switch(Switch.CLOCK_AHEAD)
    submission = local.completed(local.published())
    local.client.ask_to_return(submission, reason="Withdrew consent")
    detail = local.client.read_submission(submission)
    assert detail.started_at == NOON + timedelta(minutes=20)
    assert detail.completed_at == detail.return_requested == NOON + timedelta(minutes=35)


def test_the_currency_can_change(local: Local) -> None:
    study = local.published()
    assert local.client.read_study(study).currency_code == "USD"
    local.switch(Switch.OTHER_CURRENCY)
    assert local.client.read_study(study).currency_code == "GBP"
    assert local.client.read_balance(WORKSPACE).currency_code == "GBP"


def test_approvals_in_bulk_can_be_lost(local: Local) -> None:
    submission = local.completed(local.published())
    local.switch(Switch.BULK_APPROVAL_LOST)
    local.client.approve_submissions([submission])
    local.later(days=1)
    assert local.status(submission) == "AWAITING REVIEW"


def test_links_can_come_without_ids(local: Local) -> None:
    local.switch(Switch.LINKS_WITHOUT_IDS)
    url = str(local.play("open", submission=local.taken(local.published()))["url"])
    assert urlsplit(url).query == ""


def test_links_can_come_unfilled(local: Local) -> None:
    local.switch(Switch.LINKS_UNFILLED)
    url = str(local.play("open", submission=local.taken(local.published()))["url"])
    assert "SESSION_ID={{%SESSION_ID%}}" in url


def test_the_same_person_can_come_again(local: Local) -> None:
    study = local.published()
    first = local.completed(study)
    local.switch(Switch.PEOPLE_RETURN)
    second = local.taken(study)
    assert first != second
    assert {one.participant_id for one in local.client.list_submissions(study)} == {"60bf9310e8dec401be6e9615"}


def test_a_redirect_can_be_lost(local: Local) -> None:
    submission = local.taken(local.published())
    with httpx.Client(base_url=local.double.address) as browser:
        browser.post("/play/open/", data={"submission": submission})
        local.switch(Switch.REDIRECTS_LOST, "1")
        assert browser.get("/submissions/complete", params={"cc": DONE}).status_code == 502
        assert local.status(submission) == "ACTIVE"
        assert browser.get("/submissions/complete", params={"cc": DONE}).status_code == 303
    assert local.status(submission) == "AWAITING REVIEW"


def test_a_switch_that_works_some_times_turns_itself_off(local: Local) -> None:
    local.switch(Switch.RATE_LIMITED, "2")
    switches = local.double.platform.switches
    assert [switches.use(Switch.RATE_LIMITED) for _ in range(3)] == [True, True, False]


def test_a_switch_is_turned_off(local: Local) -> None:
    local.switch(Switch.TOKEN_REVOKED)
    local.switch(Switch.TOKEN_REVOKED, "off")
    assert local.client.read_user()


def signed_link(local: Local) -> tuple[str, dict[str, str]]:
    """Return a signed link, and its query."""
    study = local.published(is_external_study_url_secure=True)
    link = local.play("open", submission=local.taken(study))["url"]
    return link, dict(parse_qsl(urlsplit(link).query))


def check_link(local: Local, query: dict[str, str], *, minutes: float = 0) -> None:
    link = Link(query, "annotate.example.org", WORKSPACE)
    token = query.get("prolific_token", "")
    verify(token, keys=local.client.read_keys(), link=link, now=NOON + timedelta(minutes=minutes))


def test_links_are_signed_where_the_study_wants_it(local: Local) -> None:
    link, query = signed_link(local)
    assert link.index("PROLIFIC_PID") < link.index("prolific_token")
    check_link(local, query)
    with pytest.raises(ExpiredLink):
        check_link(local, query, minutes=3)
    assert "prolific_token" not in local.play("open", submission=local.taken(local.published()))["url"]


@pytest.mark.parametrize(
    ("switch", "error"),
    [
        (Switch.LINKS_UNSIGNED, ForgedLink),
        (Switch.LINKS_FORGED, ForgedLink),
        (Switch.LINKS_OF_OTHERS, ForgedLink),
        (Switch.LINKS_EXPIRED, ExpiredLink),
    ],
)
def test_tokens_can_be_wrong(local: Local, switch: Switch, error: type[Exception]) -> None:
    local.switch(switch)
    with pytest.raises(error):
        check_link(local, signed_link(local)[1])


def test_the_key_can_be_replaced(local: Local) -> None:
    before = local.client.read_keys()
    assert local.client.read_keys() == before
    local.switch(Switch.SIGNING_KEY_REPLACED, "1")
    _, query = signed_link(local)
    assert local.client.read_keys() != before
    check_link(local, query)


def test_keys_are_public(local: Local) -> None:
    local.switch(Switch.TOKEN_REVOKED)
    assert httpx.get(f"{local.double.address}/.well-known/study/jwks.json").json()["keys"][0]["alg"] == "RS256"
