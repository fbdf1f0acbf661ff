"""When all answers to a study are in, whoever launched it is told by mail, where that was wished for."""

import pytest
from django.core import mail
from pytest_django import Settings

from annotation.actions.launching.complete_study import set_completion
from annotation.actions.launching.launch import launch
from tests.annotation.test_pipeline import answer_all
from tests.factories import NOON, TESTS, arrive_at_work, create_draft, make_person
from workspace.tasks import note_completed_studies

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("mails", "told"), [(True, [["ada@example.org"]]), (False, [])])
def test_who_launched_it_is_told_once_and_only_where_it_was_wished_for(
    mails: bool, told: list[list[str]], settings: Settings
) -> None:
    settings.MAIL_FROM = "lineup@example.org"
    ada = make_person("ada")
    ada.email = "ada@example.org"
    ada.save()
    study = create_draft(instances=1)
    launch(study=study, by=ada, now=NOON)
    set_completion(study=study, closes=True, mails=mails, by=TESTS, now=NOON)
    answer_all(arrive_at_work(study, "ann"), "candidate-0")
    note_completed_studies()
    note_completed_studies()
    assert [sent.to for sent in mail.outbox] == told
    for sent in mail.outbox:
        assert sent.subject == "best-vase is complete"
        assert "/studies/vases/best-vase/" in sent.body
        assert "It has been closed" in sent.body
