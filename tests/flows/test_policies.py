"""A study pauses itself while somebody is at work: they finish and are paid, others wait until a researcher resumes it.

Each session of two questions is paid 2.00, and the study pauses above 1.00, that is once one is finished.
"""

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Session, SessionState
from results.actions.policies import studies_with_policies
from studies.models import CompletionCode, Study
from tests.annotation.test_entry import link_of
from tests.annotation.test_work_pages import form_of, page_of
from tests.factories import launch_study, make_member, make_project
from tests.pages import signed_in, words_of
from workspace.tasks import check_study_policies

pytestmark = pytest.mark.django_db
STUDY = "/studies/vases/best-vase/"


class Visitor:
    """A person from Prolific with a browser that runs no script."""

    def __init__(self, study: Study, digit: str) -> None:
        self.browser, self.study, self.digit, self.number = Client(), study, digit, 0

    def come(self) -> str:
        """Open the link and press Start; return the page that follows."""
        ids = {"PROLIFIC_PID": self.digit * 24, "SESSION_ID": f"a{self.digit}" * 12}
        self.browser.get(link_of(self.study, **ids))
        return words_of(self.browser.post(link_of(self.study, **ids), follow=True))

    def sit_down(self) -> None:
        self.come()
        self.number = Session.objects.latest("pk").pk

    @property
    def session(self) -> Session:
        return Session.objects.get(pk=self.number)

    def begin(self) -> None:
        self.browser.post(f"{page_of(self.session)}begin/", follow=True)

    def answer(self) -> str:
        page = page_of(self.session)
        fields = form_of(self.browser.get(page, follow=True).content)
        return words_of(self.browser.post(f"{page}answer/", fields | {"choice": "1"}, follow=True))


def strike() -> None:
    for study in studies_with_policies():
        check_study_policies(study)


def test_who_is_at_work_finishes_and_nobody_new_comes_until_it_is_resumed() -> None:
    project = make_project()
    owner = signed_in(make_member(project, "owner"))
    study = launch_study(
        project,
        instances=2,
        answers=6,
        pay={"currency": "USD", "per_session": "2.00"},
        policies=[{"policy": "cost", "cost_above": "2.00"}],
    )
    code = CompletionCode.objects.get(study=study, outcome="finished").code
    first, second, at_work, reading, late, last = (Visitor(study, digit) for digit in "123456")
    for visitor in (first, second, at_work):
        visitor.sit_down()
        visitor.begin()
    reading.sit_down()
    for visitor in (first, second, at_work):
        visitor.answer()
    for visitor in (first, second):
        assert code in visitor.answer()
    strike()
    assert "Paused the study" in words_of(owner.get(STUDY))

    # Nobody new comes in; whoever has begun, or only reads the instructions, goes on to the end.
    assert "This study is paused at the moment." in late.come()
    assert code in at_work.answer()
    reading.begin()
    reading.answer()
    assert code in reading.answer()
    assert {each.session.state for each in (first, second, at_work, reading)} == {SessionState.FINISHED}

    owner.post(f"{STUDY}resume/")
    strike()
    for visitor in (late, last):
        visitor.sit_down()
        visitor.begin()
        visitor.answer()
        assert code in visitor.answer()
    # The four sessions before cost 8.00; since the resume it is 4.00, more than 2.00 again.
    strike()
    page = words_of(owner.get(STUDY))
    assert page.count("Paused the study") == 1
    assert "Counted since it was resumed on " in page
    assert Session.objects.filter(ended_at__lte=timezone.now(), state=SessionState.FINISHED).count() == 6
