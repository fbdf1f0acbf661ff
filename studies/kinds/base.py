"""What a kind of question is: all that is special about it, in one place. Pure.

How questions are made from an instance, what they show, what can be answered and in what order, how what a page posts
becomes an answer, how answers are compared, and what an accepted one adds to the instance. Elsewhere nobody asks which
kind a question is of.
"""

import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

Level = Literal["nominal", "ordinal", "interval"]

# The key of the option that says no option will do, in every kind that offers one.
NONE = "none"
# What the page calls the answer to a question with a single choice.
CHOICE = "choice"
# The mark of the picture that the answer is about, where it stands among others.
TARGET = "target"
# The digits of the keyboard for options that a page shows by their place; "0" is for one that always comes last, and
# for the tenth where no such one takes it.
MOST_DIGITS = 9
TENTH_DIGIT = "0"
# Where the content of a question says whether its options stand in their own order; see `Kind.stands_in_order`.
IN_ORDER = "in_order"
# What stands in a question for words of somebody who took them back: the same in every language.
TAKEN_BACK = "[…]"


def gettext_noop(text: str) -> str:
    """Mark a text of a kind as one that annotators read in their own language; the page translates it."""
    return text


CHOOSE_ANOTHER = gettext_noop("Choose one of the options shown, then send again.")


class CannotAsk(Exception):
    """An instance lacks what the kind needs; the message says what, for the researcher."""


class NotAnAnswer(Exception):
    """What a page posted is no answer to its question; the message, marked for translation, is for the annotator.

    `named`: what the message leaves open, as "%(name)s"; it is filled in when the message has been translated.
    """

    def __init__(self, message: str, **named: str | int) -> None:
        super().__init__(message)
        self.named = named


@dataclass(frozen=True)
class ImageFacts:
    """One image of an instance; `sha256` is None while its file is still awaited. Sizes in upright pixels."""

    sha256: str | None
    width: int
    height: int
    filename: str = ""


@dataclass(frozen=True)
class InstanceFacts:
    """An instance as kinds see it: captions by role, and the images of each role in order.

    `source`: the frozen content of what the question is made from besides, such as a description; empty without one.
    `type`: what its source calls it, "" where that says nothing. `reference`: what its source says of it besides, such
    as which answer is right; the entries of a row that the importer does not know stand under "other".
    """

    key: str
    captions: Mapping[str, str]
    images: Mapping[str, Sequence[ImageFacts]] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)
    type: str = ""
    reference: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Roles:
    """Roles of captions and of images of an instance."""

    captions: Sequence[str] = ()
    images: Sequence[str] = ()

    def all(self) -> set[str]:
        return {*self.captions, *self.images}


@dataclass(frozen=True)
class Built:
    """A question about an instance. `variant`: which of the kind's questions about it; `content`: what is frozen into
    it, plain JSON; `right`: the right answer, "" where none is known. It is a label where answers are one label each,
    and otherwise plain JSON, such as the right value of an answer; the kind's `score` reads it. `item`: the part of
    the instance that it is about, where the kind `asks_about_parts`, "" for all of it."""

    variant: str
    content: dict[str, Any]
    right: Any = ""
    item: str = ""

    @property
    def right_option(self) -> str:
        """The right answer where it is a label, else ""."""
        return self.right if isinstance(self.right, str) else ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that is shown; its upright size in pixels. `mark`: what sets it apart from the others, if anything.

    `key`: what the order shown calls it, where it is one of several that stand in an order, at random unless the kind
    `stands_in_order`; "" for one that has a place of its own.
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
class Shown:
    """What a question is about, besides its options."""

    texts: Sequence[Text] = ()
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that can be chosen: a picture, a text of the instance, or what `label` says.

    `shuffled`: it stands at a random place and posts that place, so that no page betrays which option it is (where all
    of a question stand in an order of their own, at its place in that). The others come after the shuffled ones as they
    are listed, post their own key, are the same in every question of a part, and are chosen by `digit`. `is_own_words`:
    the label is the study's, and not one of those that kinds bring.
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
    """One of several things that are asked at once, each answered by one of the question's options.

    `key`: what it is called in answers, and the unit of its label; `text`: what annotators read, the study's words.
    """

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Writing:
    """A text that is the answer, or a part of it: how many characters it has at least and at most.

    `can_be_left`: it can be answered instead that there is nothing to write.
    """

    fewest: int
    most: int
    can_be_left: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said: `value` whole, plain JSON, and the one `label` that stands for it, "" where there is none."""

    value: Any
    label: str = ""


class Measured(Protocol):
    """A coefficient of agreement: its value, None exactly when `reason` says why."""

    @property
    def value(self) -> float | None: ...
    @property
    def reason(self) -> str | None: ...


@dataclass(frozen=True)
class AgreementMeasure:
    """A measure of agreement that a kind brings.

    `of_question`: the content of a question and the values of two or more answers to it -> their agreement, at most 1.
    A report averages it over the questions that have one.
    """

    name: str
    of_question: Callable[[Mapping[str, Any], Sequence[Any]], Measured]


@dataclass(frozen=True)
class Scale:
    """How labels relate: not at all, by their order (that of the options), or as the numbers that `values` gives.

    `labels`: those on the scale, in its order; empty for all categories of the kind.
    """

    level: Level = "nominal"
    values: Mapping[str, float] = field(default_factory=dict)
    labels: Sequence[str] = ()


@dataclass(frozen=True)
class Collapse:
    """Labels put together for agreement: `into` says which label becomes what, and what is not in it becomes `rest`.

    `categories`: what labels can become, the positive one first.
    """

    title: str
    into: Mapping[str, str]
    rest: str
    categories: Sequence[str]

    def label(self, label: str) -> str:
        return self.into.get(label, self.rest)


class Kind(ABC):
    """One kind of question. `content` is what it froze into the question at launch; `ask` its part of the design."""

    name: ClassVar[str]
    title: ClassVar[str]
    instructions: ClassVar[str]
    """The default instructions, Markdown."""
    ask_schema: ClassVar[Mapping[str, Any]]
    """JSON Schema of the study file's `ask` section; defaults stand in it."""
    rule: ClassVar[str]
    """The acceptance rule of a study that names none. Which rules fit follows from what they need."""
    scores: ClassVar[Sequence[str]] = ()
    """The finer scores of the field that its variants are, in their order (Miranda et al. 2024, section 4)."""
    has_one_label: ClassVar[bool] = True
    """Whether every answer is one label; a free text has none, a list of statements several."""
    asks_about_answers: ClassVar[bool] = False
    """Whether its questions are made from answers of the study that its own takes its instances from or, without such a
    study, from descriptions that came with the instances."""
    asks_about_parts: ClassVar[bool] = False
    """Whether each question is about one part of its instance, such as one image of a set. Each part is accepted or
    rejected by itself; several questions about it are attempts, of which one has to succeed."""
    is_for_strangers: ClassVar[bool] = False
    """Whether nobody is asked about an instance that they have met in the study that feeds theirs, because there they
    have seen what is to be found here."""
    scales_differ: ClassVar[bool] = False
    """Whether the answers to some of its questions compare otherwise than those to others."""
    rejecting_options: ClassVar[frozenset[str]] = frozenset()
    """The keys of its options by which an answer says that the instance should be rejected."""
    answers_are_sources: ClassVar[bool] = False
    """Whether studies of other kinds can ask about its answers."""
    collects: ClassVar[bool] = False
    """Whether its answers are collected, and accept or reject nothing unless a study says so."""

    prefers: ClassVar[bool] = False
    """Whether an answer is which of the images shown was preferred, with the other options for ties."""
    said_before: ClassVar[str] = gettext_noop("Somebody has already written this. Write something else, then send.")
    """What annotators read where an answer `must_differ` from one that is there; marked for translation."""
    is_written: ClassVar[bool] = False
    """Whether answers are written, in whole or in part: their drafts are kept, and how they came about is noted."""

    @abstractmethod
    def roles(self, ask: Mapping[str, Any]) -> Roles:
        """Return the roles of an instance that its questions read."""

    def adds_roles(self, ask: Mapping[str, Any]) -> Roles:
        """Return the roles that an accepted answer fills in its instance."""
        return Roles()

    def problems(self, ask: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """Yield what is wrong with an `ask` that its schema allows: the entry it is about, and a sentence."""
        return ()

    def variants(self, ask: Mapping[str, Any]) -> Sequence[str]:
        """Return the names of the questions about one instance, at most so many; [""] when there is just one."""
        return [""]

    @abstractmethod
    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[Built]:
        """Return the questions about `instance`; what is left to chance is decided by `seed`. Raises CannotAsk."""

    def always_offers(self, ask: Mapping[str, Any]) -> frozenset[str]:
        """Return the keys of the options that every one of its questions has."""
        return frozenset()

    def right_option(self, ask: Mapping[str, Any], variant: str) -> str:
        """Return the key of the right option, where the variant alone decides which that is; else ""."""
        return ""

    def knows_right(self, ask: Mapping[str, Any]) -> bool:
        """Tell whether the right answer to any of its questions is known beforehand."""
        return any(self.right_option(ask, variant) for variant in self.variants(ask))

    @abstractmethod
    def shown(self, content: Mapping[str, Any]) -> Shown:
        """Return what a question is about."""

    def picture_of(self, content: Mapping[str, Any], item: str) -> Picture | None:
        """Return the picture that a part of the instance is, None where it is none."""
        offered = (option.picture for option in self.options(content) if option.key == item)
        marked = (picture for picture in self.shown(content).pictures if picture.mark == TARGET)
        return next(offered, None) or next(marked, None)

    def options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        """Return what can be chosen, in the order of the source; nothing where the answer is written."""
        return ()

    def stands_in_order(self, content: Mapping[str, Any]) -> bool:
        """Tell whether the options that a page shows by their place, and the pictures that have a key, stand in the
        order of the source for everybody, as the moments of a video do, and not at random."""
        return bool(content.get(IN_ORDER))

    def groups(self, content: Mapping[str, Any]) -> Sequence[Group]:
        """Return what is asked at once, each answered by one of the options; nothing where there is one answer."""
        return ()

    def writing(self, content: Mapping[str, Any]) -> Writing | None:
        """Return what there is to know of the text that is written as the answer, None where none is."""
        return None

    def words(self, value: Any) -> str:
        """Return what somebody wrote as the answer `value`, "" where nothing is written."""
        return ""

    def must_differ(self, value: Any) -> str:
        """Return the form in which the answer `value` may be given only once about an instance in a study, "" where it
        may be given again."""
        return ""

    @abstractmethod
    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        """Return the answer that a page posted which showed the options in `order`. Raises NotAnAnswer."""

    @abstractmethod
    def posted(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        """Return what a page posts whose form holds the answer `value`, so that it can be changed: `parse` reads it."""

    def labels(self, content: Mapping[str, Any], label: str, value: Any) -> Mapping[str, str]:
        """Return what agreement compares: unit -> label. One unit, "", for most kinds; none for a free text; several in
        the order of `content`, since a database may hand the entries of `value` back in another."""
        return {"": label} if label else {}

    def categories(self, content: Mapping[str, Any]) -> Sequence[str]:
        """Return every label that an answer, or a unit of one, can have, those of a scale in its order; none for a free
        text. A kind whose answers have several labels says its own."""
        return [option.key for option in self.options(content)] if self.has_one_label else ()

    def scale(self, content: Mapping[str, Any]) -> Scale:
        return Scale()

    def unit_scales(self, content: Mapping[str, Any]) -> Mapping[str, Scale]:
        """Return unit -> its scale with its `labels`, where an answer has several labels that are not all on `scale`;
        every unit of `labels` is in it, or none."""
        return {}

    def collapses(self, content: Mapping[str, Any]) -> Sequence[Collapse]:
        """Return how labels are put together for agreement; the first is what its rule tells apart."""
        return ()

    def measures(self) -> Sequence[AgreementMeasure]:
        """Return the measures of agreement on whole answers that the kind brings, besides those of its labels."""
        return ()

    def score(self, content: Mapping[str, Any], right: Any, answer: Answer) -> float | None:
        """Return how right `answer` is, from 0 to 1, where `right` is the right one; None where it cannot be told.

        Human scores, models' scores and simulated annotators use it. Without one of its own, the right answer gets 1
        and every other 0.
        """
        return float((answer.label if self.has_one_label else answer.value) == right)

    def model_options(self, content: Mapping[str, Any]) -> Sequence[Option]:
        """Return what a model gives a score each: the options, and nothing where several things are asked at once. A
        kind whose groups are ranked says its own."""
        return () if self.groups(content) else self.options(content)

    def predicted(self, content: Mapping[str, Any], scores: Mapping[str, float]) -> Answer | None:
        """Return the answer that a model's scores of `model_options` amount to, higher is better; None where they do
        not tell, such as for two options with the highest score."""
        best = [key for key, score in scores.items() if score == max(scores.values())]
        return Answer(best[0], best[0]) if self.has_one_label and len(best) == 1 else None

    def adds(self, content: Mapping[str, Any], winner: str) -> Mapping[str, Mapping[str, Any]]:
        """Return what an accepted answer adds to its instance: role -> image, width and height, or text."""
        return {}

    def hands_on(self, content: Mapping[str, Any], answer: Any) -> Mapping[str, Any] | None:
        """Return what kinds that ask about answers learn of one: the `source` of their instance; None where there is
        nothing to ask about."""
        return {"answer": answer, "content": dict(content)}

    def can_ask_about(self, source: Mapping[str, Any]) -> bool:
        """Tell whether a kind that asks about answers can ask about one, by what the other kind hands on of it."""
        return True

    def without_source(self, content: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return `content` without what its question has from its instance's `source`, which somebody said who took it
        back; it can still be shown, and has the same options. A kind that asks about answers says how."""
        return content

    def by_reference(self, reference: Mapping[str, Any]) -> str:
        """Return the label of the answer that the source of an instance holds for right, "" where it says nothing."""
        return str(reference.get("right", ""))

    @abstractmethod
    def made_up(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        """Return what a page posts for a program that plays an annotator, as `parse` reads it.

        The answer with `label`, or without one any of those there can be, as `dice` fall. Of a kind whose answers are
        written, `label` is the text.
        """


def has_own_score(kind: Kind) -> bool:
    """Tell whether the answers of `kind` are scored otherwise than by comparing their one label with the right one."""
    return not kind.has_one_label or type(kind).score is not Kind.score


def fields_of(kind: Kind, content: Mapping[str, Any]) -> dict[str, Group]:
    """Return what the page calls the answer to each group -> the group, in the order shown."""
    return {f"{CHOICE}-{place}": group for place, group in enumerate(kind.groups(content), start=1)}


def picture_of(stored: Mapping[str, Any]) -> Picture:
    """Return the picture that the content of a question holds as `image_option` made it."""
    return Picture(stored["image"], stored["width"], stored["height"], role=stored.get("key", ""))


def image_option(key: str, image: ImageFacts, *, instance: str) -> dict[str, Any]:
    """Return an option that is an image. Raises CannotAsk while its file is awaited."""
    if image.sha256 is None:
        raise CannotAsk(
            f"Instance {instance} still waits for the image {image.filename}. "
            "Import the same file again with its image folder."
        )
    return {"key": key, "image": image.sha256, "width": image.width, "height": image.height}


def one_image(instance: InstanceFacts, role: str) -> dict[str, Any]:
    """Return the image of `instance` in `role` as an option called by that role. Raises CannotAsk."""
    images = instance.images.get(role, ())
    if len(images) != 1:
        raise CannotAsk(f"Instance {instance.key} has {len(images)} images in the role {role}; it needs one.")
    return image_option(role, images[0], instance=instance.key)


def one_caption(instance: InstanceFacts, role: str) -> str:
    """Return the caption of `instance` in `role`. Raises CannotAsk."""
    caption = instance.captions.get(role, "")
    if not caption:
        raise CannotAsk(f"Instance {instance.key} has no {role} to show.")
    return caption


def role_schema(default: str, description: str) -> dict[str, str | int]:
    """Return the schema of an entry of `ask` that names a role."""
    return {"type": "string", "minLength": 1, "default": default, "description": description}


def shown_order(kind: Kind, content: Mapping[str, Any], *, seed: str, annotator: int, question: int) -> list[str]:
    """Return the keys of pictures that stand in an order, then all option keys, each as this annotator sees them.

    The same (seed, annotator, question) gives the same order on any machine and in any version of Python's
    hashing: the shuffle is seeded by a SHA-256 of the three. `seed` must be known to nobody: ids are small numbers, and
    whoever knows all three knows which option stands where.
    """
    digest = hashlib.sha256(f"{seed}|{annotator}|{question}".encode()).digest()
    options = kind.options(content)
    keys = [option.key for option in options if option.shuffled]
    is_at_random = not kind.stands_in_order(content)
    if is_at_random:
        random.Random(int.from_bytes(digest[:8], "big")).shuffle(keys)  # noqa: S311 (the seed is secret)
    keys += [option.key for option in options if not option.shuffled]
    pictures = [picture.key for picture in kind.shown(content).pictures if picture.key]
    if pictures and is_at_random:
        random.Random(int.from_bytes(digest[8:16], "big")).shuffle(pictures)  # noqa: S311 (the seed is secret)
    return pictures + keys


def in_shown_order(pictures: Sequence[Picture], order: Sequence[str]) -> Sequence[Picture]:
    """Return the pictures that a question is about as `shown_order` has them, those with a place of their own first."""
    place = {key: position for position, key in enumerate(order)}
    return sorted(pictures, key=lambda picture: place.get(picture.key, -1))


def digits_of(options: Sequence[Option]) -> list[str]:
    """Return the key of the keyboard that chooses each of a question's options, which are in the order shown; "" for
    those that have none."""
    digits = [option.digit for option in options if not option.shuffled]
    by_place = [*map(str, range(1, MOST_DIGITS + 1)), *([] if TENTH_DIGIT in digits else [TENTH_DIGIT])]
    shuffled = sum(option.shuffled for option in options)
    return [*by_place[:shuffled], *[""] * (shuffled - len(by_place)), *digits]


def last_keys(kind: Kind, content: Mapping[str, Any]) -> list[str]:
    """Return the keys of the options that always come last, in this order."""
    return [option.key for option in kind.options(content) if not option.shuffled]


def posted_values(kind: Kind, content: Mapping[str, Any], order: Sequence[str]) -> dict[str, str]:
    """Return what a page posts for each option -> the option's key, in the order shown.

    Shuffled options post their place ("1", "2", ...), so that no page betrays which option is which; fixed ones
    post their own key.
    """
    is_shuffled = {option.key: option.shuffled for option in kind.options(content)}
    offered = [key for key in order if key in is_shuffled]
    return {str(position) if is_shuffled[key] else key: key for position, key in enumerate(offered, start=1)}
