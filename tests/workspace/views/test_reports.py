"""Reports on the page of a study."""

import pytest
from django.test import Client

from annotation.actions.answering import question_reports
from studies.models import Study
from tests.annotation.test_responses import next_slot
from tests.factories import NOON, arrive_at_work, launch_study, make_person

pytestmark = pytest.mark.django_db


def page_of(client: Client, study: Study) -> str:
    return client.get(f"/studies/{study.project.slug}/{study.slug}/").content.decode()


def test_the_page_of_a_study_shows_what_was_reported_and_runs_nothing_of_it(client: Client) -> None:
    study = launch_study(instances=2, answers=2)
    client.force_login(make_person("root", superuser=True))
    assert 'id="reports"' not in page_of(client, study)
    session = arrive_at_work(study)
    words = "<script>alert(1)</script>"
    slot = next_slot(session)
    question_reports.report(session=session, slot=slot.pk, reason="offensive", words=words, instead=False, now=NOON)
    page = page_of(client, study)
    assert "It is offensive" in page
    assert slot.question.instance.key in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert words not in page
