"""The clock checks the policies of studies: pause, mail, webhook, and Prolific; the study's page shows each of them."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.core import mail
from django.test import Client
from pytest_django import Settings

from annotation.actions.recruiting import prolific_studies
from annotation.models import ProlificAccount, ProlificStudy, Session, SessionState
from background.sealed_secrets import seal
from results.actions.policies import studies_with_policies
from results.models import PolicyAct
from simulation.prolific_double.server import WORKSPACE
from studies.actions.studies import change_state
from studies.models import Event, Study, StudyState
from tests.annotation.test_pipeline import answer_all
from tests.factories import (
    NOON,
    PROLIFIC_DRAFT,
    TESTS,
    arrive_at_work,
    fresh,
    launch_study,
    make_member,
    make_prolific_study,
)
from tests.pages import signed_in, words_of
from tests.prolific import TOKEN, local_platform
from workspace.actions.webhooks import TOLD
from workspace.tasks import check_policies, check_study_policies

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/vases/best-vase/"


@pytest.fixture
def study() -> Study:
    """A study that two people have finished, for 1.00 each, and that pauses above 1.00."""
    study = launch_study(
        instances=1,
        answers=4,
        pay={"currency": "USD", "per_session": "1.00"},
        policies=[{"policy": "cost", "cost_above": "1.00"}, {"policy": "replace_excluded"}],
    )
    for name in ("ann", "ben"):
        answer_all(arrive_at_work(study, name), "candidate-0")
    return study


def strike() -> None:
    """Do what a worker does each minute."""
    for study in studies_with_policies():
        check_study_policies(study)


def test_each_study_with_policies_is_a_message_of_its_own(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []
    monkeypatch.setattr(check_study_policies, "send", lambda args, **options: sent.append(args))
    check_policies()
    assert sent == [(study.pk,)]


def cells(client: Client) -> dict[str, list[str]]:
    """Return the name of each policy on the study's page -> its cells."""
    page = BeautifulSoup(client.get(ADDRESS).content, "html.parser")
    rows = page.select('[aria-labelledby="policies"] tbody tr')
    assert rows
    return {
        " ".join(row.select("th")[0].text.split()): [" ".join(cell.text.split()) for cell in row.select("td")]
        for row in rows
    }


def test_the_clock_pauses_it_once_and_mails_who_owns_it(study: Study, settings: Settings) -> None:
    settings.MAIL_FROM = "lineup@example.org"
    owner = make_member(study.project, "owner")
    owner.email = "ada@example.org"
    owner.save()
    for _ in range(2):
        strike()
    assert fresh(study).state == StudyState.PAUSED
    (sent,) = mail.outbox
    assert (sent.to, sent.subject) == (["ada@example.org"], "best-vase is paused")
    assert "cost: The cost is USD 2.00, bound USD 1.00." in sent.body
    assert "/studies/vases/best-vase/" in sent.body
    (event,) = Event.objects.filter(what="policy paused")
    topic, data = TOLD["policy paused"]
    assert topic == "alarm.raised"
    assert data(event) == {
        "alarm": "policy paused",
        "policy": "cost",
        "finding": "The cost is USD 2.00, bound USD 1.00.",
    }


def test_the_page_shows_value_bound_and_what_it_did_and_leads_to_the_resume(study: Study) -> None:
    owner = signed_in(make_member(study.project, "owner"))
    before = cells(owner)
    assert before["Cost"] == ["USD 2.00", "—", "above USD 1.00", "Acts within a minute"]
    assert before["Replace excluded answers"][3] == "Nothing yet"
    strike()
    after = cells(owner)["Cost"][3]
    assert after.startswith("Paused the study")
    assert "The cost is USD 2.00, bound USD 1.00." in after
    assert f'href="{ADDRESS}resume/"' in owner.get(ADDRESS).content.decode()
    # The reason is the first thing on the page.
    told = BeautifulSoup(owner.get(ADDRESS).content, "html.parser").select_one("main p.notice.warning")
    assert told is not None
    assert told.get_text().endswith("The cost is USD 2.00, bound USD 1.00.")
    # A viewer reads the same, without the link.
    viewer = signed_in(make_member(study.project, "viewer"))
    assert cells(viewer)["Cost"][3] == after.removesuffix(" Resume it")
    assert f'href="{ADDRESS}resume/"' not in viewer.get(ADDRESS).content.decode()


def test_a_study_resumed_on_its_page_shows_what_came_since(study: Study) -> None:
    owner = signed_in(make_member(study.project, "owner"))
    strike()
    owner.post(f"{ADDRESS}resume/")
    assert fresh(study).state == StudyState.OPEN
    strike()
    assert fresh(study).state == StudyState.OPEN
    value, _, _, did = cells(owner)["Cost"]
    assert value.startswith("USD 0.00 since")
    assert "Resumed" in did
    assert "paused best-vase by the policy cost: The cost is USD 2.00, bound USD 1.00." in words_of(
        owner.get("/projects/vases/events/")
    )


def test_a_study_without_policies_has_no_table_of_them() -> None:
    study = launch_study(instances=1)
    owner = signed_in(make_member(study.project, "owner"))
    assert 'id="policies"' not in owner.get(ADDRESS).content.decode()


def test_prolific_is_paused_too_and_people_there_finish(study: Study, tmp_path: Path, settings: Settings) -> None:
    at_work = arrive_at_work(study, "ben")
    ProlificAccount.objects.create(
        project=study.project, sealed_token=seal(TOKEN), user_id="5f00", workspace_id=WORKSPACE, saved_at=NOON
    )
    with local_platform(tmp_path) as running:
        settings.PROLIFIC_ADDRESS = running.double.address
        row = prolific_studies.write_draft(study=study, draft=PROLIFIC_DRAFT, by=TESTS, now=NOON)
        prolific_studies.send_draft(prolific_study=row, now=NOON)
        prolific_studies.publish(prolific_study=fresh(row), by=TESTS, now=NOON)
        for _ in range(2):
            strike()
    assert ProlificStudy.objects.get().status == "PAUSED"
    assert Event.objects.filter(what="prolific study paused").count() == 1
    answer_all(at_work, "candidate-0")
    assert fresh(at_work).state == SessionState.FINISHED


def test_a_prolific_that_does_not_answer_stops_nothing_and_is_asked_again(study: Study, settings: Settings) -> None:
    """No account is connected, so Prolific cannot be paused: the study here is, and its page of Prolific says why."""
    row = make_prolific_study(study)
    strike()
    assert fresh(study).state == StudyState.PAUSED
    assert fresh(row).problem
    assert fresh(row).status == "ACTIVE"


def test_a_pause_by_a_person_pauses_nothing_on_prolific(study: Study) -> None:
    row = make_prolific_study(study)
    change_state(study=study, to=StudyState.PAUSED, by=TESTS, now=NOON)
    strike()
    assert not PolicyAct.objects.exists()
    assert fresh(row).problem == ""
    assert Session.objects.count() == 2
