"""`describe`: similar images, one marked; the annotator writes what sets it apart (ImageCoDe's describer)."""

import random
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from studies.descriptions import SET, SET_SIZE, VIDEO, image_of_set
from studies.kinds.base import (
    IN_ORDER,
    TARGET,
    Answer,
    InstanceFacts,
    Kind,
    NewQuestion,
    NotAnAnswer,
    QuestionContent,
    Roles,
    Writing,
    ask_schema_of,
    gettext_noop,
    image_option,
    picture_of,
    role_schema,
    schema_of,
    several_images,
)

TEXT, NOT_POSSIBLE, YES = "text", "not_possible", "yes"
FEWEST_IMAGES = 2
# Of the 18,896 published descriptions in ImageCoDe's train and valid splits, 16 are shorter and none is longer.
FEWEST_CHARACTERS, MOST_CHARACTERS = 13, 800
# How often simulated annotators answer "not possible".
LEFT = 0.03

_IMAGES = r"(?:images|pictures|photos|photographs|pics|frames|stills|screenshots)"
_IMAGE = r"(?:images?|pictures?|photos?|photographs?|pics?|frames?|stills?|screenshots?)"
_ORDINAL = (
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|1st|2nd|3rd|(?:[4-9]|10)th|"
    r"last|final|second[ -](?:to[ -])?last|next[ -]to[ -]last)"
)
_NUMBER = r"(?:10|[1-9]|one|two|three|four|five|six|seven|eight|nine|ten)"
_SIDE = r"(?:(?:far[ -])?(?:left|right)(?:[ -]?most|[ -]hand)?|top|bottom|upper|lower|middle|cent(?:re|er))"
_THIS_IS = r"^\W*(?:(?:it|this|that)(?:['\u2019]s|\s+is|\s+was)\s+)?(?:the\s+)?"
# Phrases for the place of the target among the images. A place within an image ("on the left side of the picture", "in
# the left of the frame") does not count.
_PLACES = [
    rf"\b{_ORDINAL}\s+{_IMAGE}\b",
    rf"\b{_IMAGE}\s*(?:#\s*|nr\.?\s*|no\.?\s*|number\s+){_NUMBER}\b",
    rf"(?<!the )(?<!this )\b{_IMAGE}\s+(?:10|[1-9])\b(?!\s+(?!(?:is|was|has|shows)\b)\w*(?:s|men|people|children)\b)",
    rf"(?<!to )\b(?!cent){_SIDE}\s+(?:image|picture|photo|pic)\b",
    rf"{_THIS_IS}(?:{_ORDINAL}|{_SIDE})\s+one\b",
    rf"{_THIS_IS}(?:{_ORDINAL}|(?:number\s+)?{_NUMBER})\W*$",
    rf"\b{_IMAGE}\s+(?:in|at|on|from)\s+the\s+(?:{_ORDINAL}\s+(?:place|position|row)|(?:middle|end|beginning)\s+of\s+the\s+row)",
]
# Phrases for the other images. In blended frames "the other image" is a part of the described one.
_OTHERS = [
    rf"\bother\s+(?:nine\s+|9\s+)?{_IMAGES}\b",
    rf"\b(?:any|all)(?:\s+of)?(?:\s+the)?\s+other\s+{_IMAGE}\b",
    rf"\b(?:previous|preceding|next|following|remaining)\s+(?:\w+\s+)?{_IMAGE}\b",
    rf"\b{_IMAGE}\s+(?:before|after)\s+(?:this|it|that)\b",
    r"\bunlike\s+(?:(?:in|any|all|every|each|of|the)\s+)*(?:others?|rest)\b",
    r"\b(?:compared\s+(?:to|with)|different\s+(?:from|than|to)|differs\s+from)\s+(?:(?:in|all|of|the)\s+)*(?:others?|rest)\b",
    rf"\b(?:all\s+(?:of\s+)?|of\s+(?:the|these)\s+(?:ten|10)\s+|of\s+these\s+)(?:the\s+|these\s+)?{_IMAGES}\b",
    r"\bonly\s+(?:image|picture|photo|frame)\s+(?:where|in\s+which|that|which|with|without|of|showing)\b",
    rf"{_THIS_IS}only\s+one\s+(?:where|in\s+which|that|which|with|without|showing)\b",
]
# Invisible characters: Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt, version 15), such as joiners,
# direction marks, fillers and tags.
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_ALL_UNSEEN = re.compile(f"[{_UNSEEN}]")
# Keep joiners and variation selectors: Persian, Indian scripts and some symbols need them.
_OF_NO_USE = re.compile(f"(?![\u200c\u200d\ufe00-\ufe0f])[{_UNSEEN}]")
_NAMES_A_PLACE = re.compile("|".join(_PLACES), re.IGNORECASE)
_NAMES_OTHERS = re.compile("|".join(_OTHERS), re.IGNORECASE)

EMPTY = gettext_noop("Write what sets the marked image apart from the others, then send.")
EMPTY_OR_LEFT = gettext_noop(
    "Write what sets the marked image apart from the others, or say that it is not possible, then send."
)
BOTH = gettext_noop("You wrote a description and said that it is not possible. Remove one of the two, then send.")
TOO_SHORT = gettext_noop(
    "This is too short to identify the image. Characters needed: %(needed)s; written: %(written)s."
)
TOO_LONG = gettext_noop("This is too long. Characters allowed: %(allowed)s; written: %(written)s.")
PLACE = gettext_noop(
    "“%(words)s” says where an image is. Others see the images in a different order. Describe what it shows instead."
)
OTHERS = gettext_noop(
    "“%(words)s” refers to other images. Readers have only your words. Describe what this image shows."
)


class Describe(Kind):
    """One question for each of several randomly drawn targets of an image set.

    Still images are shuffled for each annotator; frames of a video keep their order. A text that mentions a place or
    other images (in English) is refused, and so is a text already given for the same set: nobody could find the target
    by it.
    """

    name = "describe"
    title = "Describe one of several similar images, so that others find it"
    study_title = "Describe the marked image"
    about = "Collects descriptions that set one image apart from the others."
    needs = "a set of 3 to 10 similar images in one role"
    rule = "collected-v1"
    collect_only = True
    usual_seconds = 60
    asks_about_parts = True
    has_one_label = False
    answers_are_sources = True
    is_written = True
    duplicate_message = gettext_noop(
        "Somebody has already written exactly this about one of these images. Add what only this image shows."
    )
    ask_schema: ClassVar[Mapping[str, Any]] = ask_schema_of(
        images=role_schema(SET, "The role of the images, in their order."),
        targets=schema_of(
            3,
            "The number of images of a set that are described, drawn at random. Each is a separate question.",
            minimum=1,
            maximum=SET_SIZE,
        ),
        min_characters=schema_of(
            FEWEST_CHARACTERS, "The minimum number of characters of a description.", minimum=1, maximum=5000
        ),
        max_characters=schema_of(
            MOST_CHARACTERS, "The maximum number of characters of a description.", minimum=1, maximum=5000
        ),
        not_possible=schema_of(True, "Whether annotators may answer that nothing sets the target apart."),
    )
    instructions = """\
You see several similar images, and **one of them is marked**. Write a description that helps somebody else find the
marked image. They see the same images in a different order, with none marked.

- Look through all the images first. Find what only the marked image shows: a posture, a gaze, a number, a colour.
- Write **only what sets it apart**, and enough to find it. Leave out what is the same in all images.
- Write full sentences in plain words. A short, exact description is better than a long one.
- **Never mention other images or places**: no "third image", no "the last one", no "unlike the others".
- If nothing sets the marked image apart, say that it is **not possible**.
"""

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(images=[ask["images"]])

    def problems(self, ask: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        if ask["min_characters"] > ask["max_characters"]:
            yield "min_characters", "The minimum length of a description exceeds its maximum length."

    def variants(self, ask: Mapping[str, Any]) -> Sequence[str]:
        # Numbers of the draw, which do not reveal the image.
        return [f"target-{number}" for number in range(1, ask["targets"] + 1)]

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        role = ask["images"]
        images = several_images(self, instance, role, max(FEWEST_IMAGES, ask["targets"]), SET_SIZE)
        about = {
            "images": [
                image_option(f"{role}-{place}", image, instance=instance.key) for place, image in enumerate(images)
            ],
            IN_ORDER: instance.type == VIDEO,
            "fewest": ask["min_characters"],
            "most": ask["max_characters"],
            "not_possible": ask["not_possible"],
        }
        targets = random.Random(f"{seed}|targets").sample(range(len(images)), ask["targets"])  # noqa: S311 (a lot)
        return [
            NewQuestion(variant, about | {"target": place}, item=image_of_set(place))
            for variant, place in zip(self.variants(ask), targets, strict=True)
        ]

    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        return QuestionContent(
            pictures=[
                replace(picture_of(stored), mark=TARGET if place == content["target"] else "", key=stored["key"])
                for place, stored in enumerate(content["images"])
            ]
        )

    def writing(self, content: Mapping[str, Any]) -> Writing:
        return Writing(content["fewest"], content["most"], can_be_left=content["not_possible"])

    def answer_text(self, value: Any) -> str:
        return str(value.get(TEXT, ""))

    def duplicate_key(self, value: Any) -> str:
        return in_normal_form(value.get(TEXT, ""))

    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        text = _tidy(posted.get(TEXT, ""))
        is_left = content["not_possible"] and posted.get(NOT_POSSIBLE) == YES
        if is_left and text:
            raise NotAnAnswer(BOTH)
        if is_left:
            return Answer({NOT_POSSIBLE: True})
        if not in_normal_form(text):
            raise NotAnAnswer(EMPTY_OR_LEFT if content["not_possible"] else EMPTY)
        seen = _ALL_UNSEEN.sub("", text)
        if len(seen) < content["fewest"]:
            raise NotAnAnswer(TOO_SHORT, needed=content["fewest"], written=len(seen))
        if len(text) > content["most"]:
            raise NotAnAnswer(TOO_LONG, allowed=content["most"], written=len(text))
        for pattern, message in ((_NAMES_A_PLACE, PLACE), (_NAMES_OTHERS, OTHERS)):
            if found := pattern.search(seen):
                raise NotAnAnswer(message, words=found.group().strip())
        return Answer({TEXT: text})

    def form_data(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        return {TEXT: "", NOT_POSSIBLE: YES} if value.get(NOT_POSSIBLE) else {TEXT: value[TEXT]}

    def as_source(self, content: Mapping[str, Any], answer: Any) -> Mapping[str, Any] | None:
        """Return the text and the index of its target in the set, from 0; None for "not possible"."""
        return {"text": answer[TEXT], "target": content["target"]} if TEXT in answer else None

    def simulate(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        if label:
            return {TEXT: label}
        if content["not_possible"] and dice.random() < LEFT:
            return {TEXT: "", NOT_POSSIBLE: YES}
        text = ""
        while len(text) < content["fewest"]:
            about = [dice.choice(words) for words in _MADE_UP]
            text = f"{text} The {about[0]} {about[1]} {about[2]} {about[3]}, {about[4]}.".strip()
        # The study's limits may be so narrow that no whole sentence fits.
        return {TEXT: text[: content["most"]]}


def in_normal_form(text: str) -> str:
    """Return `text` normalised for comparison: no case, punctuation, invisible characters or extra spaces."""
    seen = _ALL_UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    return " ".join(re.findall(r"\w+", seen.casefold()))


def _tidy(text: str) -> str:
    """Return `text` on one line, without invisible characters that no script needs.

    They would make equal texts differ, hide words from the patterns, or reverse the direction of surrounding text.
    """
    text = _OF_NO_USE.sub("", text)
    seen = (" " if unicodedata.category(character) == "Cc" else character for character in text)
    return " ".join("".join(seen).split())


# Word lists for simulated descriptions; few repeat.
_MADE_UP = (
    ("tall", "small", "older", "younger", "bearded", "laughing", "tired", "cheerful", "slim", "barefoot", "quiet"),
    ("woman", "man", "girl", "boy", "child", "player", "singer", "dancer", "cook", "driver", "walker", "guest"),
    ("looks at", "points to", "holds", "touches", "leans on", "turns to", "carries", "reaches for", "watches"),
    ("a red cup", "the door", "a blue ball", "the dog", "a paper", "the window", "a lamp", "the table", "a rope"),
    (
        "eyes closed",
        "mouth open",
        "both hands up",
        "one foot lifted",
        "hair in the face",
        "head bent down",
        "one arm hidden",
        "fingers spread",
        "half turned away",
    ),
)
