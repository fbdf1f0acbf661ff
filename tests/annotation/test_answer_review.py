"""Going back through the answers of a sitting: one by one, all at once before it ends, and no further than that."""

from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.utils import timezone

from annotation.actions.answering import advance_session, responses
from annotation.errors import NothingLeft
from annotation.models import Decision, Response, Session, SessionState, Slot
from studies.models import Check, Question
from studies.picture_handles import sha256_of
from tests.annotation.checking.test_checks_of_seats import value_of
from tests.annotation.test_pipeline import make_pipeline_project, make_step_4
from tests.annotation.test_repetitions import describing, say
from tests.annotation.test_responses import next_slot, send
from tests.annotation.test_work_pages import form_of, page_of, post_answer
from tests.factories import NOON, TESTS, arrive, arrive_at_work, fresh, launch_study

pytestmark = pytest.mark.django_db


def answer_all(client: Client, session: Session, *choices: str) -> None:
    for choice in choices:
        post_answer(client, session, choice)


def slots_of(session: Session) -> list[int]:
    return list(
        Response.objects.filter(session=session, version=1).order_by("slot__position").values_list("slot", flat=True)
    )


def test_every_answer_of_the_sitting_can_be_changed_and_each_change_is_a_version(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=3))
    answer_all(client, session, "1", "2")
    first, second = slots_of(session)
    page = client.get(f"{page_of(session)}change/{first}/")
    assert "You are changing your answer to question 1." in page.content.decode()
    html = BeautifulSoup(page.content, "html.parser")
    assert [chosen["value"] for chosen in html.select("input[name=choice][checked]")] == ["1"]
    assert [link["href"] for link in html.select("[rel=next]")] == [f"{page_of(session)}change/{second}/"]
    assert not html.select("[data-earlier]")
    changed = client.post(f"{page_of(session)}answer/", form_of(page.content) | {"choice": "none"})
    assert changed["Location"] == page_of(session)
    versions = Response.objects.filter(slot=first).order_by("version")
    assert [(given.version, given.choice == "none", given.is_current) for given in versions] == [
        (1, False, False),
        (2, True, True),
    ]
    # And the last without its number, with the way to the one before.
    html = BeautifulSoup(client.get(f"{page_of(session)}change/").content, "html.parser")
    assert [link["href"] for link in html.select("[data-earlier]")] == [f"{page_of(session)}change/{first}/"]


def test_nobody_gets_to_the_answers_of_another_sitting(client: Client) -> None:
    study = launch_study(instances=2, answers=2)
    own, other = arrive_at_work(study, "ann"), arrive_at_work(study, "ben")
    answer_all(client, own, "1")
    answer_all(client, other, "1")
    (foreign,) = slots_of(other)
    response = client.get(f"{page_of(own)}change/{foreign}/")
    assert (response.status_code, response["Location"]) == (303, page_of(own))


def with_last_look() -> Session:
    return arrive_at_work(launch_study(instances=2, answering={"last_look": True}))


def test_links_of_a_last_look_are_called_what_they_show(client: Client) -> None:
    session = with_last_look()
    for _ in range(2):
        send(session, next_slot(session))
    links = BeautifulSoup(client.get(page_of(session)).content, "html.parser").select(".looks a")
    for number, link in enumerate(links, start=1):
        assert not link.has_attr("aria-label")
        answer, caption = (each.get_text() for each in link.select(".look-answer, .look-caption"))
        assert min(len(answer), len(caption)) > 0
        for hidden in link.select("[aria-hidden]"):
            hidden.extract()
        said = " ".join(link.get_text(" ").split())
        assert said == f"Change the answer to question {number}: {answer} {caption}"
    assert len(links) == 2


def test_a_last_look_shows_what_was_written_beside_the_image_that_it_is_about(client: Client) -> None:
    session = arrive_at_work(describing(targets=2, answering={"last_look": True}))
    say(session, "The <lid> is open.")
    say(session, "")
    html = BeautifulSoup(client.get(page_of(session)).content, "html.parser")
    assert [look.get_text(strip=True) for look in html.select(".look-answer")] == ["The <lid> is open.", "Answered"]
    contents = [slot.question.content for slot in Slot.objects.select_related("question").order_by("position")]
    targets = [content["images"][content["target"]]["image"] for content in contents]
    assert [sha256_of(str(image["src"]).split("/")[2]) for image in html.select(".looks img")] == targets


# A request that finishes a session is in no transaction, as on a real site.
@pytest.mark.django_db(transaction=True)
def test_a_last_look_shows_every_answer_and_finishes_when_the_annotator_says_so(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=2, answering={"last_look": True}), now=timezone.now())
    answer_all(client, session, "1")
    client.post(f"{page_of(session)}finish/")
    assert fresh(session).state == SessionState.WORKING
    answer_all(client, session, "none")
    assert fresh(session).state == SessionState.WORKING
    html = BeautifulSoup(client.get(page_of(session)).content, "html.parser")
    assert [link["href"] for link in html.select(".looks a")] == [
        f"{page_of(session)}change/{slot}/" for slot in slots_of(session)
    ]
    assert [answer.text for answer in html.select(".look-answer")] == ["Image A", "None of these"]
    assert client.post(f"{page_of(session)}finish/").status_code == 303
    assert fresh(session).state == SessionState.FINISHED


def test_whoever_forgets_the_last_look_or_is_left_without_a_question_has_finished_all_the_same(client: Client) -> None:
    session = with_last_look()
    answer_all(client, session, "1", "1")
    advance_session.expire(by=TESTS, now=timezone.now() + timedelta(days=2))
    assert fresh(session).state == SessionState.FINISHED
    left = arrive_at_work(launch_study(study="other", instances=2))
    answer_all(client, left, "1")
    Slot.objects.filter(seat__session=left, answered_at=None).update(annotator=None)
    # The page does not lead to itself for ever.
    assert client.get(page_of(left))["Location"] == page_of(left)
    assert fresh(left).state == SessionState.FINISHED
    assert client.get(page_of(left)).status_code == 200


def test_an_answer_that_another_study_builds_on_is_shown_as_final(client: Client) -> None:
    project = make_pipeline_project(1)
    session = arrive_at_work(launch_study(project, instances=1, answering={"last_look": True}), "ann")
    first = next_slot(session)
    step_4 = make_step_4(project)
    send(session, first, "1")
    arrive(step_4, "ben")
    page = client.get(f"{page_of(session)}change/{first.pk}/")
    assert "Your answer to question 1 is final, because another study now uses it." in page.content.decode()
    refused = client.post(f"{page_of(session)}answer/", form_of(page.content) | {"choice": "2"}, follow=True)
    told = "Another study now uses your answer to question 1, so it is final. Kept: “Image A”. Not kept: “Image B”."
    assert told in refused.content.decode()
    assert Response.objects.count() == 1


@pytest.mark.parametrize("accepts_before", [True, False])
def test_gold_and_its_repeat_become_final_with_the_ordinary_answer_before_them(
    client: Client, accepts_before: bool
) -> None:
    project = make_pipeline_project(6)
    gold = {"per_survey": 1, "questions": [{"instance": "vase-0", "right": "candidate-1"}]}
    checks = {"gold": gold, "repeat": {"per_survey": 1}}
    study = launch_study(project, instances=6, answering={"last_look": True}, checks=checks)
    gold_question = Question.with_checks.get(study=study, check_type=Check.GOLD)
    Question.with_checks.filter(study=study, check_type=Check.REPEAT).update(source_id=gold_question.pk)
    session = arrive_at_work(study, "ann")
    slots = responses.open_slots(session=session, limit=100)
    at = next(number for number, slot in enumerate(slots) if slot.question_id == gold_question.pk)
    before = next(slot for slot in slots[at - 1 :: -1] if not slot.is_check)
    other = next(slot for slot in slots if not slot.is_check and slot != before)
    accepted = before if accepts_before else other
    for slot in slots:
        send(session, slot, value_of(session, slot, "candidate-1" if slot == accepted else "none"))
    assert arrive(make_step_4(project), "ben").questions_total == 1
    pages = {slot.pk: client.get(f"{page_of(session)}change/{slot.pk}/").content.decode() for slot in slots}
    checked = {slot.pk for slot in slots if slot.question.check_type in (Check.GOLD, Check.REPEAT)}
    final = {accepted.pk} | (checked if accepts_before else set())
    assert len(checked) == 2
    assert {slot for slot, page in pages.items() if "is final, because another study now uses it" in page} == final
    changed = [send(session, slot, value_of(session, slot, "candidate-2"), replaces=1) for slot in slots]
    assert {slot.pk for slot, result in zip(slots, changed, strict=True) if result.is_final} == final


def test_where_choosing_sends_nothing_is_built_on_an_answer_that_can_still_be_taken_back() -> None:
    project = make_pipeline_project(1)
    session = arrive_at_work(launch_study(project, instances=1, answering={"one_action": "offered"}), "ann")
    step_4 = make_step_4(project)
    send(session, next_slot(session), "1")
    decided = Decision.objects.filter(study=session.study)
    decided.update(decided_at=NOON)
    with pytest.raises(NothingLeft):
        arrive(step_4, "ben")
    decided.update(decided_at=NOON - timedelta(seconds=6))
    assert arrive(step_4, "ben").questions_total == 1
