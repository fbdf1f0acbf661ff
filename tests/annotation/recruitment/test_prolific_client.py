from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import Connection, ProlificError
from annotation.recruitment.prolific.statuses import EventType, RejectionCategory
from simulation.prolific_double.server import WORKSPACE
from simulation.prolific_double.switches import Switch
from tests.prolific import BY_RESEARCHER, DONE, NOON, PERSON, TOKEN, Local, local_platform, new_study
from tests.receivers import answer_with, receiving

WHY = "Two of the three clearly marked instruction checks were answered incorrectly, so we cannot use this submission."


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    with local_platform(tmp_path) as running:
        yield running


def test_a_wrong_token_is_named(local: Local) -> None:
    client = Client(Connection("another-token", address=local.double.address))
    with pytest.raises(ProlificError, match="does not accept the token") as raised:
        client.read_user()
    assert raised.value.status == 401


def test_a_balance_is_in_cents(local: Local) -> None:
    balance = local.client.read_balance(WORKSPACE)
    assert (balance.currency_code, balance.total_balance, balance.available_balance) == ("USD", 1_000_000, 1_000_000)


def test_a_draft_can_be_changed_in_everything(local: Local) -> None:
    study = local.client.create_study(new_study())
    filters = (
        bodies.RangeFilter(filter_id="approval_rate", selected_range=bodies.Range(lower=98, upper=100)),
        bodies.SelectFilter(filter_id="current-country-of-residence", selected_values=("1",)),
    )
    changes = bodies.StudyChanges(name="Another name", reward=500, filters=filters)
    changed = local.client.update_study(study.id, changes)
    assert (changed.name, changed.reward, changed.total_available_places) == ("Another name", 500, 3)
    assert local.client.read_study(study.id) == changed


def test_a_published_study_only_gets_more_places(local: Local) -> None:
    study = local.published()
    assert local.client.set_places(study, 5).total_available_places == 5
    with pytest.raises(ProlificError, match="total_available_places: This field can only be increased"):
        local.client.set_places(study, 4)
    with pytest.raises(ProlificError, match="reward: This field can no longer be changed"):
        local.client.update_study(study, bodies.StudyChanges(reward=500))


def test_a_study_is_paused_resumed_and_stopped(local: Local) -> None:
    study = local.published()
    assert local.client.pause_study(study).status == "PAUSED"
    assert local.client.resume_study(study).status == "ACTIVE"
    assert local.client.stop_study(study).status == "COMPLETED"


@pytest.mark.parametrize("people", [0, 1, 100, 101, 250])
def test_all_pages_of_submissions_are_read(local: Local, people: int) -> None:
    study = local.published(total_available_places=max(people, 1))
    ids = [local.taken(study, participant=f"{number:024x}") for number in range(people)]
    assert [submission.id for submission in local.client.list_submissions(study)] == ids


def test_small_pages_are_followed_to_the_end(local: Local) -> None:
    study = local.published(total_available_places=12)
    ids = [local.taken(study, participant=f"{number:024x}") for number in range(12)]
    local.switch(Switch.SMALL_PAGES)
    assert [submission.id for submission in local.client.list_submissions(study)] == ids


def page(next_: str) -> bytes:
    return f'{{"results": [], "_links": {{"next": {{"href": "{next_}"}}}}}}'.encode()


def test_a_next_page_at_another_address_does_not_get_the_token() -> None:
    with receiving(answer_with(200, b"{}")) as elsewhere:
        with receiving(answer_with(200, page(f"{elsewhere.url}?page=2"))) as receiver:
            client = Client(Connection(TOKEN, address=f"http://127.0.0.1:{receiver.port}"))
            with pytest.raises(ProlificError, match="list does not end"):
                client.list_groups(WORKSPACE)
        assert elsewhere.requests == []
    assert [request.path for request in receiver.requests] == [
        f"/api/v1/participant-groups/?workspace_id={WORKSPACE}",
        "/api/v1/participant-groups/?page=2",
    ]


@pytest.mark.parametrize("submission", ["", ".", "..", "a/b", "a?b", "ä", "a b"])
def test_what_cannot_be_an_id_stays_out_of_addresses(local: Local, submission: str) -> None:
    with pytest.raises(ProlificError, match="is not an id of Prolific's"):
        local.client.read_submission(submission)


def test_an_unknown_id_is_not_there(local: Local) -> None:
    with pytest.raises(ProlificError, match="does not have this") as raised:
        local.client.read_submission("66f00000000000000000bb01")
    assert raised.value.status == 404


def test_a_status_that_is_not_published_is_read(local: Local) -> None:
    study = local.published()
    submission = local.taken(study)
    local.switch(Switch.UNKNOWN_STATUS)
    # Not through the checks of `tests.prolific`: the published description does not have it.
    client = Client(Connection(TOKEN, address=local.double.address))
    assert client.read_submission(submission).status == "PROCESSING"
    assert [one.status for one in client.list_submissions(study)] == ["PROCESSING"]


def test_a_rejection_has_a_reason_that_the_participant_reads(local: Local) -> None:
    submission = local.completed(local.published())
    with pytest.raises(ProlificError, match="message: This must have at least 100 characters"):
        local.client.reject_submission(submission, category=RejectionCategory.FAILED_CHECK, message=WHY[:99])
    changed = local.client.reject_submission(submission, category=RejectionCategory.FAILED_CHECK, message=WHY[:100])
    assert changed.status == "REJECTED"
    assert local.client.undo_rejection(submission).status == "AWAITING REVIEW"


def test_an_approval_is_repeated_without_paying_again(local: Local) -> None:
    submission = local.completed(local.published())
    assert local.client.approve_submission(submission).status == "APPROVED"
    assert local.client.approve_submission(submission).status == "APPROVED"
    # 4.00 and 1.33.
    assert local.client.read_balance(WORKSPACE).total_balance == 1_000_000 - 533


def test_a_researcher_completes_where_the_redirect_was_lost(local: Local) -> None:
    submission = local.opened(local.published())
    assert local.client.complete_submission(submission, code=BY_RESEARCHER).status == "AWAITING REVIEW"
    assert local.client.complete_submission(submission, code=BY_RESEARCHER).status == "AWAITING REVIEW"
    assert local.client.read_submission(submission).entered_code == BY_RESEARCHER


def test_a_code_of_participants_is_not_the_researchers(local: Local) -> None:
    submission = local.opened(local.published())
    with pytest.raises(ProlificError, match="no code of this kind for researchers"):
        local.client.complete_submission(submission, code=DONE)


def test_a_participant_is_asked_to_return(local: Local) -> None:
    submission = local.completed(local.published())
    local.client.ask_to_return(submission, reason="Withdrew consent")
    assert local.client.read_submission(submission).return_requested == NOON + timedelta(minutes=15)


def test_many_are_approved_later(local: Local) -> None:
    study = local.published()
    submissions = [local.completed(study, participant=f"{number:024x}") for number in range(3)]
    local.client.approve_submissions(submissions)
    assert {local.status(submission) for submission in submissions} == {"AWAITING REVIEW"}
    local.later(seconds=1)
    assert {local.status(submission) for submission in submissions} == {"APPROVED"}


def test_a_group_keeps_its_members_out_of_a_study(local: Local) -> None:
    client = local.client
    group = client.create_group(WORKSPACE, name="Wrote descriptions", participants=[PERSON])
    assert [(one.name, one.participant_count) for one in client.list_groups(WORKSPACE)] == [("Wrote descriptions", 1)]
    chosen = bodies.SelectFilter(filter_id="participant_group_blocklist", selected_values=(group.id,))
    study = local.published(filters=(chosen,))
    with pytest.raises(AssertionError, match="not for this participant"):
        local.taken(study)
    client.add_to_group(group.id, ["60bf9310e8dec401be6e9616", PERSON])
    assert client.list_group_members(group.id) == [PERSON, "60bf9310e8dec401be6e9616"]
    client.remove_from_group(group.id, [PERSON])
    assert client.list_group_members(group.id) == ["60bf9310e8dec401be6e9616"]
    assert local.taken(study)


def test_filters_are_listed_with_what_they_offer(local: Local) -> None:
    by_id = {one.filter_id: one for one in local.client.list_filters(WORKSPACE)}
    assert by_id["current-country-of-residence"].choices["1"] == "United States"
    assert (by_id["approval_rate"].type, by_id["approval_rate"].max) == ("range", 100.5)


def test_eligible_people_are_counted(local: Local) -> None:
    whole = bodies.RangeFilter(filter_id="approval_rate", selected_range=bodies.Range(lower=98))
    country = bodies.SelectFilter(filter_id="current-country-of-residence", selected_values=("0", "1"))
    assert local.client.count_eligible(WORKSPACE, ()) == 10_000
    # The local platform lets half of all people through each filter.
    assert local.client.count_eligible(WORKSPACE, (whole, country)) == 2_500


@pytest.mark.parametrize("is_plain", [False, True])
def test_a_subscription_works_once_it_is_confirmed(local: Local, is_plain: bool) -> None:
    if is_plain:
        local.switch(Switch.PLAIN_SUBSCRIPTIONS)
        local.client = Client(Connection(TOKEN, address=local.double.address))
    url = "https://annotate.example.org/prolific/hook/"
    made, secret = local.client.subscribe(WORKSPACE, event_type=EventType.SUBMISSION_STATUS, target_url=url)
    assert not made.is_enabled
    with pytest.raises(ProlificError, match="X-Hook-Secret"):
        local.client.confirm_subscription(made.id, secret="another")
    assert local.client.confirm_subscription(made.id, secret=secret).is_enabled
    assert [(one.id, one.is_enabled) for one in local.client.list_subscriptions(WORKSPACE)] == [(made.id, True)]


def test_a_new_secret_replaces_the_old_one(local: Local) -> None:
    first, second = local.client.create_secret(WORKSPACE), local.client.create_secret(WORKSPACE)
    assert first.value != second.value
    assert first.value not in repr(first)


def test_messages_are_sent_to_one_and_to_many(local: Local) -> None:
    study = local.published()
    local.client.send_message(PERSON, study=study, text="Thank you.")
    local.client.send_messages(["1" * 24, "2" * 24], study=study, text="A new study.")
    messages = local.client.list_messages(since=NOON - timedelta(days=1))
    assert [message.body for message in messages] == ["Thank you.", "A new study.", "A new study."]


def test_a_bonus_is_set_up_and_paid(local: Local) -> None:
    study = local.published()
    first, second = (local.completed(study, participant=letter * 24) for letter in "ab")
    bonuses = local.client.set_up_bonuses(study, {first: Decimal("1.50"), second: Decimal("0.75")})
    assert (bonuses.amount, bonuses.fees, bonuses.total_amount) == (225, 75, 300)
    assert local.client.read_submission(first).bonus_payments == ()
    local.client.pay_bonuses(bonuses.id)
    assert local.client.read_submission(first).bonus_payments == (150,)
    assert local.client.read_submission(second).bonus_payments == (75,)


def test_a_bonus_is_paid_again_at_every_call(local: Local) -> None:
    """As on Prolific: whoever repeats a call whose reply was lost pays twice."""
    study = local.published()
    submission = local.completed(study)
    bonuses = local.client.set_up_bonuses(study, {submission: Decimal(1)})
    local.switch(Switch.REPLY_LOST, "1")
    with pytest.raises(ProlificError) as raised:
        local.client.pay_bonuses(bonuses.id)
    assert raised.value.is_uncertain
    local.client.pay_bonuses(bonuses.id)
    assert local.client.read_submission(submission).bonus_payments == (100, 100)


def test_a_bonus_for_a_stranger_is_refused(local: Local) -> None:
    study = local.published()
    with pytest.raises(ProlificError, match="did not take part: 66f00000000000000000bb01"):
        local.client.set_up_bonuses(study, {"66f00000000000000000bb01": Decimal(1)})


@pytest.mark.parametrize("amount", ["0", "-1", "1.005", "0.001"])
def test_an_amount_that_cannot_be_paid_is_not_rounded(local: Local, amount: str) -> None:
    with pytest.raises(ProlificError, match=r"at least 0\.01 and has two decimals"):
        local.client.set_up_bonuses(local.published(), {"66f00000000000000000bb01": Decimal(amount)})


def test_a_success_that_cannot_be_read_is_uncertain() -> None:
    with receiving(answer_with(200, b'{"identity": 3}')) as receiver:
        client = Client(Connection(TOKEN, address=f"http://127.0.0.1:{receiver.port}"))
        with pytest.raises(ProlificError, match="form that this version does not know") as write:
            client.publish_study("66f00000000000000000aa01")
        with pytest.raises(ProlificError, match="form that this version does not know") as read:
            client.read_user()
    assert (write.value.is_uncertain, read.value.is_uncertain) == (True, False)


def test_drafts_are_listed_with_our_names_for_them(local: Local) -> None:
    study = local.client.create_study(new_study(internal_name="lineup-vases-1"))
    [listed] = local.client.list_studies()
    assert (listed.id, listed.internal_name, listed.status) == (study.id, "lineup-vases-1", "UNPUBLISHED")


def test_the_cost_of_a_study_has_fee_and_taxes_apart(local: Local) -> None:
    """3 places of 4.00; the local platform takes a third."""
    study = local.published()
    cost = local.client.read_cost(study, is_projected=True).rewards
    assert (cost.rewards.amount, cost.fees.amount, cost.tax.amount, cost.rewards.currency) == (1200, 400, 0, "USD")
    assert local.client.read_cost(study).rewards.rewards.amount == 0
    local.client.approve_submission(local.completed(study))
    assert local.client.read_cost(study).rewards.rewards.amount == 400


def test_a_cost_is_calculated_beforehand(local: Local) -> None:
    assert local.client.calculate_cost(reward=400, places=3) == 1600
