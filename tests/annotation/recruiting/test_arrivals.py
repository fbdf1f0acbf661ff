"""Who arrives from Prolific is who they say they are: by signed links, or because Prolific says so."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from annotation.actions.recruiting import signing_keys
from annotation.models import EntryEvent, Identity, ProlificAccount, ProlificStudy, Session, SessionState
from annotation.tasks import verify_arrival
from simulation.prolific_double.api import SECOND_WORKSPACE
from simulation.prolific_double.server import WORKSPACE
from simulation.prolific_double.switches import Switch
from studies.models import Event
from tests.factories import NOON, launch_study
from tests.prolific import Local
from tests.recruited import connect_to, link_of, mirror, recruit_for

pytestmark = pytest.mark.django_db
ANN, BEN = "60bf9310e8dec401be6e9615", "60bf9310e8dec401be6e9616"
NOT_THEIRS = "This is not the link that Prolific gave you."


@pytest.fixture(autouse=True)
def _noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


def press_start(client: Client, link: str) -> HttpResponse:
    """Open a link and press Start, as a browser does."""
    page = client.get(link)
    if page.status_code != 200:
        return page  # type: ignore[return-value]
    return client.post(link, {"proof": page.context["proof"]})  # type: ignore[return-value]


def identities() -> list[str]:
    return list(Session.objects.values_list("identity", flat=True))


def counted() -> list[tuple[str, int]]:
    return list(EntryEvent.objects.values_list("what", "times"))


# Links that are not signed


def test_prolific_confirms_a_submission(local: Local, client: Client) -> None:
    row = recruit_for(launch_study(), local)
    response = press_start(client, link_of(local, local.taken(row.remote_id, ANN)))
    assert (response.status_code, identities()) == (303, [Identity.CONFIRMED])


def test_who_comes_from_a_draft_that_was_published_on_prolific_is_checked(local: Local, client: Client) -> None:
    row = recruit_for(launch_study(answers=2), local)
    ProlificStudy.objects.update(status="UNPUBLISHED", published_at=None)
    link = link_of(local, local.taken(row.remote_id, ANN))
    assert press_start(client, link.replace(ANN, BEN)).status_code == 409
    # A preview of the draft has ids that Prolific does not know.
    preview = press_start(client, link.replace(link[-24:], "66f00000000000000000bb01").replace(ANN, BEN))
    assert (preview.status_code, identities()) == (303, [Identity.UNVERIFIED])
    assert press_start(Client(), link).status_code == 303
    assert identities() == [Identity.UNVERIFIED, Identity.CONFIRMED]


@pytest.mark.parametrize("part", ["PROLIFIC_PID", "SESSION_ID", "STUDY_ID"])
def test_ids_that_do_not_belong_together_are_refused_and_counted(local: Local, client: Client, part: str) -> None:
    row, other = recruit_for(launch_study(), local), recruit_for(launch_study(study="jugs"), local)
    submission = local.taken(row.remote_id, ANN)
    wrong = {
        "PROLIFIC_PID": (ANN, BEN),
        "SESSION_ID": (submission, "66f00000000000000000bb01"),
        "STUDY_ID": (row.remote_id, other.remote_id),
    }
    response = press_start(client, link_of(local, submission).replace(*wrong[part]))
    assert response.status_code == 409
    assert NOT_THEIRS in response.content.decode()
    assert (identities(), counted()) == ([], [("other_person", 1)])


def test_who_comes_before_the_return_of_somebody_else_is_known_gets_that_place_within_a_minute(
    local: Local, client: Client
) -> None:
    row = recruit_for(launch_study(), local, places=1)
    first = local.taken(row.remote_id, ANN)
    press_start(client, link_of(local, first))
    local.play("return", submission=first)
    link = link_of(local, local.taken(row.remote_id, BEN))
    other = Client()
    assert "All places of this study are taken" in other.get(link).content.decode()
    mirror(row, NOON + timedelta(minutes=1))
    assert press_start(other, link).status_code == 303


@pytest.mark.parametrize("end", ["return", "time out", "complete"])
def test_somebody_whose_submission_has_ended_gets_no_place(local: Local, client: Client, end: str) -> None:
    row = recruit_for(launch_study(), local)
    submission = local.taken(row.remote_id, ANN)
    link = link_of(local, submission)
    if end == "time out":
        local.later(minutes=61)
    else:
        local.play(end, submission=submission)
    response = press_start(client, link)
    assert response.status_code == 403
    assert "Your submission on Prolific has ended." in response.content.decode()
    assert identities() == []


@pytest.mark.parametrize("switch", [Switch.AWAY, Switch.RATE_LIMITED, Switch.REPLY_LOST, Switch.TOKEN_REVOKED])
def test_while_prolific_cannot_be_asked_people_are_let_in_unverified_and_verified_later(
    local: Local, client: Client, switch: Switch
) -> None:
    row = recruit_for(launch_study(), local)
    link = link_of(local, local.taken(row.remote_id, ANN))
    local.switch(switch)
    press_start(client, link)
    assert identities() == [Identity.UNVERIFIED]
    local.switch(switch, "off")
    mirror(row, NOON)
    assert identities() == [Identity.CONFIRMED]


def test_an_annotator_waits_three_seconds_at_most(
    local: Local, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = recruit_for(launch_study(), local)
    link = link_of(local, local.taken(row.remote_id, ANN))
    seconds: list[float] = []
    from annotation.recruitment.prolific.client import Client as Prolific

    within = Prolific.within

    def note(self: Prolific, given: float) -> Any:
        seconds.append(given)
        return within(self, given)

    monkeypatch.setattr(Prolific, "within", note)
    press_start(client, link)
    assert seconds == [3]


@pytest.mark.parametrize("invented", ["PROLIFIC_PID", "SESSION_ID"])
def test_who_was_let_in_with_ids_of_somebody_else_is_ended_later(local: Local, client: Client, invented: str) -> None:
    row = recruit_for(launch_study(), local)
    submission = local.taken(row.remote_id, ANN)
    link = link_of(local, submission)
    local.switch(Switch.AWAY)
    wrong = {"PROLIFIC_PID": (ANN, BEN), "SESSION_ID": (submission, "66f00000000000000000bb01")}
    press_start(client, link.replace(*wrong[invented]))
    local.switch(Switch.AWAY, "off")
    mirror(row, NOON + timedelta(minutes=2))
    session = Session.objects.get()
    assert (session.identity, session.state) == (Identity.MISMATCH, SessionState.RETURNED)
    assert counted() == [("other_person", 1)]
    event = Event.objects.get(what="submission of somebody else")
    assert event.details == {"session": session.pk}


def test_who_arrives_while_a_study_is_read_is_not_taken_for_somebody_else(local: Local, client: Client) -> None:
    row = recruit_for(launch_study(), local)
    link = link_of(local, local.taken(row.remote_id, ANN))
    local.switch(Switch.AWAY)
    with time_machine.travel(NOON + timedelta(seconds=10), tick=False):
        press_start(client, link)
    local.switch(Switch.AWAY, "off")
    local.double.store.delete("submission", Session.objects.get().open_id())
    local.double.store.commit()
    mirror(row, NOON)
    assert identities() == [Identity.UNVERIFIED]


def test_an_arrival_of_a_study_that_was_made_on_prolific_itself_is_asked_about_alone(
    local: Local, client: Client
) -> None:
    row = recruit_for(launch_study(recruitment={"any_ids": False, "prolific_study_ids": ["x"]}), local)
    submission = local.taken(row.remote_id, ANN)
    link = link_of(local, submission)
    ProlificStudy.objects.all().delete()
    study = row.study
    recruitment = study.design.recruitment.model_copy(update={"prolific_study_ids": (row.remote_id,)})
    study.design = study.design.model_copy(update={"recruitment": recruitment})
    study.save()
    local.switch(Switch.AWAY)
    press_start(client, link)
    session = Session.objects.get()
    verify_arrival(session.pk)
    assert identities() == [Identity.UNVERIFIED]
    local.switch(Switch.AWAY, "off")
    verify_arrival(session.pk)
    verify_arrival(session.pk)
    assert identities() == [Identity.CONFIRMED]


def test_nothing_is_asked_without_an_account_or_without_a_study_there(local: Local, client: Client) -> None:
    study = launch_study()
    query = f"PROLIFIC_PID={ANN}&STUDY_ID=66f0&SESSION_ID=66f00000000000000000bb01"
    press_start(client, f"/take/{study.entry_name}/?{query}")
    ProlificAccount.objects.filter(project=study.project).delete()
    connect_to(study.project)
    Client().post(f"/take/{study.entry_name}/?{query.replace(ANN, BEN).replace('bb01', 'bb02')}")
    assert identities() == [""]


# Signed links


@pytest.fixture
def signed(local: Local) -> ProlificStudy:
    return recruit_for(launch_study(), local, is_external_study_url_secure=True)


def signed_link(local: Local, row: ProlificStudy, participant: str = ANN) -> str:
    return link_of(local, local.taken(row.remote_id, participant))


def test_a_signed_link_is_believed_without_asking(local: Local, client: Client, signed: ProlificStudy) -> None:
    link = signed_link(local, signed)
    page = client.get(link)
    local.switch(Switch.AWAY)
    client.post(link, {"proof": page.context["proof"]})
    assert identities() == [Identity.SIGNED]


def test_who_reads_the_start_page_for_long_may_start_and_resume_with_the_same_link(
    local: Local, client: Client, signed: ProlificStudy
) -> None:
    link = signed_link(local, signed)
    page = client.get(link)
    local.switch(Switch.AWAY)
    with time_machine.travel(NOON + timedelta(minutes=30), tick=False):
        assert client.post(link, {"proof": page.context["proof"]}).status_code == 303
        assert client.get(link).status_code == 303
    assert identities() == [Identity.SIGNED]


def test_a_proof_is_for_one_link_only(local: Local, client: Client, signed: ProlificStudy) -> None:
    proof = client.get(signed_link(local, signed)).context["proof"]
    local.switch(Switch.LINKS_UNSIGNED)
    assert client.post(signed_link(local, signed, BEN), {"proof": proof}).status_code == 409


def test_an_expired_link_leads_back_to_prolific(local: Local, client: Client, signed: ProlificStudy) -> None:
    local.switch(Switch.LINKS_EXPIRED, "1")
    response = press_start(client, signed_link(local, signed))
    page = response.content.decode()
    assert response.status_code == 410
    assert "Links from Prolific are valid for two minutes." in page
    assert "Go back to Prolific and press the study link again." in page
    assert (identities(), counted()) == ([], [])


def test_a_link_is_valid_by_prolifics_clock_where_the_site_is_ahead(
    local: Local, client: Client, signed: ProlificStudy
) -> None:
    link = signed_link(local, signed)
    with time_machine.travel(NOON + timedelta(minutes=20), tick=False):
        assert client.get(link).status_code == 410
        mirror(signed, NOON + timedelta(minutes=20))
        assert press_start(client, link).status_code == 303
    assert identities() == [Identity.SIGNED]


def test_links_of_a_study_stay_valid_when_another_workspace_pays(
    local: Local, client: Client, signed: ProlificStudy
) -> None:
    ProlificStudy.objects.update(workspace_id=WORKSPACE)
    ProlificAccount.objects.update(workspace_id=SECOND_WORKSPACE)
    assert press_start(client, signed_link(local, signed)).status_code == 303
    assert identities() == [Identity.SIGNED]


@pytest.mark.parametrize("switch", [Switch.LINKS_FORGED, Switch.LINKS_OF_OTHERS, Switch.LINKS_UNSIGNED])
def test_a_link_that_prolific_did_not_sign_for_its_ids_is_refused_and_counted(
    local: Local, client: Client, signed: ProlificStudy, switch: Switch
) -> None:
    local.switch(switch)
    response = press_start(client, signed_link(local, signed))
    assert (response.status_code, NOT_THEIRS in response.content.decode()) == (409, True)
    assert (identities(), counted()) == ([], [("other_person", 1)])


def test_a_new_key_is_read_once_and_then_at_most_once_a_minute(
    local: Local, client: Client, signed: ProlificStudy
) -> None:
    assert client.get(signed_link(local, signed)).context["proof"] != ""
    kept = signing_keys.kept_keys[local.double.address]
    local.switch(Switch.SIGNING_KEY_REPLACED, "1")
    link = signed_link(local, signed, BEN)
    # The keys were read in this minute: Prolific is asked about the submission instead.
    assert client.get(link).context["proof"] == ""
    assert signing_keys.kept_keys[local.double.address] == kept
    with time_machine.travel(NOON + timedelta(minutes=1), tick=False):
        assert client.get(link).context["proof"] != ""


def test_a_key_that_prolific_does_not_know_is_refused(local: Local, client: Client, signed: ProlificStudy) -> None:
    link = signed_link(local, signed)
    local.double.store.delete("signing key", "current")
    local.double.store.commit()
    assert client.get(link).status_code == 409


def test_while_keys_cannot_be_read_the_submission_is_asked_about(
    local: Local, client: Client, signed: ProlificStudy, settings: Settings
) -> None:
    link = signed_link(local, signed)
    local.switch(Switch.AWAY)
    press_start(client, link)
    assert identities() == [Identity.UNVERIFIED]
