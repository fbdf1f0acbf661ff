"""Notes on a person, and their block in a project, on the person's page."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from analytics.flags import measured_rule
from annotation.actions.recruiting.prolific_people import find_people
from annotation.errors import CannotTakePart
from annotation.models import Block, PersonNote, Report, Response, Seat, SessionFlag, Slot
from results.actions.erasure import forget
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from studies.models import Event, Membership, Project, Question, Study
from tests.factories import NOON, TESTS, arrive, make_instance, make_member, make_person
from tests.pages import signed_in, words_of
from tests.people import digest_of
from tests.removing import person, withdraw
from tests.results.pipelines import STEP_3, by_key, open_study, project_of, sit_through

HALF = {"vase_0": "candidate-0", "vase_1": "candidate-1"}


@pytest.fixture
def study(researcher: User) -> Study:
    """Ann has answered two of four questions, and her session is flagged."""
    study = open_study(project_of(researcher), STEP_3 | {"answers": 3})
    session = sit_through(study, "ann", by_key(**HALF))
    evidence = {"hidden": 5, "measured": 6}
    SessionFlag.objects.create(session=session, rule="hidden_tab", version=2, evidence=evidence, found_at=NOON)
    name_annotators(project=study.project)
    return study


def page(who: str = "ann") -> str:
    name = Pseudonym.objects.get(annotator__id_digest=digest_of(who)).name
    return f"/projects/vases/people/{name}/"


def block(client: Client, reason: str = "Two accounts.") -> Any:
    return client.post(f"{page()}block/", {"reason": reason})


@pytest.mark.usefixtures("study")
def test_the_page_has_the_flags_with_their_evidence_and_a_chart_of_the_times(client: Client) -> None:
    words = words_of(client.get(page()))
    assert "The tab was hidden for most of the time of 5 of 6 measured answers." in words
    precision = measured_rule("hidden_tab").precision_at_least
    assert f"Measured precision at least {round(100 * precision)} %" in words
    # Both answers took 4.2 s.
    assert "Seconds per answer in order: 2 answers, median 4.2 s, from 4.2 to 4.2 s" in words


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        # Minutes of the answers: 0, 1 | 2 | 3 | 4, so the person changes three times, first at 2 and last at 4.
        ((0, 1, 3), (2, 4), "switched between them 3 times from"),
        # One session interrupts the other, and one follows the other.
        ((0, 3), (1, 2), ""),
        ((0, 1), (2, 3), ""),
    ],
)
def test_the_page_says_that_somebody_worked_in_two_studies_at_once(
    client: Client, study: Study, first: tuple[int, ...], second: tuple[int, ...], sentence: str
) -> None:
    other = open_study(study.project, STEP_3 | {"answers": 3, "study": "other"})
    keys = ("vase_0", "vase_1", "vase_2", "vase_3")
    for each, minutes in ((study, first), (other, second)):
        about = sit_through(each, "ben", by_key(**dict.fromkeys(keys[: len(minutes)], "none")))
        for minute, answer in zip(minutes, Response.objects.filter(session=about).order_by("pk"), strict=True):
            Response.objects.filter(pk=answer.pk).update(received_at=NOON + timedelta(minutes=minute))
    name_annotators(project=study.project)
    words = words_of(client.get(page("ben")))
    assert ("Answered in other and step-3 at the same time" in words) == bool(sentence)
    if sentence:
        assert f'{sentence} <time datetime="{NOON + timedelta(minutes=2):%Y-%m-%dT%H:%M}' in words


def answer_check(study: Study, check: str, choice: str, **values: Any) -> None:
    """Store that Ann's session answered a check with `choice`, about what its first question asks."""
    session, asked = study.sessions.get(), study.questions.order_by("pk")[0]
    about = {"study": study, "instance": asked.instance, "kind": asked.kind, "content": asked.content}
    about |= {"check_type": check, "source_type": check, "answers_wanted": 1, "part": asked.part}
    question = Question.with_checks.create(**about, **values)
    seat = Seat.objects.get(session=session)
    place = {"position": 100 + question.pk, "annotator": session.annotator, "answered_at": NOON, "is_check": True}
    slot = Slot.objects.create(seat=seat, question=question, **place)
    given = {"submission_id": uuid.uuid4(), "choice": choice, "answer": choice, "received_at": NOON}
    given["shown_order"] = [f"candidate-{n}" for n in range(4)]
    whose = {"study": study, "session": session, "annotator": session.annotator, "is_check": True}
    Response.objects.create(question=question, slot=slot, **whose, **given)


def test_failed_checks_are_shown_with_the_answer_expected(client: Client, study: Study) -> None:
    first = study.questions.order_by("pk")[0]
    answer_check(study, "gold", "candidate-1", right="candidate-2", source_id=1)
    answer_check(study, "gold", "none", right="none", source_id=2)
    # Ann's first answer was the first image.
    answer_check(study, "repeat", "candidate-3", right=first.right, source_id=first.pk)
    words = words_of(client.get(page()))
    assert "Gold questions passed: 1 of 2 · Repeated questions passed: 0 of 1" in words
    assert "<summary>Gold questions failed: 1</summary>" in words
    assert "vase-0</a>: answered <bdi>Image 2</bdi>, expected <bdi>Image 3</bdi>" in words
    assert "<summary>Repeated questions failed: 1</summary>" in words
    assert "vase-0</a>: answered <bdi>Image 4</bdi>, expected <bdi>Image 1</bdi>" in words


def test_answers_to_checks_are_listed_as_they_were_shown_and_marked(client: Client, study: Study) -> None:
    first = study.questions.order_by("pk")[0]
    answer_check(study, "gold", "candidate-1", right="candidate-2", source_id=1)
    answer_check(study, "instruction", "none", right="none", source_id=2)
    answer_check(study, "repeat", "candidate-3", right=first.right, source_id=first.pk)
    # Its first answer is not there.
    answer_check(study, "repeat", "none", source_id=study.questions.order_by("pk")[3].pk)
    listed = client.get(page())
    shown = [each.check for each in listed.context["answers"].object_list]
    assert {(each.title, each.passed, each.expected) for each in shown if each} == {
        ("Gold question", False, "Image 3"),
        ("Instruction check", True, "None of these"),
        ("Repeated question", False, "Image 1"),
        ("Repeated question", None, ""),
    }
    # Ann gave two answers that count, and four to checks.
    assert listed.context["listed_answers"] == (2, 4)
    words = words_of(listed)
    assert "2 and 4 to checks" in words
    assert '<span class="badge">Gold question</span> <span class="badge paused">failed</span>' in words
    assert '<span class="badge">Instruction check</span> <span class="badge accepted">passed</span>' in words
    assert "expected: <bdi>Image 3</bdi>" in words
    assert "first answer: <bdi>Image 1</bdi>" in words
    assert words.count("a check, not counted") == 4
    assert client.get(f"{page()}?answers=differ").context["listed_answers"].checks == 0
    withdraw(study.project, "ann")
    assert "Gold question</span>" not in words_of(client.get(page()))


def test_the_page_of_an_instance_says_who_asks_about_it_as_gold(client: Client, study: Study) -> None:
    own = make_instance(study.project, "own-gold")
    about = {"study": study, "instance": own, "kind": "best_of_n", "content": study.questions.all()[0].content}
    about |= {"check_type": "gold", "answers_wanted": 1, "right": "candidate-2"}
    gold = Question.with_checks.create(**about)
    address = "/projects/vases/instances/own-gold/"
    words = words_of(client.get(address))
    assert "Asked as a gold question, right answer: <bdi>Image 3</bdi>." in words
    assert "No study asks about it yet." not in words
    assert "not asked" not in words
    assert signed_in(make_person("stranger")).get(address).status_code == 404
    assert "Take out…" in words
    Question.with_checks.filter(pk=gold.pk).update(undone_at=NOON, taken_out_at=NOON)
    words = words_of(client.get(address))
    assert "No longer asked as a gold question." in words
    assert "Put back…" in words
    assert "Take out…" not in words


def test_nobody_but_members_reads_which_check_failed(client: Client, study: Study) -> None:
    answer_check(study, "gold", "candidate-1", right="candidate-2", source_id=1)
    address, failed = page(), "answered <bdi>Image 2</bdi>"
    assert failed in words_of(client.get(address))
    assert signed_in(make_person("stranger")).get(address).status_code == 404
    assert Client().get(address).status_code == 302
    # A withdrawal takes the answers to checks along.
    withdraw(study.project, "ann")
    assert failed not in words_of(client.get(address))


def test_reports_and_comments_stand_under_what_they_wrote(client: Client, study: Study) -> None:
    session = study.sessions.get()
    Report.objects.create(
        **{"study": study, "question": study.questions.first(), "session": session, "annotator": session.annotator},
        **{"reason": "broken", "words": "No picture came.", "at": NOON},
    )
    study.sessions.update(comment="Nice vases.", state="given_up", ended_at=NOON)
    words = words_of(client.get(page()))
    assert '<q dir="auto">No picture came.</q>' in words
    assert "Comment on the last page of step-3" in words


@pytest.mark.usefixtures("study")
def test_a_note_is_kept_with_its_author_and_only_they_may_delete_it(client: Client, researcher: User) -> None:
    session = Project.objects.get().studies.get().sessions.get()
    client.post(f"{page()}notes/", {"text": " Slow, and careful. ", "session": str(session.pk)})
    note = PersonNote.objects.get()
    assert (note.text, note.by, note.session) == ("Slow, and careful.", researcher, session)
    assert "Slow, and careful." in words_of(client.get(page()))
    other = signed_in(make_member(Project.objects.get(), "editor"))
    assert "Delete this note" not in words_of(other.get(page()))
    told = words_of(other.post(f"{page()}notes/{note.pk}/delete/", follow=True))
    assert "Only its author may delete a note." in told
    assert PersonNote.objects.count() == 1
    client.post(f"{page()}notes/{note.pk}/delete/")
    assert not PersonNote.objects.exists()
    assert list(Event.objects.filter(what__startswith="note ").order_by("pk").values_list("what", flat=True)) == [
        "note added",
        "note deleted",
    ]


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize(("text", "told"), [("", "The note is empty."), ("x" * 2001, "at most 2,000 fit")])
def test_a_note_that_cannot_be_kept_comes_back_with_a_sentence(client: Client, text: str, told: str) -> None:
    answer = client.post(f"{page()}notes/", {"text": text})
    assert answer.status_code == 409
    assert told in words_of(answer)
    assert answer.context["text"] == text
    assert not PersonNote.objects.exists()


def test_whoever_is_blocked_gets_no_further_session_in_the_project_until_they_are_allowed(
    client: Client, study: Study
) -> None:
    other = open_study(study.project, {**STEP_3, "study": "another"})
    block(client)
    for each in (other, open_study(study.project, {**STEP_3, "study": "later"})):
        with pytest.raises(CannotTakePart) as error:
            arrive(each, "ann", session="new")
        assert error.value.message == "You cannot take part in this study."
        # Nor does Prolific show it to them.
        assert person("ann").pk in find_people(each).kept_out
    assert "Two accounts." in words_of(client.get(page()))
    client.post(f"{page()}allow/")
    assert arrive(other, "ann", session="new").pk
    assert "blocked" not in words_of(client.get(page())).replace("was blocked", "")
    whats = list(Event.objects.filter(what__in=["annotator blocked", "annotator allowed"]).order_by("pk"))
    assert [event.what for event in whats] == ["annotator blocked", "annotator allowed"]


def test_a_block_holds_in_its_project_alone_and_changes_no_answer(client: Client, study: Study) -> None:
    before = study.responses.counted().count()
    block(client)
    elsewhere = Project.objects.create(slug="jugs", name="Jugs")
    assert not Block.objects.in_force().filter(project=elsewhere).exists()
    assert study.responses.counted().count() == before == 2
    session = study.sessions.get()
    assert session.state == "working"


@pytest.mark.usefixtures("study")
def test_a_block_needs_a_reason_and_is_made_once(client: Client) -> None:
    assert "Give a reason." in words_of(block(client, " "))
    block(client)
    assert "This person is blocked already." in words_of(block(client))
    assert Block.objects.count() == 1


@pytest.mark.usefixtures("study")
def test_exclude_and_replace_has_asking_others_ticked(client: Client) -> None:
    assert f'{page()}exclude/?replace=yes">Exclude and replace</a>' in words_of(client.get(page()))
    assert client.get(f"{page()}exclude/?replace=yes").context["replaces"] is True


def test_of_somebody_who_withdrew_neither_flags_nor_words_are_shown(client: Client, study: Study) -> None:
    study.sessions.update(comment="Nice vases.", state="given_up", ended_at=NOON)
    withdraw(study.project, "ann")
    words = words_of(client.get(page()))
    assert "The tab was hidden" not in words
    assert "Nice vases." not in words


def test_erasure_deletes_notes_and_blocks(client: Client, study: Study) -> None:
    client.post(f"{page()}notes/", {"text": "Slow."})
    block(client)
    forget(annotator=person("ann"), project=study.project, by=TESTS, now=NOON)
    assert not PersonNote.objects.exists()
    assert not Block.objects.exists()
    assert not SessionFlag.objects.exists()


@pytest.mark.usefixtures("study")
def test_a_viewer_may_neither_write_nor_block_and_a_stranger_finds_nothing(client: Client) -> None:
    project = Project.objects.get()
    viewer, stranger = signed_in(make_member(project, "viewer")), signed_in(make_person("stranger"))
    sent = {"text": "Slow.", "reason": "Two accounts."}
    for address in ("notes/", "notes/1/delete/", "block/", "allow/"):
        assert viewer.post(f"{page()}{address}", sent).status_code == 403
        assert stranger.post(f"{page()}{address}", sent).status_code == 404
    assert not PersonNote.objects.exists()
    assert not Block.objects.exists()


@pytest.mark.usefixtures("study")
def test_a_note_of_another_project_is_not_found(client: Client, researcher: User) -> None:
    other = Project.objects.create(slug="jugs", name="Jugs")
    Membership.objects.create(project=other, user=researcher)
    note = PersonNote.objects.create(project=other, annotator=person("ann"), text="Slow.", by=researcher, at=NOON)
    assert client.post(f"{page()}notes/{note.pk}/delete/").status_code == 404
    assert PersonNote.objects.count() == 1


@pytest.mark.usefixtures("study")
def test_the_page_of_a_message_says_why_it_cannot_be_sent(client: Client) -> None:
    """Opening it is no fault: the same sentence stands there as after Send."""
    opened, sent = client.get(f"{page()}message/"), client.post(f"{page()}message/", {"text": "Hello."})
    assert (opened.status_code, sent.status_code) == (200, 409)
    for answer in (opened, sent):
        assert "Connect this project to its account at Prolific to write to them." in words_of(answer)
        assert not answer.context["channel"]
