"""The page of a question as a screen reader tells it: what is there, called what, and in which order."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.stage import Opener
from tests.browser.test_layout import picture
from tests.factories import make_instance, make_project

CAPTIONS = {"caption": "A vase.", "negative_caption": "A map."}
CRITERIA = ["Fits better", "More beautiful"]
STATEMENTS = ["It is day."]
CHOICES = """\
- form "Question 1 of 1":
  - heading "Question 1 of 1" [level=1]
  - group "Which image shows everything the description says?":
    - text: Which image shows everything the description says?
    - paragraph: {caption}
    - img "Image A"
    - radio "Image A"
    - text: Image A
    - link "Image A (enlarge)":
      - /url: /\\/images\\//
    - img "Image B"
    - radio "Image B"
    - text: Image B
    - link "Image B (enlarge)":
      - /url: /\\/images\\//
{last}\
    - button "Send" [disabled]
    - paragraph: Choose an answer first.
    - alert
"""
LAST = '    - radio "{name}"\n    - text: {name}\n'
LETTERED = """\
    - link "Image {letter} (enlarge)":
      - /url: /\\/images\\//
      - img "Image {letter}"
      - text: (enlarge)
"""
CRITERION = """\
    - group "{name}":
      - text: {name}
      - radio "Image A"
      - text: A
      - radio "Image B"
      - text: B
      - radio "No difference"
      - text: No difference
"""
STATEMENT = """\
    - group "{name}":
      - text: {name}
      - radio "True"
      - text: "True"
      - radio "False"
      - text: "False"
      - radio "Cannot tell"
      - text: Cannot tell
"""
SENDING = """\
    - button "Send" [disabled]
    - paragraph: Choose an answer first.
    - alert
"""
# What is read aloud of each kind, line by line.
SCRIPTS = {
    "best_of_n": CHOICES.format(caption="A map.", last=LAST.format(name="None of these")),
    "ambiguity": CHOICES.format(caption="A vase.", last=LAST.format(name="Both")),
    "text_to_image": CHOICES.format(caption="A vase.", last=""),
    "image_to_text": """\
- form "Question 1 of 1":
  - heading "Question 1 of 1" [level=1]
  - group "Which description fits the image?":
    - text: Which description fits the image?
    - link "The image (enlarge)":
      - /url: /\\/images\\//
      - img "The image"
      - text: (enlarge)
    - radio /A (vase|map)\\./
    - text: /A (vase|map)\\./
    - radio /A (vase|map)\\./
    - text: /A (vase|map)\\./
    - button "Send" [disabled]
    - paragraph: Choose an answer first.
    - alert
""",
    "rating": """\
- form "Question 1 of 1":
  - heading "Question 1 of 1" [level=1]
  - group "How well does the image show what the description says?":
    - text: How well does the image show what the description says?
    - paragraph: A vase.
    - link "The image (enlarge)":
      - /url: /\\/images\\//
      - img "The image"
      - text: (enlarge)
    - radio "1 (not at all)"
    - text: 1 (not at all)
    - radio "2"
    - text: "2"
    - radio "3"
    - text: "3"
    - radio "4"
    - text: "4"
    - radio "5 (perfectly)"
    - text: 5 (perfectly)
    - button "Send" [disabled]
    - paragraph: Choose an answer first.
    - alert
""",
    "compare": """\
- form "Question 1 of 1":
  - heading "Question 1 of 1" [level=1]
  - group "Which image is better? Answer each criterion separately.":
    - text: Which image is better? Answer each criterion separately.
    - paragraph: A vase.
"""
    + "".join(LETTERED.format(letter=letter) for letter in "AB")
    + "".join(CRITERION.format(name=name) for name in CRITERIA)
    + SENDING,
    "check": """\
- form "Question 1 of 1":
  - heading "Question 1 of 1" [level=1]
  - group "Which of these statements about the image are true?":
    - text: Which of these statements about the image are true?
    - link "The image (enlarge)":
      - /url: /\\/images\\//
      - img "The image"
      - text: (enlarge)
"""
    + "".join(STATEMENT.format(name=name) for name in ("A vase.", *STATEMENTS))
    + SENDING,
}
ASKS: dict[str, dict[str, Any]] = {
    "text_to_image": {"captions": ["caption"]},
    "image_to_text": {"images": ["image"]},
    "compare": {"images": ["candidate"], "criteria": CRITERIA},
    "check": {"statements": STATEMENTS},
}
# What is the answer can be chosen here too.
ENLARGED = """\
- dialog "Image A":
  - heading "Image A" [level=2]
  - paragraph: {caption}
  - button "Close"
  - img "Image A"
  - group "Images":
    - button "Image A": A
    - button "Image B": B
  - button "Before"
  - button "After"
  - button "Zoom out"
  - button "Whole image; now at 100 %"
  - button "Zoom in"
  - button "Side by side"
{choose}\
  - button "Send"
  - status
  - checkbox "Open the next enlarged"
  - text: Open the next enlarged
"""
ZOOMS = {
    "best_of_n": ENLARGED.format(caption="A map.", choose='  - button "Choose this image"\n'),
    "compare": ENLARGED.format(caption="A vase.", choose=""),
}


def shown(page: Page, at_work: Opener, kind: str) -> None:
    """Bring the page to the only question of a study of `kind`."""
    instance = make_instance(make_project(), "one", candidates=2, captions=CAPTIONS)
    for role in ("image", "negative_image"):
        picture(instance, role, (64, 64))
    at_work(instances=1, kind=kind, ask=ASKS.get(kind, {}))


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_question_is_read_aloud_in_this_order(page: Page, at_work: Opener, kind: str) -> None:
    shown(page, at_work, kind)
    expect(page.locator("[data-stage]")).to_match_aria_snapshot(SCRIPTS[kind])
    if kind in ZOOMS:
        page.keyboard.press("z")
        expect(page.locator("#zoom")).to_match_aria_snapshot(ZOOMS[kind])
