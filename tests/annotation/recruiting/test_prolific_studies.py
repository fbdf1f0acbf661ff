"""Studies on Prolific, against the local platform: nothing happens twice, and what goes wrong has a sentence."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from annotation.actions.recruiting import prolific_studies
from annotation.actions.recruiting.prolific_draft import Draft, ScreenOut
from annotation.models import ProlificAccount, ProlificStudy
from simulation.prolific_double.routes import Result
from simulation.prolific_double.server import WORKSPACE
from simulation.prolific_double.switches import Switch
from studies.actions.studies import change_state
from studies.errors import StudyError
from studies.models import CompletionCode, Event, Outcome, Study, StudyState
from tests.annotation.test_lobby import LOBBY, make_live
from tests.factories import NOON, PROLIFIC_DRAFT, fresh, redesign
from tests.prolific import Local
from tests.recruited import connect_to, drafted, published, remote_studies

pytestmark = pytest.mark.django_db


def events(study: Study) -> list[str]:
    mine = Event.objects.filter(study=study, what__startswith="prolific").order_by("pk")
    return list(mine.values_list("what", flat=True))


def refused(action: Callable[..., object], **given: Any) -> str:
    with pytest.raises(StudyError) as raised:
        action(now=NOON, **given)
    return str(raised.value)


def lose_reply(local: Local, monkeypatch: pytest.MonkeyPatch, method: str, ending: str) -> None:
    """Have the platform do what the next request to such an address asks, and hang up."""
    real, left = local.double.answer, [1]

    def answer(asked: str, target: str, headers: Any, content: bytes) -> Result | None:
        result = real(asked, target, headers, content)
        if asked == method and target.endswith(ending) and left:
            left.pop()
            return None
        return result

    monkeypatch.setattr(local.double, "answer", answer)


def test_a_draft_reaches_prolific_as_it_was_written(local: Local, study: Study, by: User, settings: Settings) -> None:
    settings.SITE_URL = "https://annotate.example.org"
    row = drafted(study, by)
    [remote] = remote_studies(local)
    assert (row.remote_id, row.status, row.currency, row.reward) == (remote["id"], "UNPUBLISHED", "USD", Decimal(4))
    assert {name: remote[name] for name in ("name", "reward", "total_available_places")} == {
        "name": "Which vase?",
        "reward": 400,
        "total_available_places": 3,
    }
    assert remote["internal_name"] == row.internal_name
    # A folder of the workspace that pays.
    assert [(one.id, one.title) for one in local.client.list_projects(WORKSPACE)] == [
        (remote["project"], "Lineup: vases")
    ]
    assert remote["external_study_url"] == (
        f"https://annotate.example.org/take/{study.entry_name}/"
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    assert (row.published_at, row.due_at) == (None, None)
    assert events(study) == ["prolific study drafted"]


def test_every_ending_has_a_code_that_pays_nobody_unseen(local: Local, study: Study, by: User) -> None:
    """The study pays by the session, so nobody finishes with few answers, and nobody waits in a lobby."""
    row = drafted(study, by)
    codes = {code["code"]: code for code in remote_studies(local)[0]["completion_codes"]}
    mine = dict(CompletionCode.objects.filter(study=study).values_list("outcome", "code"))

    def of(outcome: str) -> tuple[str, str, list[dict[str, str]]]:
        code = codes.pop(mine[outcome])
        return code["code_type"], code["actor"], code["actions"]

    review = [{"action": "MANUALLY_REVIEW"}]
    assert of(Outcome.FINISHED) == ("COMPLETED", "participant", review)
    assert of(Outcome.UNLIKELY_TIMES) == ("OTHER", "participant", review)
    assert of(Outcome.LEFT_OUT) == ("OTHER", "participant", review)
    returned = [{"return_reason": "Withdrew consent", "action": "REQUEST_RETURN"}]
    assert of(Outcome.NO_CONSENT) == ("NO_CONSENT", "participant", returned)
    returned = [{"return_reason": "Did not pass the practice questions", "action": "REQUEST_RETURN"}]
    assert of(Outcome.FAILED_CHECKS) == ("FAILED_ATTENTION_CHECK", "participant", returned)
    [ours] = codes.values()
    assert (ours["actor"], ours["actions"]) == ("researcher", review)
    assert prolific_studies.researcher_code(row) == ours["code"]
    assert prolific_studies.part_pay_code(row) == ""


def test_who_takes_the_other_role_is_asked_to_return_by_its_codes_too(local: Local, by: User) -> None:
    feeding, study = make_live(lobby=LOBBY | {"either_role": True})
    connect_to(study.project)
    drafted(study, by)
    codes = {code["code"]: code["actions"][0]["action"] for code in remote_studies(local)[0]["completion_codes"]}
    theirs = dict(CompletionCode.objects.filter(study=feeding).values_list("code", "outcome"))
    assert {theirs[code]: codes[code] for code in codes if code in theirs} == {
        Outcome.NO_CONSENT: "REQUEST_RETURN",
        Outcome.FAILED_CHECKS: "REQUEST_RETURN",
    }


def test_a_workspace_that_may_has_a_code_to_pay_in_part(local: Local, study: Study, by: User) -> None:
    row = drafted(study, by, pays_in_part=True)
    codes = {code["code"]: code["actions"] for code in remote_studies(local)[0]["completion_codes"]}
    assert codes[prolific_studies.part_pay_code(row)] == [{"action": "DYNAMIC_PAYMENT"}]
    kept = prolific_studies.researcher_code(row), prolific_studies.part_pay_code(row)
    row = drafted(study, by, pays_in_part=True, places=4)
    assert (prolific_studies.researcher_code(row), prolific_studies.part_pay_code(row)) == kept


def test_who_fails_the_practice_is_paid_a_fixed_amount_instead_of_asked_to_return(
    local: Local, study: Study, by: User
) -> None:
    row = drafted(study, by, screen_out=ScreenOut(Decimal("0.50"), 20))
    code = CompletionCode.objects.get(study=study, outcome=Outcome.FAILED_CHECKS).code
    for _ in range(2):
        sent = {each["code"]: each for each in remote_studies(local)[0]["completion_codes"]}
        [action] = sent[code]["actions"]
        assert (sent[code]["code_type"], sent[code]["actor"]) == ("FIXED_SCREENOUT", "participant")
        assert action == {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 50, "slots": 20}
        # Sent again as it is written here, as publishing does.
        prolific_studies.send_draft(prolific_study=row, now=NOON)
    drafted(study, by)
    sent = {each["code"]: each for each in remote_studies(local)[0]["completion_codes"]}
    assert sent[code]["code_type"] == "FAILED_ATTENTION_CHECK"


def test_a_draft_written_again_changes_the_same_draft(local: Local, study: Study, by: User) -> None:
    first = drafted(study, by)
    again = drafted(study, by)
    changed = drafted(study, by, places=5, reward=Decimal("4.50"))
    assert first.pk == again.pk == changed.pk
    [remote] = remote_studies(local)
    assert (remote["total_available_places"], remote["reward"]) == (5, 450)
    assert events(study) == ["prolific study drafted", "prolific study changed"]


def test_a_draft_whose_reply_was_lost_is_found_again_by_its_name(
    local: Local, study: Study, by: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = prolific_studies.write_draft(study=study, draft=PROLIFIC_DRAFT, by=by, now=NOON)
    lose_reply(local, monkeypatch, "POST", "/studies/")
    said = refused(prolific_studies.send_draft, prolific_study=row)
    assert "It may or may not have done this. Try again: nothing is done twice." in said
    row = fresh(row)
    assert (row.remote_id, row.problem, len(remote_studies(local))) == ("", said, 1)
    prolific_studies.send_draft(prolific_study=row, now=NOON)
    [remote] = remote_studies(local)
    assert (fresh(row).remote_id, fresh(row).problem) == (remote["id"], "")


def test_a_draft_that_is_being_created_is_not_created_by_a_second_click(local: Local, study: Study, by: User) -> None:
    row = prolific_studies.write_draft(study=study, draft=PROLIFIC_DRAFT, by=by, now=NOON)
    # The first request has begun and is not on Prolific yet.
    ProlificStudy.objects.update(creation_sent_at=NOON)
    assert "Try again in a minute" in refused(prolific_studies.send_draft, prolific_study=row)
    assert remote_studies(local) == []
    prolific_studies.send_draft(prolific_study=row, now=NOON + timedelta(minutes=1))
    assert len(remote_studies(local)) == 1


def test_a_draft_that_was_deleted_on_prolific_is_created_again(local: Local, study: Study, by: User) -> None:
    first = drafted(study, by)
    local.double.store.delete("study", first.remote_id)
    assert "Prolific does not have this" in refused(prolific_studies.publish, prolific_study=first, by=by)
    again = drafted(study, by)
    [remote] = remote_studies(local)
    assert (again.pk, again.remote_id, again.problem) == (first.pk, remote["id"], "")
    assert remote["id"] != first.remote_id


def test_a_draft_that_prolific_refuses_can_be_sent_again_at_once(local: Local, study: Study, by: User) -> None:
    row = prolific_studies.write_draft(
        study=study, draft=Draft(**{**vars(PROLIFIC_DRAFT), "at_most": 30}), by=by, now=NOON
    )
    said = refused(prolific_studies.send_draft, prolific_study=row)
    assert "maximum_allowed_time: This must be at least 51." in said
    assert fresh(row).problem == said
    assert drafted(study, by).status == "UNPUBLISHED"
    assert len(remote_studies(local)) == 1


@pytest.mark.parametrize(
    ("action", "before", "after"),
    [
        ("publish", [], "ACTIVE"),
        ("pause", ["publish"], "PAUSED"),
        ("resume", ["publish", "pause"], "ACTIVE"),
        ("stop", ["publish"], "COMPLETED"),
    ],
)
def test_a_change_whose_reply_was_lost_is_seen_to_have_happened(
    local: Local,
    study: Study,
    by: User,
    monkeypatch: pytest.MonkeyPatch,
    action: str,
    before: list[str],
    after: str,
) -> None:
    row = drafted(study, by)
    for one in before:
        getattr(prolific_studies, one)(prolific_study=row, by=by, now=NOON)
    known = events(study)
    lose_reply(local, monkeypatch, "POST", "/transition/")
    getattr(prolific_studies, action)(prolific_study=row, by=by, now=NOON)
    assert (fresh(row).status, remote_studies(local)[0]["status"], fresh(row).problem) == (after, after, "")
    assert len(events(study)) == len(known) + 1
    # Once more, as a doubled click does, changes nothing.
    getattr(prolific_studies, action)(prolific_study=row, by=by, now=NOON)
    assert (fresh(row).status, len(events(study))) == (after, len(known) + 1)


def test_publishing_has_submissions_read_from_then_on(local: Local, study: Study, by: User) -> None:
    row = published(study, by)
    assert (row.status, row.published_at, row.due_at) == ("ACTIVE", NOON, NOON)
    assert events(study) == ["prolific study drafted", "prolific study published"]
    event = Event.objects.get(what="prolific study published")
    assert (event.by, event.details) == (by, {"number": row.pk, "places": 3})


def test_a_published_study_is_drafted_no_more(local: Local, study: Study, by: User) -> None:
    published(study, by)
    said = refused(prolific_studies.write_draft, study=study, draft=PROLIFIC_DRAFT, by=by)
    assert said == "The study is published on Prolific already. Add places there, or stop it first."


def test_after_a_stopped_study_comes_another(local: Local, study: Study, by: User) -> None:
    first = published(study, by)
    prolific_studies.stop(prolific_study=first, by=by, now=NOON)
    second = published(study, by)
    assert first.pk != second.pk
    assert [one["status"] for one in remote_studies(local)] == ["COMPLETED", "ACTIVE"]
    assert prolific_studies.researcher_code(first) != prolific_studies.researcher_code(second)


@pytest.mark.parametrize("state", [StudyState.PAUSED, StudyState.CLOSED])
def test_only_an_open_study_is_published(local: Local, study: Study, by: User, state: StudyState) -> None:
    row = drafted(study, by)
    change_state(study=study, to=state, by=by, now=NOON)
    row = ProlificStudy.objects.get()
    said = refused(prolific_studies.publish, prolific_study=row, by=by)
    assert said.startswith(f"The study here is {state.label.lower()}, so people could not take part.")
    assert remote_studies(local)[0]["status"] == "UNPUBLISHED"


def test_nobody_is_let_in_again_while_the_study_here_is_not_open(local: Local, study: Study, by: User) -> None:
    row = published(study, by)
    prolific_studies.pause(prolific_study=row, by=by, now=NOON)
    change_state(study=study, to=StudyState.PAUSED, by=by, now=NOON)
    row = ProlificStudy.objects.get()
    assert "The study here is paused" in refused(prolific_studies.resume, prolific_study=row, by=by)
    prolific_studies.raise_places(prolific_study=row, places=4, by=by, now=NOON)
    change_state(study=fresh(study), to=StudyState.CLOSED, by=by, now=NOON)
    row = ProlificStudy.objects.get()
    said = refused(prolific_studies.raise_places, prolific_study=row, places=5, by=by)
    assert "The study here is closed" in said
    assert (remote_studies(local)[0]["status"], remote_studies(local)[0]["total_available_places"]) == ("PAUSED", 4)


def test_endings_that_a_draft_got_later_have_their_codes_when_it_is_published(
    local: Local, study: Study, by: User
) -> None:
    row = drafted(study, by)
    ours = prolific_studies.researcher_code(row)
    waited = CompletionCode.objects.get(study=study, outcome=Outcome.WAITED).code
    assert waited not in [code["code"] for code in remote_studies(local)[0]["completion_codes"]]
    redesign(study, lobby=study.design.lobby.model_copy(update={"minutes": 5}))
    prolific_studies.publish(prolific_study=ProlificStudy.objects.get(), by=by, now=NOON)
    codes = {code["code"]: code["actions"] for code in remote_studies(local)[0]["completion_codes"]}
    assert codes[waited] == [{"action": "MANUALLY_REVIEW"}]
    assert ours in codes
    assert waited in [code["code"] for code in fresh(row).details["completion_codes"]]


SAID = {
    Switch.BALANCE_LOW: "The balance of the workspace is too low for this. Top it up first.",
    Switch.STUDY_REFUSED: "The study does not meet the platform's rules, so it was not published.",
    Switch.TOKEN_REVOKED: "Prolific does not accept the token.",
    Switch.AWAY: "Prolific failed (503). Try again later.",
    Switch.RATE_LIMITED: "Prolific has too much to do at the moment. Try again in a minute.",
    Switch.OTHER_CURRENCY: "The account pays in GBP now, and the reward of 4.00 was chosen in USD.",
}


@pytest.mark.parametrize("switch", SAID)
def test_what_prevents_publishing_is_said_and_kept_until_it_works(
    local: Local, study: Study, by: User, switch: Switch
) -> None:
    row = drafted(study, by)
    local.switch(switch)
    said = refused(prolific_studies.publish, prolific_study=row, by=by)
    assert SAID[switch] in said
    row = fresh(row)
    assert (row.problem, row.status, row.due_at) == (said, "UNPUBLISHED", None)
    assert remote_studies(local)[0]["status"] == "UNPUBLISHED"
    local.switch(switch, "off")
    prolific_studies.publish(prolific_study=row, by=by, now=NOON)
    assert (fresh(row).status, fresh(row).problem) == ("ACTIVE", "")


def test_places_are_only_raised(local: Local, study: Study, by: User) -> None:
    row = published(study, by)
    prolific_studies.raise_places(prolific_study=row, places=5, by=by, now=NOON)
    prolific_studies.raise_places(prolific_study=row, places=5, by=by, now=NOON)
    assert (fresh(row).places, remote_studies(local)[0]["total_available_places"]) == (5, 5)
    assert events(study)[2:] == ["prolific places added"]
    said = refused(prolific_studies.raise_places, prolific_study=row, places=4, by=by)
    assert said == "The study has 5 places on Prolific. Enter a larger number: you entered 4."


def test_places_whose_reply_was_lost_are_added_once(
    local: Local, study: Study, by: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = published(study, by)
    lose_reply(local, monkeypatch, "PATCH", f"/studies/{row.remote_id}/")
    prolific_studies.raise_places(prolific_study=row, places=5, by=by, now=NOON)
    assert (fresh(row).places, remote_studies(local)[0]["total_available_places"]) == (5, 5)
    assert events(study)[2:] == ["prolific places added"]


def test_places_are_raised_while_paused_and_after_the_end(local: Local, study: Study, by: User) -> None:
    row = published(study, by)
    prolific_studies.pause(prolific_study=row, by=by, now=NOON)
    prolific_studies.raise_places(prolific_study=row, places=4, by=by, now=NOON)
    assert (fresh(row).places, fresh(row).status) == (4, "PAUSED")
    prolific_studies.stop(prolific_study=row, by=by, now=NOON)
    prolific_studies.raise_places(prolific_study=row, places=5, by=by, now=NOON)
    assert (fresh(row).places, fresh(row).status) == (5, "ACTIVE")


def test_places_that_the_balance_does_not_pay_are_refused(local: Local, study: Study, by: User) -> None:
    """A place costs 4.00 and a third of it: of 10,000.00, 1,876 places are more than there is."""
    row = published(study, by)
    said = refused(prolific_studies.raise_places, prolific_study=row, places=1876, by=by)
    assert "The balance of the workspace is too low" in said
    assert (fresh(row).places, fresh(row).problem) == (3, said)


def test_what_happens_on_prolific_is_read(local: Local, study: Study, by: User) -> None:
    row = published(study, by)
    local.client.approve_submission(local.completed(row.remote_id))
    local.client.pause_study(row.remote_id)
    cost = prolific_studies.refresh(prolific_study=row, now=NOON)
    assert cost is not None
    assert (cost.rewards.rewards.amount, cost.rewards.fees.amount) == (400, 133)
    row = fresh(row)
    assert (row.status, row.places, row.places_taken) == ("PAUSED", 3, 1)


def test_a_status_that_is_not_published_is_kept_as_it_is(local: Local, study: Study, by: User) -> None:
    row = published(study, by)
    document = {**remote_studies(local)[0], "status": "UNDER INVESTIGATION"}
    local.double.store.write("study", document)
    local.double.store.commit()
    prolific_studies.refresh(prolific_study=row, now=NOON)
    assert fresh(row).status == "UNDER INVESTIGATION"


def test_a_currency_that_changed_is_said_with_what_to_do(local: Local, study: Study, by: User) -> None:
    row = published(study, by)
    local.switch(Switch.OTHER_CURRENCY)
    said = refused(prolific_studies.refresh, prolific_study=row)
    assert said == "The account pays in GBP now, and the reward of 4.00 was chosen in USD. Stop the study."
    assert refused(prolific_studies.raise_places, prolific_study=row, places=5, by=by) == said
    assert fresh(row).problem == said


def test_without_an_account_there_is_a_sentence(study: Study, by: User) -> None:
    ProlificAccount.objects.update(workspace_id="")
    row = prolific_studies.write_draft(study=study, draft=PROLIFIC_DRAFT, by=by, now=NOON)
    assert "No workspace is chosen to pay." in refused(prolific_studies.send_draft, prolific_study=row)
    ProlificAccount.objects.all().delete()
    assert "has no Prolific API token" in refused(prolific_studies.send_draft, prolific_study=row)
    assert "has no Prolific API token" in fresh(row).problem
