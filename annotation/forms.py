"""Parse what annotators' pages post. Browser measurements are optional and untrusted."""

import json
import uuid
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from annotation.actions.answering.responses import SendOrder, Submission
from annotation.errors import BadAnswer
from annotation.models.responses import Unmeasured

_LARGEST = {
    "first_choice_ms": 2_147_483_647,
    "send_ms": 2_147_483_647,
    "hidden_ms": 2_147_483_647,
    "changes_of_mind": 32_767,
    "window_width": 32_767,
    "window_height": 32_767,
}
MOST_IMAGES = 20
# How a text was written, in whole numbers: keys pressed, pastes and the characters of each, how often the window lost
# focus, number and total length of pauses of more than two seconds between keys, and the milliseconds from the first
# key to sending. Never what was typed.
WRITING = ("keys", "pastes", "focus_losses", "pauses", "paused_ms", "from_first_key_ms")
PASTED = "pasted"
_MOST_WRITING = 2_147_483_647
_MOST_PASTES_NOTED = 20
_LONGEST_WRITING = 2_000
# Fields of a form that are not part of the answer.
_ABOUT_THE_ANSWER = frozenset(
    {
        *_LARGEST,
        *("slot", "submission", "browser", "send_number", "replaces", "after"),
        *("have", "images", "unmeasured", "writing"),
    }
)
# Number of earlier answers to the same question that a page may name.
_MOST_EARLIER = 20
# Digits of the largest row id.
_LONGEST_ID = 18
# The largest safe integer of JavaScript.
_LARGEST_SEND_NUMBER = 2**53 - 1
_IMAGE_FIELDS = ("value", "loaded_ms", "natural", "shown", "failed_loads")


def read_id(text: str) -> int | None:
    """Return the row id in `text`; None if it is invalid."""
    return int(text) if text.isdecimal() and len(text) <= _LONGEST_ID else None


def read_ids(text: str, *, most: int) -> list[int]:
    """Return the comma-separated row ids in `text`, at most `most`."""
    return [found for part in text.split(",", most)[:most] if (found := read_id(part)) is not None]


def read_submission(post: Mapping[str, str], *, records_writing: bool) -> Submission:
    """Return the submission in a posted form; writing measurements only if the study records them.

    Raises BadAnswer if it names no question or no submission.
    """
    slot, replaces = read_id(post.get("slot", "")), post.get("replaces", "")
    if slot is None:
        raise BadAnswer(gettext("The page sent no question with your answer. Reload it and choose again."))
    if replaces and (not replaces.isdecimal() or len(replaces) > 4):
        raise BadAnswer(gettext("The page sent a change to an unknown answer. Reload it and choose again."))
    submission = _read_submission(post.get("submission", ""))
    if submission is None:
        raise BadAnswer(gettext("The page sent your answer without its number. Reload it and choose again."))
    return Submission(
        slot=slot,
        submission=submission,
        posted=read_posted(post),
        replaces=int(replaces) if replaces else None,
        after=_read_after(post.get("after", "")),
        order=_read_order(post),
        measured=_measurements(post) | ({} if records_writing else {"writing": None}),
    )


def _read_order(post: Mapping[str, str]) -> SendOrder | None:
    """Return the position of the submission in its browser; None if the page does not send it."""
    browser, number = _read_submission(post.get("browser", "")), read_id(post.get("send_number", ""))
    if browser is None or number is None or number > _LARGEST_SEND_NUMBER:
        return None
    return SendOrder(browser, number)


def _read_submission(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _read_after(text: str) -> frozenset[uuid.UUID]:
    """Return the earlier submissions that this one follows; invalid ids are left out."""
    found = (_read_submission(part) for part in text.split(",", _MOST_EARLIER)[:_MOST_EARLIER])
    return frozenset(submission for submission in found if submission is not None)


def read_posted(post: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of the answer itself, for its kind to parse."""
    return {name: text for name, text in post.items() if name not in _ABOUT_THE_ANSWER}


def _measurements(post: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns measured by the browser; unreadable values stay unknown."""
    measured: dict[str, Any] = {}
    for name, largest in _LARGEST.items():
        text = post.get(name, "")
        if text.isdecimal() and text.isascii() and len(text) < 12:
            measured[name] = min(int(text), largest)
    why = post.get("unmeasured", "")
    if why in Unmeasured.values and "send_ms" not in measured:
        measured["unmeasured"] = why
    measured["images_seen"] = _images(post.get("images", ""))
    measured["writing"] = _writing(post.get("writing", ""))
    return measured


def _writing(text: str) -> dict[str, Any] | None:
    """Return the writing measurements of the page; None if they are unreadable."""
    said = _read_json(text) if len(text) <= _LONGEST_WRITING else None
    if not isinstance(said, dict):
        return None
    counted = {name: _whole_number(said.get(name)) for name in WRITING}
    pasted = said.get(PASTED)
    lengths = pasted[:_MOST_PASTES_NOTED] if isinstance(pasted, list) else []
    return counted | {PASTED: [length for one in lengths if (length := _whole_number(one)) is not None]}


def _read_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _whole_number(value: object) -> int | None:
    """Return a whole number of 0 or more, capped for its column; None for anything else."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return None
    return min(value, _MOST_WRITING)


def _images(text: str) -> list[dict[str, Any]]:
    images = _read_json(text)
    if not isinstance(images, list):
        return []
    rows = (image for image in images[:MOST_IMAGES] if isinstance(image, dict))
    return [{name: image[name] for name in _IMAGE_FIELDS if _is_storable(image.get(name))} for image in rows]


def read_failed_loads(post: Mapping[str, str]) -> dict[str, int]:
    """Return the failed loads of each image of the question as counted by the page: option's value -> times."""
    images = _images(post.get("images", ""))
    return {
        image["value"]: min(int(image["failed_loads"]), _LARGEST["changes_of_mind"])
        for image in images
        if isinstance(image.get("value"), str) and _is_number(image.get("failed_loads"))
    }


def _is_storable(value: object) -> bool:
    """Whether a measurement is a number, a short text or a pair of numbers, fit for JSON."""
    if isinstance(value, list):
        return len(value) == 2 and all(_is_number(entry) for entry in value)
    return _is_number(value) or (isinstance(value, str) and len(value) <= 20 and value.isprintable())


def _is_number(value: object) -> bool:
    # False for NaN and infinity too.
    return isinstance(value, int | float) and abs(value) < 1e9
