import re
from typing import Any

import pytest
from django.test import Client

from annotation.actions.launching.consent_versions import amend_consent
from annotation.models import Annotator, EntryEvent, PracticeAnswer, Response, Session
from studies.actions.questions import make_practice
from studies.design.model import Part, Practice, PracticeEntry, QualityChecks, RepeatChecks
from studies.models import InstanceImage, Question, Study
from tests.factories import NOON, TESTS, make_launched, redesign

PREVIEW = "/studies/birds/birds-step-3/preview/"


def shown(client: Client, step: str) -> str:
    return client.get(f"{PREVIEW}?step={step}").content.decode()


@pytest.mark.parametrize("launched", [False, True])
def test_a_preview_goes_through_every_page_and_stores_nothing(client: Client, draft: Study, launched: bool) -> None:
    if launched:
        make_launched(draft)
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
    for step in ("consent", "instructions-1", "1"):
        assert re.search(r"Preview of \d questions, nothing is stored", shown(client, step))
    assert 'data-text-saved="Not stored"' in shown(client, "1")


@pytest.mark.parametrize("launched", [False, True])
def test_the_instructions_count_the_questions_of_a_whole_survey(client: Client, draft: Study, launched: bool) -> None:
    """4 questions in one survey, of which the preview shows 3."""
    if launched:
        make_launched(draft)
    page = shown(client, "instructions-1")
    assert "<span>4 questions</span>" in page
    assert "Preview of 3 questions" in page


@pytest.mark.parametrize("launched", [False, True])
def test_the_instructions_count_checks_too(client: Client, draft: Study, launched: bool) -> None:
    """4 questions and a repeat. Of 4 repeats only 2 would be asked: half as many as there are questions."""
    if launched:
        make_launched(draft)
    for repeats, questions in ((1, 5), (4, 6)):
        checks = QualityChecks(gold=None, instruction=None, repeat=RepeatChecks(per_survey=repeats))
        redesign(draft, checks=checks)
        assert f"<span>{questions} questions</span>" in shown(client, "instructions-1")


def test_the_consent_page_of_a_launched_study_shows_its_latest_text(client: Client, study: Study) -> None:
    assert "We keep less" not in shown(client, "consent")
    text = "# Before you start\n\nWe keep less."
    amend_consent(study=study, text=text, reason="Less is stored.", ask_again=False, by=TESTS, now=NOON)
    assert "We keep less." in shown(client, "consent")


def test_the_end_names_prolific_only_where_people_come_from_it(client: Client, draft: Study) -> None:
    for prolific, invited, words in (
        (True, False, "their answers are saved and go back to Prolific."),
        (True, True, "their answers are saved and, if they came from Prolific, go back there."),
        (False, True, "their answers are saved."),
    ):
        changes = {"prolific": prolific, "invite": invited}
        redesign(draft, recruitment=draft.design.recruitment.model_copy(update=changes))
        assert words in shown(client, "end")


def sent(client: Client, step: str) -> dict[str, Any]:
    response = client.post(f"{PREVIEW}?step={step}", {"choice": "1"}, headers={"Accept": "application/json"})
    body: dict[str, Any] = response.json()
    return body


def test_the_pages_script_gets_the_questions_that_follow(client: Client, study: Study) -> None:
    assert 'data-slot="2"' in shown(client, "1")
    first, second, third = sent(client, "1"), sent(client, "2"), sent(client, "3")
    assert (first["answered"], first["total"], first["go"]) == (1, 3, None)
    assert 'data-slot="2"' in first["next"]
    assert 'data-slot="3"' in first["next"]
    assert second["go"] is None
    assert second["next"].count("data-slot") == 1
    assert (third["next"], third["go"]) == (None, f"{PREVIEW}?step=end")


def test_each_part_is_shown_after_its_own_instructions(client: Client, draft: Study) -> None:
    ask = {"images": ["image"], "captions": ["caption", "negative_caption"]}
    redesign(draft, parts=(*draft.design.parts, Part(kind="image_to_text", ask=ask, instructions="Match them.")))
    assert "Match them." in shown(client, "instructions-2")
    assert sent(client, "3")["go"] == f"{PREVIEW}?step=instructions-2"
    assert "A bird on 1 roofs." in shown(client, "4")


def test_who_does_not_agree_is_led_to_the_end(client: Client, study: Study) -> None:
    assert client.post(f"{PREVIEW}?step=consent", {"agree": "no"})["Location"] == f"{PREVIEW}?step=end"


def test_the_questions_show_no_option_by_its_identity(client: Client, study: Study) -> None:
    assert "candidate" not in shown(client, "1")


def test_a_preview_without_consent_page_begins_with_the_instructions(client: Client, study: Study) -> None:
    parts = (study.design.parts[0].model_copy(update={"instructions": "Pick the one that fits."}),)
    redesign(study, consent="", parts=parts)
    page = client.get(PREVIEW).content.decode()
    assert "Pick the one that fits." in page
    assert "I agree" not in page


@pytest.mark.parametrize("step", ["9", "-1", "nonsense", ""])
def test_a_step_that_is_not_there_is_the_first_one(client: Client, study: Study, step: str) -> None:
    assert "Before you start" in shown(client, step)


def test_a_draft_whose_images_are_awaited_says_what_is_missing(client: Client, draft: Study) -> None:
    InstanceImage.objects.filter(role="candidate").update(image=None)
    response = client.post(f"{PREVIEW}?step=instructions-1", follow=True)
    assert "No question could be shown" in response.content.decode()


def with_practice(study: Study) -> None:
    asked = (
        PracticeEntry(instance=f"row-{number}", right="candidate-1", feedback=f"Count the {number} roofs.")
        for number in (3, 4)
    )
    redesign(study, practice=Practice(needed=1, rounds=2, questions=tuple(asked)))


@pytest.mark.parametrize("launched", [False, True])
def test_practice_is_shown_with_its_feedback_and_stores_nothing(client: Client, draft: Study, launched: bool) -> None:
    with_practice(draft)
    if launched:
        make_practice(draft)
        make_launched(draft)
    assert "Start the practice" in shown(client, "instructions-1")
    assert client.post(f"{PREVIEW}?step=instructions-1")["Location"] == f"{PREVIEW}?step=practice-1"
    page = shown(client, "practice-1")
    assert "Practice question 1 of 2" in page
    assert "A bird under 3 roofs." in page
    assert "nothing is stored" in page
    assert "candidate" not in page
    found = []
    for value in ("1", "2", "3", "4", "none"):
        feedback = client.post(f"{PREVIEW}?step=practice-1", {"choice": value})["Location"]
        assert feedback == f"{PREVIEW}?step=feedback-1&choice={value}"
        found.append(client.get(feedback).content.decode())
    assert sorted("<h1>Right</h1>" in page for page in found) == [False] * 4 + [True]
    assert all("Count the 3 roofs." in page and "Your answer" in page for page in found[:4])
    assert all(f'href="{PREVIEW}?step=practice-2"' in page for page in found)
    assert f'href="{PREVIEW}?step=1"' in shown(client, "feedback-2")
    assert (Session.objects.count(), PracticeAnswer.objects.count()) == (0, 0)


@pytest.mark.parametrize("choice", ["", "9", "candidate-1", "%00"])
def test_feedback_on_a_choice_that_is_none_is_shown_all_the_same(client: Client, draft: Study, choice: str) -> None:
    with_practice(draft)
    page = shown(client, f"feedback-1&choice={choice}")
    assert "Not quite" in page
    assert "✗ Your answer" not in page


def test_practice_that_cannot_be_asked_is_left_out(client: Client, draft: Study) -> None:
    with_practice(draft)
    first, *others = draft.design.practice.questions
    lost = (first.model_copy(update={"instance": "nowhere"}), *others)
    redesign(draft, practice=draft.design.practice.model_copy(update={"questions": lost}))
    assert client.post(f"{PREVIEW}?step=instructions-1")["Location"] == f"{PREVIEW}?step=1"
