"""The whole way of people who qualify by finding images, through their pages: two tries, then the study itself."""

from typing import Any

import pytest
from django.test import Client

from annotation.actions.answering import responses
from annotation.actions.arriving.groups import set_group
from annotation.models import Session, SessionState
from studies.models import Project, Question, Study
from tests.annotation.test_entry import link_of
from tests.annotation.test_work_pages import form_of, page_of
from tests.factories import NOON, TESTS, fresh, make_project, redesign
from tests.results.describing import launched, make_set

pytestmark = pytest.mark.django_db

SIZE = 4


@pytest.fixture
def project() -> Project:
    """A qualification of two surveys of four descriptions that were imported, and a study for who found 3 of 4."""
    project = make_project("sets")
    for number in range(2 * SIZE + 1):
        split = "train" if number < 2 * SIZE else "test"
        about: dict[str, Any] = {
            "captions": {"description_1": f"Number {number}."},
            "reference": {"targets": [number % 10]},
        }
        make_set(project, f"static-{number}", split=split, **about)
    trial = launched(
        project,
        study="trial",
        kind="retrieve",
        purpose="qualification",
        answers=9,
        instances="{split: [train]}",
        surveys=f"{{size: {SIZE}}}",
    )
    redesign(trial, recruitment=trial.design.recruitment.model_copy(update={"sessions_per_annotator": 2}))
    launched(
        project,
        study="main",
        kind="retrieve",
        purpose="filter",
        instances="{split: [test]}",
        answers=9,
        eligibility=f"[{{rule: qualified, study: trial, right: 3, of: {SIZE}}}]",
    )
    return project


def come(client: Client, study: str, person: str, sitting: str) -> tuple[int, str, Session | None]:
    """Press Start as `person`; return the status, what the page says, and the session if there is one."""
    link = link_of(Study.objects.get(slug=study), PROLIFIC_PID=person, SESSION_ID=sitting)
    answer = client.post(link, follow=True)
    session = Session.objects.filter(provider_session_id=sitting).first()
    return answer.status_code, answer.content.decode(), session


def find(client: Client, session: Session, *, right: int) -> set[str]:
    """Answer all questions on their pages, the first ones rightly; return what was asked about."""
    page = page_of(session)
    client.post(f"{page}begin/")
    asked = set()
    for number in range(SIZE):
        (slot,) = responses.open_slots(session=session, limit=1)
        asked.add(slot.question.instance.key)
        order = responses.order_for(session=session, question=slot.question)
        wanted = order.index(slot.question.right)
        shown = (wanted if number < right else wanted + 1) % len(order)
        fields = form_of(client.get(page).content) | {"choice": str(shown + 1)}
        assert client.post(f"{page}answer/", fields).status_code == 303
    assert fresh(session).state == SessionState.FINISHED
    return asked


def test_a_second_try_is_other_questions_and_lets_in_who_passes_it(client: Client, project: Project) -> None:
    for person, first, second in (("ann", 2, 1), ("ben", 1, 3)):
        tries = []
        for sitting, right in (("one", first), ("two", second)):
            assert come(client, "main", person, f"{person}-early-{sitting}")[2] is None
            _, _, session = come(client, "trial", person, f"{person}-{sitting}")
            assert session is not None
            tries.append(find(client, session, right=right))
        assert len(tries[0] | tries[1]) == 2 * SIZE
        assert come(client, "trial", person, f"{person}-three")[2] is None
    _, said, session = come(client, "main", "ann", "ann-main")
    assert session is None
    assert "This study is for people who have passed another one." in said
    _, _, session = come(client, "main", "ben", "ben-main")
    assert session is not None
    assert session.questions_total == Question.objects.filter(study__slug="main").count() == 1


def test_an_allow_list_is_a_group_and_asks_nothing_more_of_those_in_it(client: Client, project: Project) -> None:
    launched(
        project,
        study="listed",
        kind="retrieve",
        purpose="filter",
        instances="{split: [test]}",
        eligibility="[{rule: in_group, group: retrievers}]",
    )
    set_group(project=project, group="retrievers", provider="prolific", people=["ben"], by=TESTS, now=NOON)
    assert come(client, "listed", "ann", "ann-listed")[2] is None
    assert come(client, "listed", "ben", "ben-listed")[2] is not None
