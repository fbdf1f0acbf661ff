import re

import pytest
from django.test import Client

from annotation.models import Annotator, EntryEvent, Response, Session
from studies.models import InstanceImage, Question, Study
from tests.factories import launch

PREVIEW = "/studies/birds-step-3/preview/"


def shown(client: Client, step: str) -> str:
    return client.get(f"{PREVIEW}?step={step}").content.decode()


@pytest.mark.parametrize("launched", [False, True])
def test_a_preview_goes_through_every_page_and_stores_nothing(client: Client, draft: Study, launched: bool) -> None:
    if launched:
        launch(draft)
    before = Question.objects.count()
    address, seen = PREVIEW, []
    for _ in range(10):
        page = client.get(address).content.decode()
        seen.append(re.sub(r"<[^>]*>|\s+", " ", page))
        action = re.search(r'<form[^>]*method="post"[^>]*action="([^"]*step[^"]*)"', page)
        if not action:
            break
        response = client.post(action[1], {"choice": "1", "agree": "yes"})
        assert response.status_code == 303
        address = response["Location"]
    assert [word in page for word, page in zip(["Before you start", "Instructions"], seen, strict=False)] == [True] * 2
    assert len(seen) == 6
    assert all("A bird under" in page for page in seen[2:5])
    assert "Nothing was stored." in seen[5]
    assert Question.objects.count() == before
    for model in (Annotator, Session, Response, EntryEvent):
        assert model.objects.count() == 0


def test_every_page_says_that_it_is_a_preview(client: Client, study: Study) -> None:
    for step in ("consent", "instructions", "1"):
        assert "Preview, nothing is stored" in shown(client, step)


def test_the_pages_script_is_led_to_the_next_question(client: Client, study: Study) -> None:
    response = client.post(f"{PREVIEW}?step=1", {"choice": "1"}, headers={"Accept": "application/json"})
    assert response.json() == {"saved": True, "next": None, "go": f"{PREVIEW}?step=2"}


def test_who_does_not_agree_is_led_to_the_end(client: Client, study: Study) -> None:
    assert client.post(f"{PREVIEW}?step=consent", {"agree": "no"})["Location"] == f"{PREVIEW}?step=end"


def test_the_questions_show_no_option_by_its_identity(client: Client, study: Study) -> None:
    assert "candidate" not in shown(client, "1")


def test_a_preview_without_consent_page_begins_with_the_instructions(client: Client, study: Study) -> None:
    study.design["consent"] = ""
    study.save()
    page = client.get(PREVIEW).content.decode()
    assert "Pick the image that shows what the description says." in page
    assert "I agree" not in page


@pytest.mark.parametrize("step", ["9", "-1", "nonsense", ""])
def test_a_step_that_is_not_there_is_the_first_one(client: Client, study: Study, step: str) -> None:
    assert "Before you start" in shown(client, step)


def test_a_draft_whose_images_are_awaited_says_what_is_missing(client: Client, draft: Study) -> None:
    InstanceImage.objects.filter(role="candidate").update(image=None)
    response = client.post(f"{PREVIEW}?step=instructions", follow=True)
    assert "No question could be shown" in response.content.decode()
