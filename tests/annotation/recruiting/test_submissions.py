"""Studies and submissions as Prolific has them, read from the local platform by HTTP."""

from datetime import timedelta
from decimal import Decimal

import pytest

from annotation.actions import sessions
from annotation.actions.answering import advance_session
from annotation.actions.arriving.switch_role import switch
from annotation.actions.recruiting.submissions import due_studies, mark_due, read_study
from annotation.models import ProlificStudy, Seat, Session, SessionState, Submission
from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.statuses import StudyStatus
from background.sealed_secrets import keyed_digest, unseal
from simulation.prolific_double.switches import Switch
from studies.actions.completion_codes import completion_code
from studies.models import Event, Outcome
from tests.annotation.test_lobby import make_live
from tests.factories import NOON, fresh, launch_study
from tests.prolific import BY_RESEARCHER, Local, new_study
from tests.recruited import code_shown, come, connect_to, finish, flags, mirror, recruit_for

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)
ANN, BEN = "60bf9310e8dec401be6e9615", "60bf9310e8dec401be6e9616"


def test_a_submission_is_mirrored_under_a_digest_with_its_session(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    id_, session = come(local, row, ANN)
    row = mirror(row, local.time)
    submission = Submission.objects.get()
    assert unseal(submission.sealed_id) == id_
    assert submission.id_digest == keyed_digest(id_, purpose="submission")
    assert (submission.status, submission.session, submission.flag) == ("ACTIVE", session, "")
    assert (row.status, row.places, row.places_taken, row.problem) == ("ACTIVE", 3, 1, "")
    assert row.read_at == local.time


def test_a_return_frees_the_place_and_the_answers_stay(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    id_, session = come(local, row, ANN)
    mirror(row, local.time)
    local.play("return", submission=id_)
    mirror(row, local.time)
    assert fresh(session).state == SessionState.RETURNED
    assert not Seat.objects.filter(session=session, filled_at=None).exists()
    assert flags(row) == [("RETURNED", "")]
    event = Event.objects.get(what="seat freed")
    assert (event.by_name, event.details) == ("timetable", {"session": session.pk, "answers": 0})


@pytest.mark.parametrize("status", ["TIMED-OUT", "REJECTED"])
def test_a_lost_submission_frees_its_place_too(local: Local, status: str) -> None:
    row = recruit_for(launch_study(), local)
    id_, session = come(local, row, ANN)
    if status == "TIMED-OUT":
        local.later(minutes=61)
    else:
        local.play("complete", submission=id_)
        local.client.reject_submission(id_, category="NO_CODE", message="You left without a code. " * 5)  # type: ignore[arg-type]
    mirror(row, local.time)
    assert fresh(session).state == SessionState.RETURNED
    assert flags(row) == [(status, "")]


def test_who_returned_may_come_back_under_a_new_submission(local: Local) -> None:
    local.switch(Switch.PEOPLE_RETURN)
    row = recruit_for(launch_study(), local)
    first, session = come(local, row, ANN)
    local.play("return", submission=first)
    mirror(row, local.time)
    _, again = come(local, row, ANN)
    mirror(row, local.time)
    assert (again.pk != session.pk, fresh(again).state) == (True, SessionState.INSTRUCTIONS)
    assert flags(row) == [("RETURNED", ""), ("ACTIVE", "")]


def test_completed_there_and_not_here_is_flagged_and_the_session_goes_on(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    id_, session = come(local, row, ANN)
    local.play("complete", submission=id_)
    mirror(row, local.time)
    assert flags(row) == [("AWAITING REVIEW", "no_data")]
    assert fresh(session).state == SessionState.INSTRUCTIONS
    assert Event.objects.get(what="submission flagged").details == {"session": session.pk, "flag": "no_data"}
    finish(session, local.time)
    mirror(row, local.time)
    assert flags(row) == [("AWAITING REVIEW", "")]
    assert Event.objects.filter(what="submission fits").count() == 1


def test_completed_there_by_somebody_who_never_came_is_flagged(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    local.completed(row.remote_id, ANN, code=completion_code(study=row.study, outcome=Outcome.FINISHED))
    mirror(row, local.time)
    assert flags(row) == [("AWAITING REVIEW", "no_data")]


def test_finished_with_the_code_that_was_shown_fits(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    id_, session = come(local, row, ANN)
    local.play("complete", submission=id_, code=code_shown(finish(session, local.time)))
    mirror(row, local.time)
    assert flags(row) == [("AWAITING REVIEW", "")]


def test_another_code_than_the_one_shown_is_flagged(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    id_, session = come(local, row, ANN)
    finish(session, local.time)
    local.play("complete", submission=id_, code=completion_code(study=row.study, outcome=Outcome.NO_CONSENT))
    mirror(row, local.time)
    assert flags(row) == [("AWAITING REVIEW", "wrong_code")]


@pytest.mark.parametrize("status", ["RETURNED", "TIMED-OUT"])
def test_finished_here_but_lost_there_is_flagged_and_stays_finished(local: Local, status: str) -> None:
    row = recruit_for(launch_study(), local)
    id_, session = come(local, row, ANN)
    finish(session, local.time)
    if status == "RETURNED":
        local.play("return", submission=id_)
    else:
        local.later(minutes=61)
    mirror(row, local.time)
    assert flags(row) == [(status, "place_lost")]
    assert fresh(session).state == SessionState.FINISHED


# A redirect that was lost


def lost_redirect(local: Local) -> tuple[ProlificStudy, str, Session]:
    """Return a study that somebody has finished here six minutes ago, and not on Prolific."""
    row = recruit_for(launch_study(), local)
    id_, session = come(local, row, ANN)
    finish(session, local.time)
    local.later(minutes=6)
    return row, id_, session


def test_a_submission_is_not_completed_while_its_annotator_may_be_on_the_way_back(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    _, session = come(local, row, ANN)
    finish(session, local.time)
    local.later(minutes=4)
    mirror(row, local.time)
    assert flags(row) == [("ACTIVE", "")]
    assert Submission.objects.get().completed_by_us_at is None


def test_a_submission_whose_redirect_was_lost_is_completed_once_with_the_researchers_code(local: Local) -> None:
    row, id_, session = lost_redirect(local)
    mirror(row, local.time)
    submission = Submission.objects.get()
    assert local.client.read_submission(id_).entered_code == BY_RESEARCHER
    assert (submission.status, submission.entered_code, submission.flag) == ("AWAITING REVIEW", BY_RESEARCHER, "")
    assert submission.completed_by_us_at == local.time
    mirror(row, local.time + MINUTE)
    events = Event.objects.filter(what__startswith="submission").values_list("what", "details")
    assert list(events) == [("submission completed", {"session": session.pk})]


def test_a_reply_that_was_lost_is_not_followed_by_a_second_completion(local: Local) -> None:
    row, id_, _ = lost_redirect(local)
    mirror(row, NOON)
    sent: list[str] = []
    answer = local.double.answer

    def lose_reply(method: str, target: str, headers: object, content: bytes) -> object:
        result = answer(method, target, headers, content)
        if target.endswith(f"{id_}/transition/"):
            sent.append(target)
            return None
        return result

    local.double.answer = lose_reply  # type: ignore[method-assign, assignment]
    mirror(row, local.time)
    mirror(row, local.time + timedelta(minutes=11))
    assert len(sent) == 1
    assert flags(row) == [("AWAITING REVIEW", "")]
    assert Event.objects.filter(what="submission completed").count() == 1


def test_without_a_code_of_the_researcher_a_lost_redirect_is_flagged(local: Local) -> None:
    row, _, _ = lost_redirect(local)
    ProlificStudy.objects.update(details={})
    mirror(row, local.time)
    assert flags(row) == [("ACTIVE", "redirect_lost")]


def test_a_completion_that_prolific_refuses_is_flagged_and_tried_again_later(local: Local) -> None:
    row, id_, _ = lost_redirect(local)
    details = row.details
    unknown = {**details["completion_codes"][-1], "code": "NONE"}
    ProlificStudy.objects.update(details={"completion_codes": [unknown]})
    mirror(row, local.time)
    assert flags(row) == [("ACTIVE", "redirect_lost")]
    ProlificStudy.objects.update(details=details)
    mirror(row, local.time + MINUTE)
    assert local.status(id_) == "ACTIVE"
    mirror(row, local.time + timedelta(minutes=11))
    assert flags(row) == [("AWAITING REVIEW", "")]


# Faults


def test_an_unknown_status_is_kept_and_changes_nothing(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    _, session = come(local, row, ANN)
    mirror(row, local.time)
    local.switch(Switch.UNKNOWN_STATUS)
    row = mirror(row, local.time)
    assert flags(row) == [("PROCESSING", "")]
    assert fresh(session).state == SessionState.INSTRUCTIONS
    assert row.due_at is not None


@pytest.mark.parametrize("people", [0, 1, 100, 101, 250])
def test_all_pages_are_read(local: Local, people: int) -> None:
    row = recruit_for(launch_study(), local, places=300)
    for number in range(people):
        local.double.platform.take_place(row.remote_id, f"{number:024x}")
    local.double.store.commit()
    row = mirror(row, local.time)
    assert (Submission.objects.count(), row.places_taken) == (people, people)


def test_small_pages_and_a_busy_platform_lose_nobody(local: Local) -> None:
    row = recruit_for(launch_study(), local, places=30)
    for number in range(12):
        local.taken(row.remote_id, f"{number:024x}")
    local.switch(Switch.SMALL_PAGES)
    local.switch(Switch.RATE_LIMITED, "1")
    row = mirror(row, local.time)
    assert (Submission.objects.count(), row.problem) == (12, "")


def test_clocks_that_differ_change_nothing(local: Local) -> None:
    local.switch(Switch.CLOCK_AHEAD)
    row = recruit_for(launch_study(), local)
    _, session = come(local, row, ANN)
    finish(session, local.time)
    mirror(row, local.time)
    submission = Submission.objects.get()
    assert submission.started_at == local.time + timedelta(minutes=20)
    assert (submission.status, submission.flag, submission.completed_by_us_at) == ("ACTIVE", "", None)


def test_a_platform_that_is_away_is_asked_again_after_growing_pauses_and_then_all_is_caught_up(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    id_, session = come(local, row, ANN)
    mirror(row, NOON)
    local.play("return", submission=id_)
    local.switch(Switch.AWAY)
    pauses = []
    for minutes in (1, 12, 60):
        row = mirror(row, NOON + minutes * MINUTE)
        assert row.problem == "Prolific failed (503). Try again later."
        assert row.due_at is not None
        pauses.append(row.due_at - (NOON + minutes * MINUTE))
    assert pauses == [MINUTE / 4, 3 * MINUTE, 5 * MINUTE]
    assert fresh(session).state == SessionState.INSTRUCTIONS
    local.switch(Switch.AWAY, "off")
    row = mirror(row, NOON + 70 * MINUTE)
    assert (row.problem, fresh(session).state) == ("", SessionState.RETURNED)


@pytest.mark.parametrize(
    ("switch", "says"),
    [
        (Switch.TOKEN_REVOKED, "Prolific does not accept the token."),
        (Switch.REPLY_LOST, "Prolific did not answer."),
    ],
)
def test_why_a_study_is_not_read_is_said(local: Local, switch: Switch, says: str) -> None:
    row = recruit_for(launch_study(), local)
    local.switch(switch)
    row = mirror(row, NOON)
    assert row.problem.startswith(says)
    assert row.due_at == NOON + MINUTE / 4
    assert Submission.objects.count() == 0


def test_a_study_that_was_deleted_there_or_has_no_account_is_said(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    local.double.store.delete("study", row.remote_id)
    assert mirror(row, NOON).problem.startswith("Prolific does not have this")
    connect_to(row.study.project).delete()
    assert mirror(row, NOON).problem.startswith("The project has no Prolific API token.")


def test_what_nobody_foresaw_leaves_the_study_due(local: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    row = recruit_for(launch_study(), local)
    come(local, row, ANN)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("annotation.actions.recruiting.submissions.seal", fail)
    with pytest.raises(RuntimeError):
        mirror(row, NOON)
    assert due_studies(now=NOON) == [row.pk]


# When a study is read


def test_only_one_worker_reads_a_study_at_a_time(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    ProlificStudy.objects.update(due_at=NOON + MINUTE)
    read_study(study=row.pk, now=NOON)
    assert fresh(row).read_at is None
    assert due_studies(now=NOON) == []
    read_study(study=row.pk, now=NOON + MINUTE)
    assert fresh(row).read_at == NOON + MINUTE


def test_a_webhook_that_comes_while_a_study_is_read_makes_it_due_again(
    local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = recruit_for(launch_study(), local)
    read = Client.read_study

    def read_and_mark(client: Client, study: str) -> object:
        mark_due(studies=[row.pk], now=NOON)
        return read(client, study)

    monkeypatch.setattr(Client, "read_study", read_and_mark)
    assert mirror(row, NOON).due_at == NOON


def test_an_earlier_reading_does_not_overwrite_a_later_one(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    id_, _ = come(local, row, ANN)
    mirror(row, NOON + MINUTE)
    local.play("return", submission=id_)
    mirror(row, NOON)
    assert flags(row) == [("ACTIVE", "")]


def test_a_study_that_is_over_is_read_until_all_submissions_are_final(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    id_ = local.completed(row.remote_id, ANN)
    working = local.opened(row.remote_id, BEN)
    local.client.stop_study(row.remote_id)
    row = mirror(row, NOON)
    assert row.due_at is not None
    assert row.due_at <= NOON + MINUTE
    local.play("return", submission=working)
    assert mirror(row, NOON).due_at == NOON + timedelta(minutes=10)
    local.client.approve_submission(id_)
    row = mirror(row, NOON)
    assert (row.status, row.due_at) == (StudyStatus.COMPLETED, None)
    assert due_studies(now=NOON) == []


def test_an_open_study_is_due_even_if_nobody_said_when(local: Local) -> None:
    row = recruit_for(launch_study(), local)
    ProlificStudy.objects.update(due_at=None)
    assert due_studies(now=NOON) == [row.pk]
    ProlificStudy.objects.update(status=StudyStatus.COMPLETED)
    assert due_studies(now=NOON) == []


def test_who_changed_from_the_lobby_to_the_study_before_is_not_flagged_as_without_data(local: Local) -> None:
    first, second = make_live(lobby={"minutes": 10, "pay": "0.50", "either_role": True})
    row = recruit_for(second, local)
    id_, session = come(local, row, ANN)
    sessions.consent(session=session, agreed=True, now=local.time)
    advance_session.begin(session=session, part=0, now=local.time)
    other = switch(session=fresh(session), now=local.time)
    assert (other.study, fresh(session).state) == (first, SessionState.SUPERSEDED)
    mirror(row, local.time)
    local.play("complete", submission=id_, code=code_shown(finish(other, local.time)))
    mirror(row, local.time)
    assert flags(row) == [("AWAITING REVIEW", "")]
    assert Submission.objects.get().session == session


def test_who_changed_to_the_study_before_and_returns_frees_the_place_there(local: Local) -> None:
    _, second = make_live(lobby={"minutes": 10, "pay": "0.50", "either_role": True})
    row = recruit_for(second, local)
    id_, session = come(local, row, ANN)
    sessions.consent(session=session, agreed=True, now=local.time)
    advance_session.begin(session=session, part=0, now=local.time)
    other = switch(session=fresh(session), now=local.time)
    local.play("return", submission=id_)
    mirror(row, local.time)
    assert fresh(other).state == SessionState.RETURNED


# Studies that start on Prolific


def drafted_for(local: Local, status: str = "UNPUBLISHED") -> ProlificStudy:
    """Return a study whose draft is on Prolific."""
    study = launch_study()
    connect_to(study.project)
    remote = local.client.create_study(new_study())
    return ProlificStudy.objects.create(
        study=study, remote_id=remote.id, status=status, places=3, reward="4.00", currency="USD", created_at=NOON
    )


def test_a_draft_is_read_every_five_minutes_until_somebody_publishes_it_on_prolific(local: Local) -> None:
    row = drafted_for(local)
    ProlificStudy.objects.update(problem="The balance is too low.")
    assert due_studies(now=NOON) == [row.pk]
    read_study(study=row.pk, now=NOON)
    assert (fresh(row).status, fresh(row).due_at) == ("UNPUBLISHED", NOON + 5 * MINUTE)
    # It says why it could not be published.
    assert (fresh(row).problem, due_studies(now=NOON + 4 * MINUTE)) == ("The balance is too low.", [])
    # They also raise the reward, which is what people are paid.
    local.client.update_study(row.remote_id, bodies.StudyChanges(reward=500))
    local.play("study", study=row.remote_id, action="PUBLISH")
    local.taken(row.remote_id, ANN)
    at = NOON + 5 * MINUTE
    for _ in range(2):
        # Once it is known to have started, its submissions are read at once.
        assert due_studies(now=at) == [row.pk]
        read_study(study=row.pk, now=at)
    row = fresh(row)
    assert (row.status, row.published_at, row.places_taken, row.problem) == ("ACTIVE", at, 1, "")
    assert row.reward == Decimal("5.00")
    assert flags(row) == [("RESERVED", "")]
    event = Event.objects.get(what="prolific study started")
    assert (event.by_name, event.details) == ("timetable", {"number": row.pk, "places": 3})


def test_a_study_that_starts_at_its_time_is_noticed_within_a_minute(local: Local) -> None:
    row = drafted_for(local, "SCHEDULED")
    local.double.store.write("study", {**local.double.store.list("study")[0], "status": "SCHEDULED"})
    local.double.store.commit()
    read_study(study=row.pk, now=NOON)
    assert due_studies(now=NOON + MINUTE) == [row.pk]
    local.double.store.write("study", {**local.double.store.list("study")[0], "status": "ACTIVE"})
    local.double.store.commit()
    read_study(study=row.pk, now=NOON + MINUTE)
    assert (fresh(row).status, fresh(row).published_at) == ("ACTIVE", NOON + MINUTE)


def test_a_draft_that_cannot_be_read_is_tried_again_and_says_nothing(local: Local) -> None:
    row = drafted_for(local)
    local.switch(Switch.AWAY)
    read_study(study=row.pk, now=NOON)
    row = fresh(row)
    assert (row.status, row.problem) == ("UNPUBLISHED", "")
    assert row.due_at is not None
    assert NOON < row.due_at <= NOON + 5 * MINUTE
