"""What the annotator's templates get to see, and nothing more: no option keys, no right answers, no ids of people."""

import string
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext

from annotation.actions.skipping import FAILED_LOADS_TO_SKIP
from annotation.language import of_kind
from annotation.models import Session, SessionState
from studies.kinds import Option, Picture, fields_of, get_kind, posted_values
from studies.kinds.base import CHOICE, MOST_DIGITS

LETTERS = string.ascii_uppercase


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
    """A picture that a question is about; its upright size in pixels. `mark`: what sets it apart from the others."""

    view_url: str
    full_url: str
    width: int
    height: int
    mark: str = ""


@dataclass(frozen=True)
class FixedOption:
    value: str
    label: str
    digit: str


@dataclass(frozen=True)
class GroupPage:
    """One of several things asked at once: the name of its field, what it says, and what is chosen, "" for nothing."""

    name: str
    text: str
    chosen: str


@dataclass(frozen=True)
class QuestionPage:
    """One question as shown: about texts, about pictures, or both; `caption` and `image` are the first of each.

    `posted`: what its form holds, by the names of its fields: an answer that is changed, or one that was refused.
    `replaces` is the version that an answer would take the place of. `skip`: the address to go on without it when
    its images do not come, "" where that cannot be.
    """

    slot: int
    number: int
    total: int
    template: str
    texts: list[str]
    images: list[ShownImage]
    options: list[OptionPage]
    fixed: list[FixedOption]
    groups: list[GroupPage]
    submission: str
    action: str
    chosen: str = ""
    replaces: int | None = None
    skip: str = ""
    is_practice: bool = False
    posted: Mapping[str, str] = field(default_factory=dict)
    failed_loads_to_skip: int = FAILED_LOADS_TO_SKIP

    @property
    def caption(self) -> str:
        return self.texts[0] if self.texts else ""

    @property
    def image(self) -> ShownImage | None:
        return self.images[0] if self.images else None


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


def _pictured(picture: Picture) -> dict[str, Any]:
    return {
        "view_url": _image_url(picture.sha256, "view"),
        "full_url": _image_url(picture.sha256, "full"),
        "width": picture.width,
        "height": picture.height,
    }


def _option_page(option: Option, *, value: str, place: int) -> OptionPage:
    shown = {"text": option.text} if option.picture is None else _pictured(option.picture)
    letter = LETTERS[place] if place < len(LETTERS) else value
    digit = value if place < MOST_DIGITS else ""
    return OptionPage(value=value, letter=letter, digit=digit, **shown)


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
    posted: Mapping[str, str] | None = None,
    replaces: int | None = None,
    skip: str = "",
    is_practice: bool = False,
) -> QuestionPage:
    """Return a question as the template shows it, its options in the order given.

    `posted`: what its form holds; where that is a choice, `chosen_key` says the same by the option.
    """
    kind = get_kind(kind_name)
    shown = kind.shown(content)
    by_key = {option.key: option for option in kind.options(content)}
    values = posted_values(kind, content, order)
    in_order = [(value, by_key[key]) for value, key in values.items()]
    shuffled = [(value, option) for value, option in in_order if option.shuffled]
    return QuestionPage(
        slot=slot,
        number=number,
        total=total,
        template=f"kinds/{kind_name}.html",
        texts=[text.text for text in shown.texts],
        images=[ShownImage(**_pictured(picture), mark=picture.mark) for picture in shown.pictures],
        options=[_option_page(option, value=value, place=place) for place, (value, option) in enumerate(shuffled)],
        fixed=[
            FixedOption(value=value, label=last_label(option), digit=option.digit)
            for value, option in in_order
            if not option.shuffled
        ],
        groups=[
            GroupPage(name, group.text, (posted or {}).get(name, ""))
            for name, group in fields_of(kind, content).items()
        ],
        submission=str(uuid.uuid4()),
        action=action,
        chosen=next((value for value, key in values.items() if key == chosen_key), (posted or {}).get(CHOICE, "")),
        posted=posted or {},
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


def last_label(option: Option) -> str:
    """Return what the page calls an option that always comes last, in the reader's language where a kind brings it."""
    return option.label if option.is_own_words else of_kind(option.label)


def option_label(page: QuestionPage, value: str) -> str:
    """Return how people speak of the option posted as `value` on `page`: "Image B", "None of these"."""
    for option in page.options:
        if option.value == value:
            what = gettext("Description %(letter)s") if option.text else gettext("Image %(letter)s")
            return what % {"letter": option.letter}
    return next(option.label for option in page.fixed if option.value == value)
