"""An answer that must differ from those about its instance: said once, whoever says it, also at the same moment."""

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.actions.answering import responses
from annotation.actions.answering.responses import Submission, SubmissionResult
from annotation.errors import BadAnswer
from annotation.models import Response, Session, Slot
from studies.models import Study
from tests import removing
from tests.factories import NOON, arrive_at_work, launch_study, make_instance, make_project
from tests.together import at_once

pytestmark = pytest.mark.django_db
SAID = "The lid of the vase is open."
SAME = "the lid of the vase -- is OPEN"
OTHER = "Both handles are to be seen."


def describing(*, sets: int = 1, targets: int = 3, **design: Any) -> Study:
    """Return an open study over sets of ten images, `targets` questions about each; missing sets are made."""
    project = make_project()
    for number in range(project.instances.count(), sets):
        make_instance(project, f"set-{number}", candidates=10, type="static")
    ask = {"images": "candidate", "targets": targets}
    return launch_study(project, instances=sets, kind="describe", ask=ask, **design)


def say(session: Session, text: str, *, slot: Slot | None = None, **more: Any) -> SubmissionResult:
    slot = slot or responses.open_slots(session=session, limit=1)[0]
    posted = {"text": text} if text else {"text": "", "not_possible": "yes"}
    sent = Submission(slot=slot.pk, submission=uuid.uuid4(), posted=posted, **more)
    return responses.submit(token=session.token, sent=sent, now=NOON)


def texts() -> list[str]:
    return sorted(response.answer["text"] for response in Response.objects.filter(is_current=True))


def test_what_was_said_about_a_set_is_not_said_again_by_anybody_about_any_of_its_images() -> None:
    study = describing(answers=2)
    ann, ben = arrive_at_work(study, "ann"), arrive_at_work(study, "ben")
    say(ann, SAID)
    for session in (ann, ben):
        answered = Session.objects.get(pk=session.pk).questions_answered
        with pytest.raises(BadAnswer, match="Somebody has already written exactly this about one of these images"):
            say(session, SAME)
        # Nothing has changed: the question is still open.
        assert Session.objects.get(pk=session.pk).questions_answered == answered
    say(ben, OTHER)
    assert texts() == [OTHER, SAID]


def test_another_set_and_another_study_may_have_the_same_text_and_not_possible_may_be_said_often() -> None:
    ann = arrive_at_work(describing(sets=2, targets=1))
    say(ann, SAID)
    say(ann, SAME)
    again = arrive_at_work(describing(sets=2, targets=1, study="again"))
    say(again, SAID)
    assert texts() == [SAID, SAID, SAME]
    other = arrive_at_work(describing(sets=2, study="other"))
    for _ in range(3):
        say(other, "")
    assert [given.answer for given in Response.objects.filter(session=other)] == [{"not_possible": True}] * 3


def test_ones_own_text_is_no_repetition_of_itself_when_it_is_changed_or_comes_twice() -> None:
    ann = arrive_at_work(describing())
    slots = responses.open_slots(session=ann, limit=2)
    sent = Submission(slot=slots[0].pk, submission=uuid.uuid4(), posted={"text": SAID})
    for _ in range(2):
        assert responses.submit(token=ann.token, sent=sent, now=NOON).stored
    say(ann, SAME, slot=slots[0], replaces=1)
    say(ann, OTHER, slot=slots[1])
    with pytest.raises(BadAnswer, match="written exactly this about one of these images"):
        say(ann, SAID, slot=slots[1], replaces=1)
    assert texts() == [OTHER, SAME]
    # What was said before a change is said by nobody now.
    say(ann, "Something else altogether.", slot=slots[0], replaces=2)
    say(ann, SAID, slot=slots[1], replaces=1)
    assert texts() == ["Something else altogether.", SAID]


@pytest.mark.parametrize("remove", [removing.withdraw, removing.exclude])
def test_what_counts_no_more_may_be_said_by_somebody_else(remove: Any) -> None:
    study = describing(answers=2, targets=1)
    ann, ben = arrive_at_work(study, "ann"), arrive_at_work(study, "ben")
    say(ann, SAID)
    remove(study.project, "ann")
    say(ben, SAME)
    assert [response.annotator_id for response in Response.objects.counted()] == [ben.annotator_id]
    if remove is removing.exclude:
        # Both were accepted in good faith; nobody's answer is lost when a researcher changes their mind.
        removing.include(study.project, "ann")
        assert Response.objects.counted().count() == 2


def test_other_kinds_ask_the_database_no_more_than_before() -> None:
    session = arrive_at_work(launch_study(answers=2))
    slot = responses.open_slots(session=session, limit=1)[0]
    sent = Submission(slot=slot.pk, submission=uuid.uuid4(), posted={"choice": "1"})
    with CaptureQueriesContext(connection) as asked:
        responses.submit(token=session.token, sent=sent, now=NOON)
    assert not [query["sql"] for query in asked if "studies_instance" in query["sql"].split("WHERE")[0]]
    assert not [query["sql"] for query in asked if "annotation_draft" in query["sql"]]


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_of_many_who_say_the_same_at_the_same_moment_one_is_first() -> None:
    study = describing(answers=8, targets=2)
    people = [arrive_at_work(study, f"person-{number}") for number in range(8)]

    def try_to(session: Session) -> bool:
        try:
            return say(session, SAID).stored
        except BadAnswer:
            return False

    assert at_once(*[lambda session=session: try_to(session) for session in people]).count(True) == 1
    assert texts() == [SAID]
    assert sorted(Session.objects.values_list("questions_answered", flat=True)) == [0] * 7 + [1]
