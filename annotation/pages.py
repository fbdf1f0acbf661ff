"""Data for the annotator's templates, and only that: no option keys, right answers or ids of people."""

import string
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from math import ceil, log
from statistics import median
from typing import Any, NamedTuple

from django.template.loader import get_template
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from analytics.work.working_time import FEWEST_ANSWERS, LAST_ANSWERS, seconds_per_question
from annotation.actions import sessions
from annotation.actions.answering import session_time
from annotation.actions.answering.answer_sql import NextSlot
from annotation.actions.answering.skip_question import FAILED_LOADS_TO_SKIP
from annotation.language import translate, translator
from annotation.models import Session, SessionState
from annotation.money import format_pay
from studies.importing.pictures import sizes_between
from studies.kinds import Option, Picture, Writing, fields_of, get_kind, in_shown_order, posted_values
from studies.kinds.base import CHOICE, TARGET, digits_of
from studies.models import PracticeQuestion, Question
from studies.picture_handles import handle_of

# A question or practice question.
Asked = Question | PracticeQuestion | NextSlot
LETTERS = string.ascii_uppercase
# Number of questions that a page holds besides the current one, so that slow or lost connections cause no wait.
QUESTIONS_AHEAD = 3
# Characters of a written answer shown in a notice.
LONGEST_QUOTE = 80
# Shorter sessions announce no halfway point.
FEWEST_FOR_A_BREAK = 20
# Aspect ratios of the places for images (static/css/app.css).
SHAPES = {"9:16": 9 / 16, "2:3": 2 / 3, "3:4": 3 / 4, "1:1": 1, "4:3": 4 / 3, "3:2": 3 / 2, "16:9": 16 / 9}
# Number of images -> possible layouts (static/css/app.css): maximum width and height of the place of one image, in per
# cent of the window.
PLACES = {
    1: [(100, 95)],
    2: [(49, 80), (100, 46)],
    3: [(33, 80), (49, 42), (100, 28)],
    4: [(25, 80), (49, 48), (100, 21)],
    6: [(20, 80), (33, 42), (49, 28)],
    8: [(25, 42), (33, 28), (49, 21)],
    10: [(20, 42), (25, 28), (33, 21)],
}
# Phones show this number of images in pages.
PAGED = 10


@dataclass(frozen=True, kw_only=True)
class ShownImage:
    """An image that a question is about; its upright size in pixels. mark: what distinguishes it from the others.

    Numbers used often are strings: formatting them for the language takes most of the rendering time.
    """

    view_url: str = ""
    full_url: str = ""
    srcset: str = ""
    width: str = ""
    height: str = ""
    mark: str = ""


@dataclass(frozen=True, kw_only=True)
class OptionPage(ShownImage):
    """A shuffled option: an image or, if `text` is not empty, a text. name: its name for people, "Image B"."""

    value: str
    letter: str
    name: str
    digit: str
    text: str = ""


class FixedOption(NamedTuple):
    value: str
    label: str
    digit: str


class GroupPage(NamedTuple):
    """One of several things asked at once: its field name, its text, and the chosen value, "" for none."""

    name: str
    text: str
    chosen: str


@dataclass(frozen=True)
class QuestionPage:
    """A question as shown: about texts, images or both.

    `caption` is the first text; `image` is the marked image, or else the first. posted: the values of its form, from an
    edited or rejected answer or a draft. replaces: version that the answer would replace. skip: address for skipping it
    when images fail, "" if that is impossible. draft: address for drafts, "" if there are none; draft_number: the
    latest. records_writing: whether the page measures how the text is written.
    """

    slot: str
    number: int
    total: int
    template: str
    texts: list[str]
    images: list[ShownImage]
    options: list[OptionPage]
    fixed: list[FixedOption]
    groups: list[GroupPage]
    writing: Writing | None
    submission: str
    action: str
    chosen: str = ""
    replaces: int | None = None
    skip: str = ""
    draft: str = ""
    draft_number: str = "0"
    records_writing: bool = False
    is_practice: bool = False
    posted: Mapping[str, str] = field(default_factory=dict)
    failed_loads_to_skip: str = str(FAILED_LOADS_TO_SKIP)

    @property
    def caption(self) -> str:
        return self.texts[0] if self.texts else ""

    @property
    def image(self) -> ShownImage | None:
        marked = (image for image in self.images if image.mark == TARGET)
        return next(marked, self.images[0] if self.images else None)

    @cached_property
    def shape(self) -> str:
        """Return the aspect ratio in `SHAPES` nearest to the median of the images, "" without images."""
        pictures = [*self.images, *(option for option in self.options if option.width)]
        return _shape(tuple((picture.width, picture.height) for picture in pictures))

    def sizes_of(self, picture: ShownImage) -> str:
        """Return the HTML `sizes` of an image: its maximum width on the page.

        It depends on the number of images, and on the shapes of the image and its place.
        """
        number = max(sum(bool(option.width) for option in self.options), len(self.images))
        return _widths(number, min(int(picture.width) / int(picture.height), SHAPES[self.shape]))


@dataclass(frozen=True)
class Bar:
    """The header of every page of a session.

    pay: in words, "" for none. half: number of answers at the halfway point, 0 in a session too short for a break.
    preview_saved: what a preview says in place of "Saved", in English like its title.
    """

    title: str
    answered: int
    total: int
    show_progress: bool
    pay: str = ""
    left: Mapping[str, Any] | None = None
    until: Mapping[str, Any] | None = None
    half: int = 0
    is_preview: bool = False
    preview_saved: str = ""


# The addresses of a session, besides that of its current page.
SESSION_ADDRESSES = (
    *("here", "consent", "begin", "wait", "other-role", "practice", "answer", "draft", "skip", "change", "go-on"),
    *("give-up", "comment", "help", "report", "more-time", "take-back", "finish", "seen"),
)


@lru_cache(maxsize=1000)
def session_urls(token: str) -> dict[str, str]:
    """Return the addresses of a session by name, all below the one with its token."""
    page = reverse("session", args=[token])
    return {"page": page} | {address.replace("-", "_"): f"{page}{address}/" for address in SESSION_ADDRESSES}


def change_url(token: str, slot: int | str) -> str:
    """Return the address for changing the answer in `slot`."""
    return f"{session_urls(token)['change']}{slot}/"


def session_bar(session: Session, *, now: datetime) -> Bar:
    is_working = session.state == SessionState.WORKING
    total = session.questions_total
    return Bar(
        title=session.study.title,
        answered=session.questions_answered,
        total=total,
        show_progress=is_working,
        pay=format_pay(session.study.design.pay),
        left=_time_left(session) if is_working else None,
        until=deadline(session, now),
        half=(total + 1) // 2 if total >= FEWEST_FOR_A_BREAK else 0,
    )


def _time_left(session: Session) -> dict[str, Any]:
    """Return the time left for the remaining questions; the page's script continues from these numbers, in seconds.

    own: seconds of each answer so far. estimate: seconds per question by the study's estimate, None without one.
    """
    own = session_time.work_seconds(session=session)
    estimate = None if len(own) >= FEWEST_ANSWERS else session_time.estimated_seconds(session=session)
    each = seconds_per_question(own, estimate=estimate)
    left = session.questions_total - session.questions_answered
    return {
        "own": [round(seconds, 1) for seconds in own[-LAST_ANSWERS:]],
        "estimate": estimate,
        "minutes": None if each is None else round(each * left / 60),
        "worked_minutes": int(sum(own) // 60),
    }


def deadline(session: Session, now: datetime) -> dict[str, Any] | None:
    """Return when the lease of `session` ends: in words (UTC), as a timestamp, and in seconds from `now`.

    limit_minutes: for how long the study keeps a place. more_minutes: minutes that can still be requested, 0 for none.
    None before the time has begun, and without a lease.
    """
    ending = session_time.ending(session=session)
    if ending is None:
        return None
    # The server does not know the reader's time zone; the browser converts the time.
    day = "H:i" if ending.date() == now.date() else "j N, H:i"
    return {
        "words": gettext("%(time)s UTC") % {"time": date_format(ending, day)},
        "moment": ending.isoformat(),
        "seconds": int((ending - now).total_seconds()),
        "limit_minutes": session.study.design.time.limit_minutes,
        "more_minutes": sessions.more_minutes(session=session),
    }


@lru_cache(maxsize=1000)
def _sizes(width: int, height: int) -> Sequence[tuple[str, int]]:
    return sizes_between("card", "view", width=width, height=height)


@lru_cache(maxsize=1000)
def _shape(sizes: tuple[tuple[str, str], ...]) -> str:
    if not sizes:
        return ""
    common = median(log(int(width) / int(height)) for width, height in sizes)
    return min(SHAPES, key=lambda shape: abs(log(SHAPES[shape]) - common))


@lru_cache(maxsize=1000)
def _widths(number: int, ratio: float) -> str:
    places = PLACES[next((most for most in PLACES if number <= most), PAGED)]
    sizes = f"max({', '.join(_width(*place, ratio) for place in places)})"
    on_phone = f"(max-width: 45rem) {_width(100, 45, ratio)}, (max-height: 31rem) {_width(33, 80, ratio)}"
    return f"{on_phone}, {sizes}" if number == PAGED else sizes


def _width(wide: int, high: int, ratio: float) -> str:
    """Return the width of an image with this aspect ratio in a place, as a CSS length."""
    return f"min({wide}vw, {ceil(high * ratio)}vh)"


def _image_attributes(picture: Picture, study: int) -> dict[str, Any]:
    """Return the addresses of an image, in sizes from which a browser chooses no more than is visible."""
    # Written out, because reversing eight addresses takes longer than the rest of the page.
    address = f"/images/{handle_of(picture.sha256, study=study)}"
    sizes = _sizes(picture.width, picture.height)
    return {
        "view_url": f"{address}/view",
        "full_url": f"{address}/full",
        "srcset": ", ".join(f"{address}/{size} {width}w" for size, width in sizes),
        "width": str(picture.width),
        "height": str(picture.height),
    }


def _option_page(option: Option, *, study: int, value: str, position: int, digit: str) -> OptionPage:
    shown = {"text": option.text} if option.picture is None else _image_attributes(option.picture, study)
    letter = LETTERS[position] if position < len(LETTERS) else value
    _ = translator()
    what = _("Description %(letter)s") if option.text else _("Image %(letter)s")
    return OptionPage(value=value, letter=letter, name=what % {"letter": letter}, digit=digit, **shown)


def _option_pages(
    options: Sequence[Option], values: Mapping[str, str], *, study: int
) -> tuple[list[OptionPage], list[FixedOption]]:
    """Return the shuffled options and the fixed ones. values: posted value -> key, in the order shown."""
    by_key = {option.key: option for option in options}
    in_order = [(value, by_key[key]) for value, key in values.items()]
    digits = digits_of([option for _, option in in_order])
    shuffled = [(value, option) for value, option in in_order if option.shuffled]
    fixed = [(value, option) for value, option in in_order if not option.shuffled]
    return (
        [
            _option_page(option, study=study, value=value, position=position, digit=digits[position])
            for position, (value, option) in enumerate(shuffled)
        ],
        [
            FixedOption(value, option.label if option.is_own_words else translate(option.label), option.digit)
            for value, option in fixed
        ],
    )


def question_page(
    asked: Asked,
    *,
    study: int,
    order: Sequence[str],
    slot: int,
    chosen_key: str = "",
    posted: Mapping[str, str] | None = None,
    draft: str = "",
    draft_number: int = 0,
    records_writing: bool = False,
    **more: Any,
) -> QuestionPage:
    """Return a question as the template shows it, with its options in this order.

    posted: the values of its form; chosen_key: the chosen option, if the answer is one. draft: address for drafts, if
    the kind has any. more: other fields of `QuestionPage`.
    """
    kind, content, posted = get_kind(asked.kind), asked.content, posted or {}
    shown = kind.question_content(content)
    values = posted_values(kind, content, order)
    options, fixed = _option_pages(kind.options(content), values, study=study)
    return QuestionPage(
        slot=str(slot),
        template=f"kinds/{asked.kind}.html",
        texts=[text.text for text in shown.texts],
        images=[
            ShownImage(**_image_attributes(picture, study), mark=picture.mark)
            for picture in in_shown_order(shown.pictures, order)
        ],
        options=options,
        fixed=fixed,
        groups=[GroupPage(name, group.text, posted.get(name, "")) for name, group in fields_of(kind, content).items()],
        writing=kind.writing(content),
        submission=str(uuid.uuid4()),
        chosen=next((value for value, key in values.items() if key == chosen_key), posted.get(CHOICE, "")),
        posted=posted,
        draft=draft if kind.is_written else "",
        draft_number=str(draft_number),
        records_writing=records_writing and kind.is_written,
        **more,
    )


def question_html(
    page: QuestionPage, *, text_language: str, error: str = "", is_final: bool = False, lazy: bool = False
) -> SafeString:
    """Return the HTML of a question. lazy: its images are loaded when it is shown."""
    known = {"page": page, "text_language": text_language, "error": error, "is_final": is_final, "lazy": lazy}
    template = get_template("annotation/_question.html", using="questions")
    return SafeString(template.render(known | {"_": translator()}))


def practice_feedback(
    shown: QuestionPage, asked: Asked, *, order: Sequence[str], right: str, feedback: str
) -> dict[str, Any]:
    """Return the feedback on a practice question: `shown` with the given answer; `right` is a key."""
    values = posted_values(get_kind(asked.kind), asked.content, order)
    right_value = next(value for value, key in values.items() if key == right)
    labels = _labels(shown.options, shown.fixed)
    return {
        "page": shown,
        "was_right": shown.chosen == right_value,
        "right_label": labels[right_value],
        "own_label": labels[shown.chosen] if shown.chosen else "",
        "right_value": right_value,
        "feedback": feedback,
    }


def _labels(options: Sequence[OptionPage], fixed: Sequence[FixedOption]) -> dict[str, str]:
    """Return the names of options by their posted value: "Image B", "None of these"."""
    return {option.value: option.name for option in options} | {option.value: option.label for option in fixed}


def answer_text(asked: Asked, order: Sequence[str], value: Any, *, study: int) -> str:
    """Return an answer in words: "Image B", "None of these", the beginning of a text; "" for any other."""
    kind, content = get_kind(asked.kind), asked.content
    if written := kind.answer_text(value):
        return written if len(written) <= LONGEST_QUOTE else f"{written[:LONGEST_QUOTE].rstrip()}…"
    names = _labels(*_option_pages(kind.options(content), posted_values(kind, content, order), study=study))
    return ", ".join(names[posted] for posted in kind.form_data(content, order, value).values() if posted in names)
