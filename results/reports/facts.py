"""What a report is made of: a project's studies in the order of its pipeline, as plain rows."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from analytics.outcomes import Outcome
from analytics.work.pay import PaidSession
from studies.kinds.base import LabelGrouping, Scale
from studies.rules.base import LabelSet


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """One question of a study and what followed. `instance` is an id; `variant_index` counts the variants of its kind,
    from 0.

    `right`: the right option, "" where none is known. `has_own_score`: its kind scores answers itself, and the right
    answer is known. `winner`: the option that its rule, or a researcher (`settled`), decided for, "" without one.
    `answers`: counted ones, of so many `wanted` by now. `item`: the part of the instance that it is about, "" for all
    of it. `role`: the image role that it shows, or all that it shows.
    """

    id: int
    instance: int
    kind: str
    variant_index: int
    right: str
    outcome: Outcome
    winner: str
    answers: int
    wanted: int = 1
    settled: bool = False
    has_own_score: bool = False
    item: str = ""
    role: str = ""

    @property
    def knows_right(self) -> bool:
        return bool(self.right) or self.has_own_score


@dataclass(frozen=True, slots=True)
class AnswerFacts:
    """One label of one counted answer. `annotator` is an id that stands for somebody, and leaves in no report.

    `choice`: the label. `unit`: what it is of, for kinds whose answers have several; "" for all others.
    `survey` and `seat`: the numbers of where it was given. `added`: it came after the answers asked for at first, to a
    question on which those differed.
    """

    question: int
    annotator: int
    survey: int
    choice: str
    seat: int = 1
    added: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """How right a counted answer is, from 0 to 1, as its kind scores it."""

    question: int
    annotator: int
    score: float


@dataclass(frozen=True, slots=True)
class MeasuredQuestion:
    """How far the people agree who answered a question, by a measure that its kind brings. `value` is None where
    `reason` says why."""

    question: int
    kind: str
    measure: str
    value: float | None
    reason: str
    people: Sequence[int]


@dataclass(frozen=True)
class Answerable:
    """What can be answered to the questions of one kind, and how answers compare; as the kind says.

    `options`: every label that there can be, those of a scale in its order; none for a free text. `last`: those of
    options that always come last. `names`: what people call an option, where that is not its key. `groupings`: how
    labels are put together, what its rule tells apart first. `has_one_label`: whether an answer is one label.
    `same_for_all`: whether every question offers the same. `is_preference`: whether a label is the option that was
    preferred to the others of its question. `apart`: where questions use different scales, each scale with the ids of
    the questions on it; `scale` is then none. `units`: unit -> its scale, where an answer has several labels that are
    not all on `scale`. `compares`: by what the rule of the study tells answers apart.
    """

    options: Sequence[str] = ()
    last: Sequence[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    groupings: Sequence[LabelGrouping] = ()
    scale: Scale = field(default_factory=Scale)
    has_one_label: bool = True
    same_for_all: bool = True
    is_preference: bool = False
    apart: Sequence[tuple[Scale, frozenset[int]]] = ()
    units: Mapping[str, Scale] = field(default_factory=dict)
    compares: Sequence[LabelSet] = ("groups",)

    @property
    def is_scale(self) -> bool:
        """Whether its labels have an order."""
        return self.scale.level != "nominal"

    @property
    def always(self) -> Sequence[str]:
        """The options that are offered beside those of the instance, such as None or Both; the steps of a scale are
        not."""
        return () if self.is_scale else self.last

    @property
    def beside(self) -> Sequence[str]:
        """Those of `always` that stand beside options of the instance; none where every option is always offered, and
        to have chosen one of them says nothing."""
        return self.always if len(self.last) < len(self.options) else ()

    def name(self, option: str) -> str:
        return self.names.get(option, option)


@dataclass(frozen=True)
class PartFacts:
    """One part of a study: the kind of question, how many questions about one instance at most, and what people
    read."""

    kind: str
    title: str
    variants: int
    instructions: str
    answerable: Answerable = field(default_factory=Answerable)


@dataclass(frozen=True)
class Played:
    """A study and how many of its annotators, whose answers count, are no people but a program."""

    slug: str
    simulated: int
    annotators: int


@dataclass(frozen=True, slots=True)
class DescriptionFacts:
    """A text about which a question asks what it is about.

    `writer`: an id that stands for who wrote it, and leaves in no report; None for one that came with an import.
    `author`: whether they also wrote for the training split, as `studies.descriptions` calls it, "" where nobody knows.
    `tags`: the phenomena found in it, of those that somebody `looked_for`. `pasted`: whether something was pasted while
    it was written, None where that was not recorded.
    """

    text: str
    writer: int | None = None
    author: str = ""
    tags: Sequence[str] = ()
    looked_for: Sequence[str] = ()
    pasted: bool | None = None


@dataclass(frozen=True, slots=True)
class WrittenFacts:
    """How many texts about instances of one type there are to be asked about, and how often somebody said instead that
    none could be written."""

    texts: int
    not_possible: int


@dataclass(frozen=True)
class StudyFacts:
    """`purpose`: what it was declared to be for; `accepts`: whether its answers accept and reject.

    `sessions`: state -> how many. `paid`: how long each finished session took on our clock.

    `simulated`: how many of the `annotators` are no people but a program. `first_day`, `last_day`: the ISO dates
    between which people came, "" when nobody did. `categories`: as in ProjectFacts, of the instances it asks about.
    `skipped`: how often a session went on without a question, because its images could not be shown; `settled`: how
    many questions a researcher settled; each with the number of instances that they are about.
    `surveys`: the instances that each survey asks about, by its number.
    `above`: the studies that fed it, directly or through others, in which a program answered.
    `owed_for_sessions`: what is owed for its sessions without their answers, waiting in vain included, by
    `annotation.session_pay`. `per_answer`: what each of the `answers_paid`, which are all that were stored, is paid
    besides; these are 0 without it.
    `beside`: the options that stood beside each other, by the id of the question, of kinds that ask which is preferred.
    `described`: the texts that its questions ask about, by the id of the question; `written`: all that there are to ask
    about, by the type of their instances.
    `predicted`: model -> id of a question -> how right it was, from 0 to 1, about what this very question shows; only
    of studies that do not ask the four questions of `analytics.scores`.
    `predicted_otherwise`: model, as lists call it -> the instances about which it answered questions with other options
    than those of this study; only of studies that ask the four.
    `scored`: the answers that their kind scores itself. `measured`: the questions with several answers, by each measure
    of agreement that their kind brings.
    """

    slug: str
    title: str
    parts: Sequence[PartFacts]
    rule: str
    purpose: str
    accepts: bool
    fed_by: str
    answers_wanted: int
    currency: str
    per_session: Decimal
    estimated_minutes: float
    sessions: Mapping[str, int]
    annotators: int
    paid: Sequence[PaidSession]
    questions: Sequence[QuestionFacts]
    answers: Sequence[AnswerFacts]
    max_answers: int = 0
    settled: int = 0
    settled_about: int = 0
    simulated: int = 0
    first_day: str = ""
    last_day: str = ""
    categories: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    skipped: int = 0
    skipped_about: int = 0
    surveys: Mapping[int, Set[int]] = field(default_factory=dict)
    above: Sequence[Played] = ()
    beside: Mapping[int, Sequence[str]] = field(default_factory=dict)
    described: Mapping[int, DescriptionFacts] = field(default_factory=dict)
    written: Mapping[str, WrittenFacts] = field(default_factory=dict)
    owed_for_sessions: Decimal = Decimal(0)
    per_answer: Decimal = Decimal(0)
    answers_paid: int = 0
    predicted: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    predicted_otherwise: Mapping[str, Set[int]] = field(default_factory=dict)
    scored: Sequence[ScoredAnswer] = ()
    measured: Sequence[MeasuredQuestion] = ()

    @property
    def kinds(self) -> list[str]:
        return [part.kind for part in self.parts]

    @property
    def answerable(self) -> Mapping[str, Answerable]:
        """What can be answered: kind -> as its first part has it."""
        found: dict[str, Answerable] = {}
        for part in self.parts:
            found.setdefault(part.kind, part.answerable)
        return found

    @property
    def undone(self) -> int:
        """How many instances left it, because the acceptance that they were drawn from was undone."""
        return len({question.instance for question in self.questions if question.outcome is Outcome.UNDONE})

    @property
    def knows_answers(self) -> bool:
        """Whether it asks questions whose right answer is known."""
        return any(question.knows_right for question in self.questions)


@dataclass(frozen=True)
class ModelFacts:
    """What a model got right: instance id -> its outcomes in the order Ipos2T, Ineg2T, Tpos2I, Tneg2I.

    `captions`: instance id -> whether it chose the caption of the image, of the instances about which it was not asked
    all four questions. `is_declared`: its predictions come from files that name no pictures, so that nobody can verify
    what they are about. `listed_as`: what lists of instances call it, whichever captions it read.
    """

    name: str
    outcomes: Mapping[int, tuple[bool, bool, bool, bool]]
    captions: Mapping[int, bool] = field(default_factory=dict)
    is_declared: bool = False
    listed_as: str = ""


@dataclass(frozen=True, slots=True)
class MismatchedPredictions:
    """How many predictions of a model do not answer exactly the options of their question, so that they count nowhere,
    and why."""

    model: str
    problem: str
    predictions: int


class Way(StrEnum):
    """Who is right where people and models part."""

    PEOPLE = "people"
    MODELS = "models"


@dataclass(frozen=True, slots=True)
class Parted:
    """A question on which people and all models part. `instance` is an id; `right` of its counted `answers` are right;
    `models`: how many models answered the very same question."""

    question: int
    instance: int
    study: str
    kind: str
    variant: str
    type: str
    subtype: str
    way: Way
    answers: int
    right: int
    models: int = 0


@dataclass(frozen=True, slots=True)
class DescribedSets:
    """The image sets of one split and type that have descriptions, how many, and all of these."""

    sets: int
    texts: Sequence[str]


@dataclass(frozen=True)
class SourceFacts:
    """A file that instances came from, the rule that formatted their captions, and how many there are."""

    file: str
    caption_rule: str
    instances: int


@dataclass(frozen=True)
class ProjectFacts:
    """`categories`: instance id -> (type, subtype), of all instances of the project.

    `dataset`: the studies whose accepted items are the dataset, none where all instances are. `withdrawn`, `excluded`:
    how many people's answers count nowhere in the project, by their own wish or because a researcher left them out.
    `parted`: the questions on which people and all models part.
    `predicted_by`: model, as lists call it -> the instances about which it answered anything.
    `described`: the descriptions of image sets that leave with the data, by split and type.
    `mismatched`: predictions that count nowhere.
    """

    slug: str
    name: str
    categories: Mapping[int, tuple[str, str]]
    studies: Sequence[StudyFacts]
    dataset: Sequence[str] = ()
    models: Sequence[ModelFacts] = field(default=())
    predicted_by: Mapping[str, Set[int]] = field(default_factory=dict)
    parted: Sequence[Parted] = field(default=())
    sources: Sequence[SourceFacts] = field(default=())
    withdrawn: int = 0
    excluded: int = 0
    described: Mapping[tuple[str, str], DescribedSets] = field(default_factory=dict)
    mismatched: Sequence[MismatchedPredictions] = field(default=())

    @property
    def has_something_to_report(self) -> bool:
        return bool(self.studies or self.models or self.described or self.mismatched)
