"""Interface of a question kind. Pure.

A kind makes questions from an instance, says what they show and which options they offer, parses posted answers,
compares answers, and says what an accepted answer adds to the instance. No other module branches on the kind.
"""

import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

Level = Literal["nominal", "ordinal", "interval"]

# Key of the option "none of these", in every kind that offers it.
NONE = "none"
# Form field of the answer to a single-choice question.
CHOICE = "choice"
# Mark of the picture that the answer is about, among other pictures.
TARGET = "target"
# Digit keys for shuffled options, by place. "0" belongs to an option that always comes last or, if no such option takes
# it, to the tenth.
MOST_DIGITS = 9
TENTH_DIGIT = "0"
# Key in a question's content: whether its options keep the order of the source; see `Kind.fixed_order`.
IN_ORDER = "in_order"
# Placeholder for text whose author withdrew it; the same in every language.
REDACTED_TEXT = "[…]"


def gettext_noop(text: str) -> str:
    """Mark a text for translation; the page translates it into the annotator's language."""
    return text


CHOOSE_ANOTHER = gettext_noop("Choose one of the options shown, then send again.")


class CannotAsk(Exception):
    """The instance lacks something that the kind needs; the message tells the researcher what."""


class NotAnAnswer(Exception):
    """The posted data is not a valid answer; the message, marked for translation, is for the annotator.

    `named`: values for the message's "%(name)s" placeholders, filled in after translation.
    """

    def __init__(self, message: str, **named: str | int) -> None:
        super().__init__(message)
        self.named = named


@dataclass(frozen=True)
class ImageFacts:
    """One image of an instance. `sha256` is None while its file is missing. Size in upright pixels."""

    sha256: str | None
    width: int
    height: int
    filename: str = ""


@dataclass(frozen=True)
class InstanceFacts:
    """An instance as kinds see it: captions by role, and the images of each role in order.

    `source`: frozen content of the answer or description that the question is about; empty without one. `type`: the
    type given by the source file, or "". `reference`: further facts from the source file, such as the right answer;
    entries of a row that the importer does not know are under "other".
    """

    key: str
    captions: Mapping[str, str]
    images: Mapping[str, Sequence[ImageFacts]] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)
    type: str = ""
    reference: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Roles:
    """Caption roles and image roles of an instance."""

    captions: Sequence[str] = ()
    images: Sequence[str] = ()

    def all(self) -> set[str]:
        return {*self.captions, *self.images}


@dataclass(frozen=True)
class PairRoles:
    """Roles of a caption and the image it describes, and of a caption and an image that must not fit them.

    "" for a role that a kind does not name. Without the last two, the first two may be either side of a pair.
    """

    caption: str = ""
    image: str = ""
    negative_caption: str = ""
    negative_image: str = ""


@dataclass(frozen=True)
class NewQuestion:
    """A question about an instance, not saved yet.

    `variant`: name of the question among the kind's questions about the instance. `content`: frozen, plain JSON.
    `right`: the right answer, "" if unknown; a label if answers are one label each, else plain JSON that the kind's
    `score` reads. `item`: the part of the instance it is about if the kind `asks_about_parts`; "" for the whole.
    """

    variant: str
    content: dict[str, Any]
    right: Any = ""
    item: str = ""

    @property
    def right_option(self) -> str:
        """The right answer if it is a label, else ""."""
        return self.right if isinstance(self.right, str) else ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that is shown; width and height upright, in pixels.

    `mark`: sets it apart from the other pictures, or "". `key`: its key in the shown order if it is one of several
    ordered pictures (shuffled unless `Kind.fixed_order`); "" for a picture with a place of its own.
    """

    sha256: str
    width: int
    height: int
    role: str = ""
    mark: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class QuestionContent:
    """Texts and pictures that a question shows besides its options."""

    texts: Sequence[Text] = ()
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """One option: a picture, a text of the instance, or a `label`.

    `shuffled`: it is shown at a random place and posts that place, so that the page does not reveal which option it is
    (with `Kind.fixed_order`, the place is the one in the source). Other options follow the shuffled ones in the order
    listed, post their own key, are the same in every question of a part, and are chosen by `digit`. `is_own_words`: the
    label comes from the study, not from the kind.
    """

    key: str
    label: str = ""
    picture: Picture | None = None
    text: str = ""
    shuffled: bool = True
    digit: str = ""
    is_own_words: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """One of several items asked at once, each answered by one of the question's options.

    `key`: its name in answers, and the unit of its label. `text`: the study's text that annotators read.
    """

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Writing:
    """Limits of a written answer: at least `fewest` and at most `most` characters.

    `can_be_left`: annotators may answer "not possible" instead of writing.
    """

    fewest: int
    most: int
    can_be_left: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: the whole `value`, plain JSON, and its one `label`, "" if it has none."""

    value: Any
    label: str = ""


class MeasuredCoefficient(Protocol):
    """A coefficient of agreement; `value` is None exactly when `reason` says why."""

    @property
    def value(self) -> float | None: ...
    @property
    def reason(self) -> str | None: ...


@dataclass(frozen=True)
class AgreementMeasure:
    """A kind's own measure of agreement.

    `of_question`: question content and the values of at least 2 answers -> their agreement, at most 1. Reports average
    it over the questions that have a value.
    """

    name: str
    of_question: Callable[[Mapping[str, Any], Sequence[Any]], MeasuredCoefficient]


@dataclass(frozen=True)
class Scale:
    """Measurement scale of labels: nominal, ordinal (in the order of the options), or interval (numbers in `values`).

    `labels`: the labels on the scale, in order; empty means all categories of the kind.
    """

    level: Level = "nominal"
    values: Mapping[str, float] = field(default_factory=dict)
    labels: Sequence[str] = ()


@dataclass(frozen=True)
class LabelGrouping:
    """Labels merged for agreement: `into` maps label -> merged label; unlisted labels map to `rest`.

    `categories`: all merged labels, the positive one first.
    """

    title: str
    into: Mapping[str, str]
    rest: str
    categories: Sequence[str]

    def label(self, label: str) -> str:
        return self.into.get(label, self.rest)


class Kind(ABC):
    """One question kind. `content`: what was frozen into a question at launch; `ask`: its part of the design."""

    name: ClassVar[str]
    title: ClassVar[str]
    """What it asks people to do, as researchers read it where they choose it."""
    study_title: ClassVar[str] = ""
    """Suggested title of a study, which annotators read; "" for its `title`."""
    about: ClassVar[str] = ""
    """What its answers are for: one sentence for researchers."""
    needs: ClassVar[str] = ""
    """What an instance must have, such as "a caption and an image"."""
    instructions: ClassVar[str]
    """Default instructions, Markdown."""
    ask_schema: ClassVar[Mapping[str, Any]]
    """JSON Schema of the study file's `ask` section, with defaults."""
    rule: ClassVar[str]
    """Default acceptance rule. What a rule needs decides which other rules fit."""
    has_one_label: ClassVar[bool] = True
    """Whether an answer is one label; a free text has none, a list of statements several."""
    asks_about_answers: ClassVar[bool] = False
    """Whether its questions are about answers of an upstream study or, without one, about imported descriptions; such a
    kind is an `AsksAboutAnswers`."""
    asks_about_parts: ClassVar[bool] = False
    """Whether each question is about one part of its instance, such as one image of a set. Each part is accepted or
    rejected separately; several questions about a part are attempts, and one of them must succeed."""
    scale_varies: ClassVar[bool] = False
    """Whether its questions use different scales."""
    rejecting_options: ClassVar[frozenset[str]] = frozenset()
    """Keys of the options that reject the instance."""
    answers_are_sources: ClassVar[bool] = False
    """Whether studies of other kinds can ask about its answers."""
    usual_seconds: ClassVar[int] = 15
    """Seconds that one question takes, by our own guess; new studies estimate the time of a survey from it."""
    collect_only: ClassVar[bool] = False
    """Whether, by default, its answers are only collected and accept or reject nothing."""
    is_preference: ClassVar[bool] = False
    """Whether an answer is the preferred image among those shown; its other options are ties."""
    duplicate_message: ClassVar[str] = gettext_noop(
        "Somebody has already written this. Write something else, then send."
    )
    """Shown to annotators whose answer has the `duplicate_key` of another answer; marked for translation."""
    is_written: ClassVar[bool] = False
    """Whether annotators write at least part of the answer: drafts are saved, and how it was written is recorded."""

    @abstractmethod
    def roles(self, ask: Mapping[str, Any]) -> Roles:
        """Return the roles of an instance that its questions read."""

    def adds_roles(self, ask: Mapping[str, Any]) -> Roles:
        """Return the roles that an accepted answer fills in its instance."""
        return Roles()

    def pair_roles(self, ask: Mapping[str, Any]) -> PairRoles:
        """Return which caption role belongs to which image role in an accepted instance, as far as `ask` says so."""
        return PairRoles()

    def suggested_ask(self, ask: Mapping[str, Any], instance: InstanceFacts) -> Mapping[str, Any]:
        """Return options for a new study, of `ask`, which fits `instance`: with names for what its answers add."""
        return ask

    def problems(self, ask: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """Yield (entry, sentence) for each mistake in `ask` that its schema cannot find."""
        return ()

    def variants(self, ask: Mapping[str, Any]) -> Sequence[str]:
        """Return the names of all questions that an instance may get; [""] if there is just one."""
        return [""]

    @abstractmethod
    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        """Return the questions about `instance`; `seed` decides anything random. Raises CannotAsk."""

    def common_options(self, ask: Mapping[str, Any]) -> frozenset[str]:
        """Return the keys of the options that every question offers."""
        return frozenset()

    def right_option(self, ask: Mapping[str, Any], variant: str) -> str:
        """Return the key of the right option if the variant alone determines it, else ""."""
        return ""

    def knows_right(self, ask: Mapping[str, Any]) -> bool:
        """Return whether any question has a known right answer."""
        return any(self.right_option(ask, variant) for variant in self.variants(ask))

    @abstractmethod
    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        """Return the texts and pictures that a question shows."""

    def picture_of(self, content: Mapping[str, Any], item: str) -> Picture | None:
        """Return the picture of the part `item` of the instance, None if that part is not a picture."""
        offered = (option.picture for option in self.options(content) if option.key == item)
        marked = (picture for picture in self.question_content(content).pictures if picture.mark == TARGET)
        return next(offered, None) or next(marked, None)

    def options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        """Return the options in the order of the source; none if the answer is written."""
        return ()

    def fixed_order(self, content: Mapping[str, Any]) -> bool:
        """Return whether everybody sees options and keyed pictures in the order of the source, not at random.

        Frames of a video are shown in this way.
        """
        return bool(content.get(IN_ORDER))

    def groups(self, content: Mapping[str, Any]) -> Sequence[Group]:
        """Return the items asked at once, each answered by one option; none if the question has one answer."""
        return ()

    def writing(self, content: Mapping[str, Any]) -> Writing | None:
        """Return the limits of the text to be written, None if nothing is written."""
        return None

    def answer_text(self, value: Any) -> str:
        """Return the answer `value` in words, "" if its options or labels already say it.

        The last look, notices, the instance page and disagreements show it. If the kind `is_written`, it is the text
        that the annotator wrote.
        """
        return ""

    def duplicate_key(self, value: Any) -> str:
        """Return the form of the answer `value` that must be unique per instance and study, "" if repeats are fine."""
        return ""

    @abstractmethod
    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        """Return the answer posted by a page that showed the options in `order`. Raises NotAnAnswer."""

    @abstractmethod
    def form_data(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        """Return the form data of the answer `value`, so that it can be edited; the inverse of `parse`."""

    def labels(self, content: Mapping[str, Any], label: str, value: Any) -> Mapping[str, str]:
        """Return unit -> label for agreement.

        Most kinds have one unit, ""; a free text has none. Several units come in the order of `content`, because a
        database may return the entries of `value` in another order.
        """
        return {"": label} if label else {}

    def categories(self, content: Mapping[str, Any]) -> Sequence[str]:
        """Return every label that an answer, or a unit of it, can have, in the order of its scale; none for free text.

        A kind whose answers have several labels overrides this.
        """
        return [option.key for option in self.options(content)] if self.has_one_label else ()

    def scale(self, content: Mapping[str, Any]) -> Scale:
        return Scale()

    def unit_scales(self, content: Mapping[str, Any]) -> Mapping[str, Scale]:
        """Return unit -> its scale with its `labels` if not all units of an answer share `scale`: every unit, or {}."""
        return {}

    def label_groupings(self, content: Mapping[str, Any]) -> Sequence[LabelGrouping]:
        """Return the label groupings for agreement; the first is the distinction that its rule makes."""
        return ()

    def measures(self) -> Sequence[AgreementMeasure]:
        """Return the kind's own measures of agreement on whole answers, in addition to those of its labels."""
        return ()

    def score(self, content: Mapping[str, Any], right: Any, answer: Answer) -> float | None:
        """Return the correctness of `answer`, from 0 to 1, given the `right` answer; None if it is undefined.

        Scores of people, models and simulated annotators use it. Default: 1 for the right answer, 0 for any other.
        """
        return float((answer.label if self.has_one_label else answer.value) == right)

    def model_options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        """Return the options that a model scores; none if several items are asked at once.

        A kind that ranks its groups overrides this.
        """
        return () if self.groups(content) else self.options(content)

    def predict_answer(self, content: Mapping[str, Any], scores: Mapping[str, float]) -> Answer | None:
        """Return the answer implied by a model's scores of `model_options`, higher is better; None if undecided (tie
        for the highest score)."""
        best = [key for key, score in scores.items() if score == max(scores.values())]
        return Answer(best[0], best[0]) if self.has_one_label and len(best) == 1 else None

    def can_instruct(self, ask: Mapping[str, Any]) -> bool:
        """Return whether its questions can be instruction checks, see `instruction_check`."""
        return False

    def instruction_check(
        self, content: Mapping[str, Any], number: int, say: Callable[[Option], str]
    ) -> tuple[Mapping[str, Any], Any]:
        """Return `content` with an instruction in place of its text, and the answer that follows it.

        The option is one that everybody sees by the same name, such as "None of these"; `number` chooses among several.
        say: option -> the instruction to choose it. Only for kinds and options where it `can_instruct`.
        """
        option = self.named_options(content)[number % len(self.named_options(content))]
        return {**content, "caption": say(option)}, option.key

    def named_options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        """Return the options that everybody sees by the same name."""
        return [option for option in self.options(content) if option.label and not option.shuffled]

    def adds(self, content: Mapping[str, Any], winner: str) -> Mapping[str, Mapping[str, Any]]:
        """Return what an accepted answer adds to its instance: role -> image, width and height, or text."""
        return {}

    def as_source(self, content: Mapping[str, Any], answer: Any) -> Mapping[str, Any] | None:
        """Return the `source` of questions about this answer, None if there is nothing to ask about."""
        return {"answer": answer, "content": dict(content)}

    def reference_label(self, reference: Mapping[str, Any]) -> str:
        """Return the label of the right answer according to the source file, "" if it names none."""
        return str(reference.get("right", ""))

    @abstractmethod
    def simulate(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        """Return the form data that a simulated annotator posts, as `parse` reads it.

        The answer has `label` or, without one, is random by `dice`. For written answers, `label` is the text.
        """


class AsksAboutAnswers(Kind):
    """A kind that asks about answers of another kind, or about imported descriptions."""

    asks_about_answers = True
    excludes_upstream_annotators: ClassVar[bool] = False
    """Whether annotators skip instances they saw in the upstream study, because there they saw the right answer."""

    def accepts_source(self, source: Mapping[str, Any]) -> bool:
        """Return whether it can ask about an answer with this `source` (see `Kind.as_source`)."""
        return True

    def redact(self, content: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return `content` without text from its `source`, whose author withdrew.

        The question can still be shown, with the same options.
        """
        return content


def has_own_score(kind: Kind) -> bool:
    """Return whether `kind` scores answers in another way than by comparing one label with the right one."""
    return not kind.has_one_label or type(kind).score is not Kind.score


def fields_of(kind: Kind, content: Mapping[str, Any]) -> dict[str, Group]:
    """Return form field -> group, in the order shown."""
    return {f"{CHOICE}-{place}": group for place, group in enumerate(kind.groups(content), start=1)}


def picture_of(stored: Mapping[str, Any]) -> Picture:
    """Return the picture of a stored `image_option`."""
    return Picture(stored["image"], stored["width"], stored["height"], role=stored.get("key", ""))


def image_option(key: str, image: ImageFacts, *, instance: str) -> dict[str, Any]:
    """Return the stored form of an option that is an image. Raises CannotAsk while its file is missing."""
    if image.sha256 is None:
        raise CannotAsk(
            f"Instance {instance} still waits for the image {image.filename}. "
            "Import the same file again with its image folder."
        )
    return {"key": key, "image": image.sha256, "width": image.width, "height": image.height}


def one_image(instance: InstanceFacts, role: str) -> dict[str, Any]:
    """Return the one image of `instance` in `role` as an option; its key is the role. Raises CannotAsk."""
    images = instance.images.get(role, ())
    if len(images) != 1:
        raise CannotAsk(f"Instance {instance.key} has {len(images)} images in the role {role}; it needs one.")
    return image_option(role, images[0], instance=instance.key)


def several_images(kind: Kind, instance: InstanceFacts, role: str, fewest: int, most: int) -> Sequence[ImageFacts]:
    """Return the `fewest` to `most` images of `instance` in `role` that `kind` needs. Raises CannotAsk."""
    images = instance.images.get(role, ())
    if not fewest <= len(images) <= most:
        has = f"Instance {instance.key} has {len(images)} images in the role {role}"
        raise CannotAsk(f"{has}; {kind.name} needs {fewest} to {most}.")
    return images


def one_caption(instance: InstanceFacts, role: str) -> str:
    """Return the caption of `instance` in `role`. Raises CannotAsk."""
    caption = instance.captions.get(role, "")
    if not caption:
        raise CannotAsk(f"Instance {instance.key} has no {role} to show.")
    return caption


def ask_schema_of(**entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an `ask` section with these entries."""
    return {"type": "object", "additionalProperties": False, "properties": entries}


def schema_of(default: str | int, description: str, **limits: int) -> dict[str, Any]:
    """Return the JSON Schema of an `ask` entry with the type of its default; `limits` are words of JSON Schema."""
    sort = {str: "string", int: "integer", bool: "boolean"}[type(default)]
    return {"type": sort, **limits, "default": default, "description": description}


def role_schema(default: str, description: str) -> dict[str, Any]:
    """Return the JSON Schema of an `ask` entry that names a role."""
    return schema_of(default, description, minLength=1)


def list_schema(
    default: Sequence[str], description: str, *, longest: int | None = None, **limits: int
) -> dict[str, Any]:
    """Return the JSON Schema of an `ask` entry that lists different texts, such as roles.

    `longest`: the most characters of each. `limits`: words of JSON Schema.
    """
    items = {"type": "string", "minLength": 1} | ({"maxLength": longest} if longest else {})
    rest = {"uniqueItems": True, "default": default, "description": description}
    return {"type": "array", "items": items, **limits, **rest}


def shown_order(kind: Kind, content: Mapping[str, Any], *, seed: str, annotator: int, question: int) -> list[str]:
    """Return the keys of ordered pictures, then all option keys, in the order that this annotator sees.

    The same (seed, annotator, question) gives the same order on any machine and Python version: a SHA-256 of the three
    seeds the shuffle. `seed` must stay secret: ids are small numbers, and all three together reveal the order.
    """
    digest = hashlib.sha256(f"{seed}|{annotator}|{question}".encode()).digest()
    options = kind.options(content)
    keys = [option.key for option in options if option.shuffled]
    is_at_random = not kind.fixed_order(content)
    if is_at_random:
        random.Random(int.from_bytes(digest[:8], "big")).shuffle(keys)  # noqa: S311 (the seed is secret)
    keys += [option.key for option in options if not option.shuffled]
    pictures = [picture.key for picture in kind.question_content(content).pictures if picture.key]
    if pictures and is_at_random:
        random.Random(int.from_bytes(digest[8:16], "big")).shuffle(pictures)  # noqa: S311 (the seed is secret)
    return pictures + keys


def in_shown_order(pictures: Sequence[Picture], order: Sequence[str]) -> Sequence[Picture]:
    """Return the pictures of a question sorted by `shown_order`, those without a key first."""
    place = {key: position for position, key in enumerate(order)}
    return sorted(pictures, key=lambda picture: place.get(picture.key, -1))


def digits_of(options: Sequence[Option]) -> list[str]:
    """Return the digit key of each option, in the order shown; "" for options without one."""
    digits = [option.digit for option in options if not option.shuffled]
    by_place = [*map(str, range(1, MOST_DIGITS + 1)), *([] if TENTH_DIGIT in digits else [TENTH_DIGIT])]
    shuffled = sum(option.shuffled for option in options)
    return [*by_place[:shuffled], *[""] * (shuffled - len(by_place)), *digits]


def last_keys(kind: Kind, content: Mapping[str, Any]) -> list[str]:
    """Return the keys of the options that always come last, in order."""
    return [option.key for option in kind.options(content) if not option.shuffled]


def posted_values(kind: Kind, content: Mapping[str, Any], order: Sequence[str]) -> dict[str, str]:
    """Return posted value -> option key, in the order shown.

    Shuffled options post their place ("1", "2", ...), so that the page does not reveal which option is which; others
    post their key.
    """
    is_shuffled = {option.key: option.shuffled for option in kind.options(content)}
    offered = [key for key in order if key in is_shuffled]
    return {str(position) if is_shuffled[key] else key: key for position, key in enumerate(offered, start=1)}
