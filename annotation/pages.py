"""What the annotator's templates get to see, and nothing more: no option keys, no right answers, no ids of people."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext

from annotation.actions.skipping import FAILED_LOADS_TO_SKIP
from annotation.models import Session, SessionState
from studies.kinds import get_kind, posted_values

LETTERS = "ABCDEFGHI"


@dataclass(frozen=True)
class OptionPage:
    """One shuffled option: a picture (its upright size in pixels) or, where `text` is not empty, a text."""

    value: str
    letter: str
    digit: str
    view_url: str = ""
    full_url: str = ""
    width: int = 0
    height: int = 0
    text: str = ""


@dataclass(frozen=True)
class ShownImage:
    """The picture a question is about; its upright size in pixels."""

    view_url: str
    full_url: str
    width: int
    height: int


@dataclass(frozen=True)
class FixedOption:
    value: str
    label: str
    digit: str


@dataclass(frozen=True)
class QuestionPage:
    """One question as shown: about a `caption`, or about an `image`.

    `replaces` is the version that an answer would take the place of. `skip`: the address to go on without it when
    its images do not come, "" where that cannot be.
    """

    slot: int
    number: int
    total: int
    template: str
    caption: str
    options: list[OptionPage]
    fixed: list[FixedOption]
    submission: str
    action: str
    image: ShownImage | None = None
    chosen: str = ""
    replaces: int | None = None
    skip: str = ""
    is_practice: bool = False
    failed_loads_to_skip: int = FAILED_LOADS_TO_SKIP


@dataclass(frozen=True)
class Bar:
    """The head of every page of a session."""

    title: str
    answered: int
    total: int
    seconds_so_far: int
    started: bool
    show_progress: bool
    is_preview: bool = False


@dataclass(frozen=True)
class Urls:
    page: str
    consent: str
    begin: str
    practice: str
    answer: str
    skip: str
    change: str
    go_on: str
    give_up: str
    comment: str


def session_urls(token: str) -> Urls:
    """Return the addresses of a session: all hang under the one that holds its token."""
    page = reverse("session", args=[token])
    return Urls(
        page=page,
        consent=f"{page}consent/",
        begin=f"{page}begin/",
        practice=f"{page}practice/",
        answer=f"{page}answer/",
        skip=f"{page}skip/",
        change=f"{page}change/",
        go_on=f"{page}go-on/",
        give_up=f"{page}give-up/",
        comment=f"{page}comment/",
    )


def session_bar(session: Session, *, now: datetime) -> Bar:
    started = session.first_question_at
    return Bar(
        title=session.study.title,
        answered=session.questions_answered,
        total=session.questions_total,
        seconds_so_far=int((now - started).total_seconds()) if started else 0,
        started=started is not None,
        show_progress=session.state == SessionState.WORKING,
    )


def _image_url(sha256: str, size: str) -> str:
    # Written out because reversing eight addresses costs more than the rest of the page.
    return f"/images/{sha256}/{size}"


def _pictured(image: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "view_url": _image_url(image["image"], "view"),
        "full_url": _image_url(image["image"], "full"),
        "width": image["width"],
        "height": image["height"],
    }


def _option_page(option: Mapping[str, Any], *, value: str, letter: str) -> OptionPage:
    shown = {"text": option["text"]} if "text" in option else _pictured(option)
    return OptionPage(value=value, letter=letter, digit=value, **shown)


def question_page(
    *,
    kind_name: str,
    content: Mapping[str, Any],
    order: Sequence[str],
    slot: int,
    number: int,
    total: int,
    action: str,
    chosen_key: str = "",
    replaces: int | None = None,
    skip: str = "",
    is_practice: bool = False,
) -> QuestionPage:
    """Return a question as the template shows it, its options in the order given."""
    kind = get_kind(kind_name)
    by_key = {option["key"]: option for option in content["options"]}
    values = posted_values(kind, content, order)
    shuffled = [(value, key) for value, key in values.items() if key in by_key]
    options = [
        _option_page(by_key[key], value=value, letter=LETTERS[place]) for place, (value, key) in enumerate(shuffled)
    ]
    fixed = [
        FixedOption(value=value, label=fixed_label(key), digit="0")
        for value, key in values.items()
        if key not in by_key
    ]
    return QuestionPage(
        slot=slot,
        number=number,
        total=total,
        template=f"kinds/{kind_name}.html",
        caption=content.get("caption", ""),
        options=options,
        fixed=fixed,
        submission=str(uuid.uuid4()),
        action=action,
        image=ShownImage(**_pictured(content["image"])) if "image" in content else None,
        chosen=next((value for value, key in values.items() if key == chosen_key), ""),
        replaces=replaces,
        skip=skip,
        is_practice=is_practice,
    )


def practice_feedback(
    shown: QuestionPage, *, content: Mapping[str, Any], kind_name: str, order: Sequence[str], right: str, feedback: str
) -> dict[str, Any]:
    """Return what is told after a practice question: `shown` with the answer that was given; `right` is a key."""
    values = posted_values(get_kind(kind_name), content, order)
    right_value = next(value for value, key in values.items() if key == right)
    return {
        "page": shown,
        "was_right": shown.chosen == right_value,
        "right_label": option_label(shown, right_value),
        "right_value": right_value,
        "feedback": feedback,
    }


def fixed_label(key: str) -> str:
    """Return what the page calls an option that is not an image."""
    return {"none": gettext("None of these"), "both": gettext("Both")}[key]


def option_label(page: QuestionPage, value: str) -> str:
    """Return how people speak of the option posted as `value` on `page`: "Image B", "None of these"."""
    for option in page.options:
        if option.value == value:
            what = gettext("Description %(letter)s") if option.text else gettext("Image %(letter)s")
            return what % {"letter": option.letter}
    return next(option.label for option in page.fixed if option.value == value)
