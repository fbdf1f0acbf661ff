"""What is owed to whom, worked out by hand."""

import csv
import io
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from annotation.actions import sessions
from annotation.actions.answering import advance_session, responses
from annotation.actions.ending import platform_outcome
from annotation.models import Session, SessionState
from annotation.session_pay import compute_pay
from annotation.simulation_ids import REPLAY_PROVIDER
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.queries.people.payments_due import PersonOwed, all_amounts_due
from results.queries.reports.report_rows import study_outline
from studies.design import Design, read_design
from studies.models import CompletionCode, Study
from tests.annotation.test_live_sessions import find, led_on, write
from tests.annotation.test_lobby import MINUTE, make_roles, wait
from tests.annotation.test_responses import send
from tests.annotation.test_withdrawn_texts import look
from tests.factories import NOON, arrive_at_work, launch_study, make_member
from tests.people import digest_of
from tests.removing import exclude, withdraw

pytestmark = pytest.mark.django_db
PAY = {"currency": "EUR", "per_session": "1.20", "per_answer": "0.08", "least_answers": 3}


@pytest.fixture(autouse=True)
def clock(time_machine: Any) -> Any:
    time_machine.move_to(NOON, tick=False)
    return time_machine


def live(sets: int = 6, **find: Any) -> tuple[Study, Study]:
    recruitment = {"any_ids": True, "sessions_per_annotator": 0}
    return make_roles(sets=sets, find={"pay": PAY, "surveys": {"size": 4}, "recruitment": recruitment} | find)


def owed(study: Study) -> dict[str, PersonOwed]:
    """Return what is owed to each person, by the provider's id."""
    name_annotators(project=study.project)
    people = {each.name: each.annotator.provider_id for each in Pseudonym.objects.select_related("annotator")}
    return {people[person.name]: person for person in all_amounts_due(study)}


def design(pay: str, endings: str = "{}") -> Design:
    return read_design(
        f"study: a\ntitle: T\nkind: ambiguity\ninstances: {{from: b}}\nsurveys: {{size: 60}}\npay: {pay}\n"
        f"endings: {endings}\nlobby: {{minutes: 5, pay: '1.00'}}\n"
    )


MONEY = "{per_session: '1.20', per_answer: '0.08', least_answers: 15}"


@pytest.mark.parametrize(
    ("state", "answers", "items"),
    [
        # 1.20 x 1/15 = 0.08, and 0.08 for the answer.
        ("finished", 1, {"session": "0.08", "answers": "0.08"}),
        ("finished", 15, {"session": "1.20", "answers": "1.20"}),
        ("finished", 60, {"session": "1.20", "answers": "4.80"}),
        ("waited", 0, {"waiting": "1.00"}),
        *((state, 5, {"answers": "0.40"}) for state in ("given_up", "returned", "lapsed", "left_out", "withdrawn")),
        *((state, 3, {"answers": "0.24"}) for state in ("stopped", "superseded", "working")),
        *((state, 0, {}) for state in ("failed_checks", "no_consent")),
    ],
)
def test_each_ending_is_paid_by_the_study_file(state: str, answers: int, items: dict[str, str]) -> None:
    found = compute_pay(state, answers, design(MONEY))
    assert {each.item.value: str(each.amount) for each in found.items} == items
    assert found.why


def test_a_researcher_decides_where_the_study_file_says_so_or_nobody_is_at_fault() -> None:
    states = [state.value for state in SessionState]
    # Whoever has answered and declines a changed consent text has worked.
    always, by_code = (
        {"left_out", "withdrawn", "stopped", "no_consent"},
        design(MONEY, "{stopped: code, time_over: code}"),
    )
    assert {state for state in states if compute_pay(state, 1, design(MONEY)).to_decide} == always
    assert {state for state in states if compute_pay(state, 1, by_code).to_decide} == always | {"given_up", "lapsed"}


def test_finishing_early_and_coming_back_pays_no_more_than_staying(client: Client) -> None:
    describe, study = live()
    session = led_on(describe, study)
    find(session)
    page = client.get(f"/s/{session.token}/").content.decode()
    # A third of 1.20, and 0.08.
    assert "you are paid €\N{NO-BREAK SPACE}0.48" in page
    client.post(f"/s/{session.token}/finish/")
    session.refresh_from_db()
    assert session.state == SessionState.FINISHED
    code = CompletionCode.objects.get(study=study, outcome="few_answers").code
    assert platform_outcome.code_for(session=session, now=NOON) == code
    end = client.get(f"/s/{session.token}/").content.decode()
    assert "You are paid €\N{NO-BREAK SPACE}0.48" in end
    for number in (2, 3):
        write(describe, f"author-{number}")
        again = arrive_at_work(study, "ben", session=f"ben-{number}")
        find(again)
        advance_session.finish_if_done(session=again, now=NOON)
    # Three sessions of one answer each are one session's 1.20, and 3 x 0.08.
    assert (owed(study)["ben"].sessions, owed(study)["ben"].amount) == (3, Decimal("1.44"))
    # A whole session is paid as much, and ends with the usual code.
    write(describe, "dora", "eve", "finn")
    whole = arrive_at_work(study, "cleo")
    for _ in range(3):
        find(whole)
    advance_session.finish_if_done(session=whole, now=NOON)
    code = CompletionCode.objects.get(study=study, outcome="finished").code
    assert platform_outcome.code_for(session=whole, now=NOON) == code
    assert owed(study)["cleo"].amount == Decimal("1.44")


def test_answers_to_checks_are_paid_and_not_called_kept_aside() -> None:
    pay = {"currency": "USD", "per_answer": "0.10"}
    study = launch_study(instances=4, checks={"repeat": {"per_survey": 1}}, pay=pay)
    ann = arrive_at_work(study, "ann")
    for slot in responses.open_slots(session=ann, limit=9):
        send(ann, slot)
    person = owed(study)["ann"]
    assert (person.answers, person.counted, person.amount) == (5, 4, Decimal("0.50"))
    assert "1 of the answers given to checks and paid" in person.why
    assert "kept aside" not in person.why


def test_every_acknowledged_answer_is_paid_and_the_cost_is_the_sum_of_the_list() -> None:
    describe, study = live()
    write(describe, "ann", "cleo", "dora")
    # Ben: one answer counts, one came after its author had withdrawn and the sitting had ended; finished.
    ben = arrive_at_work(study, "ben")
    slots = {slot.question.content["caption"].split()[3]: slot for slot in responses.open_slots(session=ben, limit=3)}
    withdraw(describe.project, "ann")
    look(ben)
    assert send(ben, slots["cleo"]).stored
    sessions.give_up(session=ben, now=NOON)
    assert send(ben, slots["ann"]).late
    # Eve: what ben left, and then she is excluded.
    eve = arrive_at_work(study, "eve")
    assert eve.questions_total == 1
    find(eve)
    exclude(describe.project, "eve")
    # Finn waits in vain.
    finn = wait(study, "finn")
    sessions.record_visit(session=finn, now=NOON + 10 * MINUTE)
    advance_session.update_waiting(session=finn, now=NOON + 10 * MINUTE)
    found = owed(study)
    assert {name: (person.answers, person.counted, str(person.amount)) for name, person in found.items()} == {
        # Two answers: 0.16. Stopped early, so no session.
        "ben": (2, 1, "0.16"),
        # One answer; the open sitting was ended by the exclusion.
        "eve": (1, 0, "0.08"),
        "finn": (0, 0, "0.50"),
    }
    assert found["ben"].endings == {"Stopped early": 1}
    assert "1 of the answers kept aside and paid" in found["ben"].why
    assert "excluded by a researcher" in found["eve"].why
    facts = study_outline(study)
    assert facts.answers_paid == 3
    assert facts.owed_for_sessions + facts.answers_paid * facts.per_answer == Decimal("0.74")
    assert facts.paid_each == {}, "nobody finished"
    assert sum(person.amount for person in found.values()) == Decimal("0.74")


def test_the_page_and_the_csv_say_the_same(client: Client) -> None:
    describe, study = live()
    write(describe, "ann")
    ben = arrive_at_work(study, "ben")
    find(ben)
    advance_session.finish_if_done(session=ben, now=NOON)
    client.force_login(make_member(study.project, "viewer"))
    page = client.get(f"/studies/{study.project.slug}/{study.slug}/owed/").content.decode()
    assert "0.48" in page
    assert "Finished with 1 of 3 answers, so the session is paid that share." in page
    assert "<strong>0.48</strong>" in page, "the total"
    assert "<h2>Owed</h2>" in page
    text = client.get(f"/studies/{study.project.slug}/{study.slug}/owed.csv").content.decode()
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["annotator"] == Pseudonym.objects.get(annotator__id_digest=digest_of("ben")).name
    told = [row[name] for name in ("sessions", "answers", "endings", "currency", "for_sessions", "amount")]
    assert told == ["1", "1", "Finished (1)", "EUR", "0.40", "0.48"]
    # Nobody is owed anything where all of it is simulated.
    sessions_of_study = Session.objects.filter(study=study)
    sessions_of_study.update(provider=REPLAY_PROVIDER)
    page = client.get(f"/studies/{study.project.slug}/{study.slug}/owed/").content.decode()
    assert "<h2>Would be owed</h2>" in page
    sessions_of_study.update(provider=ben.provider)
    # Whoever finished and withdraws keeps what they earned.
    withdraw(describe.project, "ben")
    person = owed(study)["ben"]
    assert (person.amount, person.answers, person.counted) == (Decimal("0.48"), 1, 0)
    assert "withdrew; what was earned before stays owed" in person.why
