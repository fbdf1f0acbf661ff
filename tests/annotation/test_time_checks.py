"""The server's own clock: whose times are marked, what follows from it, and who is never marked."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from annotation.actions.answering import advance_session, responses
from annotation.actions.answering.responses import Submission
from annotation.actions.ending import platform_outcome, time_checks
from annotation.models import Response, Session, SessionState
from annotation.pages import QUESTIONS_AHEAD
from annotation.simulation_ids import SIMULATED_STUDY
from results.actions.pseudonyms import name_annotators
from results.queries.exports.export_rows import given_responses
from results.queries.people.payments_due import all_amounts_due, owed_sums
from results.queries.studies.progress import paid_sessions, study_progress
from results.sentences import unlikely_times
from studies.models import CompletionCode, Study
from tests.factories import (
    NOON,
    TESTS,
    arrive,
    arrive_at_work,
    fresh,
    launch_study,
    make_instance,
    make_person,
    make_project,
)
from tests.pages import signed_in, words_of

pytestmark = pytest.mark.django_db
PAY = {"per_session": "2.00", "per_answer": "0.10"}


@pytest.fixture(autouse=True)
def _checked(settings: LazySettings) -> None:
    settings.CHECK_TIMES = True


def five(**design: Any) -> Study:
    """Return a study of five questions: each shows three words and four pictures, and takes at least 0.59 s."""
    return launch_study(instances=5, pay=PAY, **design)


def send(session: Session, *, at: float, **measured: Any) -> None:
    """Answer the next question of `session`, `at` seconds after it was served its first."""
    slot = responses.open_slots(session=session, limit=1)[0]
    sent = Submission(slot=slot.pk, submission=uuid.uuid4(), posted={"choice": "1"}, measured=measured)
    responses.submit(token=session.token, sent=sent, now=NOON + timedelta(seconds=at))


def sit(study: Study, arrivals: Sequence[float], claims: Sequence[float | None], person: str = "ann") -> Session:
    """Return a session whose answers arrive so many seconds after its first question was served."""
    session = arrive_at_work(study, person)
    for at, claimed in zip(arrivals, claims, strict=True):
        measured = {"unmeasured": "no_scripts"} if claimed is None else {"send_ms": int(claimed * 1000), "hidden_ms": 0}
        send(session, at=at, **measured)
    session.refresh_from_db()
    return session


def code_of(session: Session, now: datetime = NOON) -> str:
    """Return the ending whose code `session` gets."""
    code = platform_outcome.code_for(session=session, now=now)
    return CompletionCode.objects.get(study=session.study, code=code).outcome


BURST = [0.08, 0.16, 0.24, 0.32, 0.39]


def test_a_page_holds_as_many_questions_as_the_clock_reckons_with() -> None:
    assert time_checks.QUESTIONS_HELD == 1 + QUESTIONS_AHEAD


def test_a_script_that_posts_five_answers_at_once_is_marked_and_gets_the_code_for_review(client: Client) -> None:
    study = five()
    session = arrive_at_work(study)
    for at in BURST[:3]:
        send(session, at=at, send_ms=21000, hidden_ms=0)
    # A claim above all that has passed is capped while the session is open.
    assert list(Response.objects.order_by("pk").values_list("possible_ms", flat=True)) == [80, 160, 240]
    assert study_progress(study).seconds.median == pytest.approx(0.16)
    for at in BURST[3:]:
        send(session, at=at, send_ms=21000, hidden_ms=0)
    assert fresh(session).state == SessionState.FINISHED
    assert session.time_evidence is not None
    assert unlikely_times(session.time_evidence) == (
        "5 of 5 answers were too fast to read and look: all together took 0.4 s, and need at least 2.9 s. "
        "The browser reported 105.0 s for 5 answers, but the server's clock allows at most 0.4 s."
    )
    assert code_of(session) == "unlikely_times"
    page = words_of(client.get(f"/s/{session.token}/"))
    assert "The researchers decide about your pay after they have looked at your session." in page
    assert not [word for word in ("You are paid", "faster") if word in page]
    # Exports and the monitor hold the times that were possible.
    name_annotators(project=study.project)
    rows = list(given_responses(study))
    assert sorted((row.send_ms, row.hidden_ms) for row in rows) == [(70, 0), *[(80, 0)] * 4]
    assert study_progress(study).seconds.median == pytest.approx(0.08)


@pytest.mark.parametrize(
    ("arrivals", "claims"),
    [
        pytest.param(BURST, [None] * 5, id="measures nothing"),
        pytest.param([0.4, 0.5, 1.4, 1.9, 2.1], [None] * 5, id="waits a random part of a second"),
        # The fifth question was served with the first answer: 0.4 s of its 60 s were possible.
        pytest.param([300, 300.1, 300.2, 300.3, 300.4], [1, 60, 60, 60, 60], id="waits at first and claims that"),
    ],
)
def test_a_script_is_marked_even_if_it_says_so(arrivals: Sequence[float], claims: Sequence[float | None]) -> None:
    session = sit(five(), arrivals, claims)
    assert code_of(session) == "unlikely_times"
    session.provider_study_id = f"{SIMULATED_STUDY}1"
    session.save()
    time_checks.check_times(session=session)
    assert fresh(session).has_unlikely_times


@pytest.mark.parametrize(
    ("arrivals", "claims"),
    [
        pytest.param([9, 20, 31, 40, 55], [8, 10, 10, 8, 14], id="with a page that holds the next questions"),
        pytest.param([20, 600, 600, 600, 600], [15, 30, 12, 8, 20], id="without a line for ten minutes"),
        pytest.param([600, 600, 600, 600, 615], [12, 30, 8, 20, 14], id="without a line from the first question on"),
        pytest.param([50, 130, 190, 270, 400], [None] * 5, id="slow, without scripts"),
        pytest.param([3, 5, 8, 10, 13], [None] * 5, id="fast, without scripts"),
        pytest.param([200, 380, 640, 800, 1100], [180, 170, 250, 150, 290], id="with a screen reader"),
        pytest.param([1.3, 2.5, 3.7, 4.9, 6.1], [1.2] * 5, id="a fast expert"),
        pytest.param([0.9, 1.2, 3.0, 5.0, 7.0], [0.8, 0.3, 1.7, 1.9, 1.9], id="with a slip of the finger"),
    ],
)
def test_who_works_honestly_is_not_marked(arrivals: Sequence[float], claims: Sequence[float | None]) -> None:
    session = sit(five(), arrivals, claims)
    assert (session.state, session.time_evidence) == (SessionState.FINISHED, None)
    assert code_of(session) == "finished"
    assert not Response.objects.exclude(possible_ms=None).exists()


def test_who_changes_their_mind_in_no_time_is_not_marked() -> None:
    session = arrive_at_work(five())
    for number in range(4):
        send(session, at=10 * (number + 1), send_ms=9000)
    first = Response.objects.order_by("pk")[0]
    assert first.slot_id is not None
    change = Submission(first.slot_id, uuid.uuid4(), {"choice": "2"}, replaces=1, measured={"send_ms": 100})
    responses.submit(token=session.token, sent=change, now=NOON + timedelta(seconds=41))
    send(session, at=50, send_ms=9000)
    session.refresh_from_db()
    assert (session.state, session.time_evidence) == (SessionState.FINISHED, None)


def test_who_knows_a_long_text_from_the_question_before_is_not_marked() -> None:
    project, said = make_project(), {"caption": " ".join(["word"] * 100), "negative_caption": "Another."}
    for number in range(5):
        make_instance(project, f"picture-{number}", captions=said)
    # The first takes at least 0.3 + 4 x 0.05 + 100 x 0.03 = 3.5 s, each of the others 0.5 s.
    study = launch_study(project, instances=5, ask={"caption": "caption", "becomes": "image"})
    session = sit(study, [30, 32, 34, 36, 38], [28, 1.8, 1.8, 1.8, 1.8])
    assert (session.state, session.time_evidence) == (SessionState.FINISHED, None)


def test_a_burst_that_comes_after_the_place_was_lost_is_marked_before_it_is_paid() -> None:
    study = five()
    session = arrive_at_work(study)
    held = responses.open_slots(session=session, limit=4)
    lost_at = NOON + timedelta(minutes=6)
    advance_session.expire(by=TESTS, now=lost_at)
    arrive(study, "ben", now=lost_at)
    for number, slot in enumerate(held, start=1):
        late = Submission(slot.pk, uuid.uuid4(), {"choice": "1"}, measured={"unmeasured": "no_scripts"})
        assert responses.submit(token=session.token, sent=late, now=lost_at + timedelta(seconds=number / 10)).late
    # The first took six minutes for all that is known, the three others 0.1 s each.
    assert (fresh(session).state, session.has_unlikely_times) == (SessionState.LAPSED, True)
    assert owed_sums(study).answers_paid == 0


def test_a_marked_session_is_owed_nothing_until_a_researcher_accepts_its_times() -> None:
    study = five(answers=2)
    marked, honest = sit(study, BURST, [21] * 5), sit(study, [9, 20, 31, 40, 55], [8] * 5, "ben")
    name_annotators(project=study.project)
    # Ben: 2.00, and five answers of 0.10.
    assert sorted(person.amount for person in all_amounts_due(study)) == [Decimal(0), Decimal("2.50")]
    assert (owed_sums(study).for_sessions, owed_sums(study).answers_paid) == (Decimal("2.00"), 5)
    (doubted,) = [person for person in all_amounts_due(study) if person.to_decide]
    assert doubted.why.startswith("Unlikely times, so you decide about all of its pay (5 of 5 answers were too fast")
    assert [session.answers for session in paid_sessions(study)] == [5]
    assert time_checks.accept_times(session=marked, by=TESTS, now=NOON)
    assert not time_checks.accept_times(session=marked, by=TESTS, now=NOON)
    assert not time_checks.accept_times(session=honest, by=TESTS, now=NOON)
    assert [person.amount for person in all_amounts_due(study)] == [Decimal("2.50")] * 2
    marked.refresh_from_db()
    assert code_of(marked) == "finished"


def test_a_researcher_sees_the_evidence_before_paying_and_accepts_the_times() -> None:
    study = five()
    session = sit(study, BURST, [21] * 5)
    browser = signed_in(make_person("root", superuser=True))
    at = f"/studies/{study.project.slug}/{study.slug}/"
    for page in (browser.get(at), browser.get(f"{at}owed/")):
        assert "1 session with unlikely times" in words_of(page)
        assert "5 of 5 answers were too fast to read and look" in words_of(page)
    told = words_of(browser.get(f"{at}recruit/"))
    assert "A code belongs to the study, not to a person" in told
    assert "Finished with unlikely times" in told
    accepted = browser.post(f"{at}sessions/{session.pk}/accept-times/", {"from_owed": "1"}, follow=True)
    assert "The times were accepted." in words_of(accepted)
    assert "unlikely times" not in words_of(accepted)


def test_a_site_may_take_times_as_they_are_claimed(settings: LazySettings) -> None:
    settings.CHECK_TIMES = False
    study = five()
    assert sit(study, BURST, [8] * 5).time_evidence is None
    assert study_progress(study).seconds.median == 8
