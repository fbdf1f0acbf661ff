"""Input of reports: the studies of a project in pipeline order, as plain rows."""

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
    """A question of a study and its outcome.

    `instance`: an id. `variant_index`: of its kind, from 0. `right`: the right option, "" if unknown. `has_own_score`:
    its kind scores answers itself, and the right answer is known. `winner`: the option decided by the rule or by a
    researcher (`settled`), "" without one. `answers`: counted ones, of so many `wanted` by now. `item`: the part of the
    instance it is about, "" for all of it. `role`: the image role shown, or all roles shown.
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
    """One label of a counted answer.

    `annotator`: an internal id that no report contains. `choice`: the label. `unit`: its subject, for kinds whose
    answers have several labels; "" for others. `survey`, `seat`: numbers of where it was given. `added`: requested
    after the first answers to the question differed.
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
    """The score of a counted answer, from 0 to 1, by its kind."""

    question: int
    annotator: int
    score: float


@dataclass(frozen=True, slots=True)
class MeasuredQuestion:
    """The agreement on a question by a measure of its kind. `value` is None if `reason` says why."""

    question: int
    kind: str
    measure: str
    value: float | None
    reason: str
    people: Sequence[int]


@dataclass(frozen=True)
class LabelSpace:
    """The possible answers to questions of a kind, and how answers are compared.

    `options`: every possible label, those of a scale in order; none for a free text. `last`: options with a fixed last
    position. `names`: option -> displayed name, if it differs from the key. `groupings`: label groupings, those of its
    rule first. `has_one_label`: whether an answer is one label. `same_for_all`: whether all questions offer the same.
    `prefers`: whether a label is the preferred option of its question. `apart`: scales with the ids of their questions,
    if questions use several; `scale` is then none. `units`: unit -> its scale, if an answer has several labels on
    different scales. `compares`: the label sets that the study's rule compares.
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
        """Whether its labels are ordered."""
        return self.scale.level != "nominal"

    @property
    def always(self) -> Sequence[str]:
        """The options offered beside those of the instance, such as None or Both; steps of a scale are not."""
        return () if self.is_scale else self.last

    @property
    def beside(self) -> Sequence[str]:
        """Those of `always` that appear beside options of the instance.

        None if every option is always offered: choosing one then says nothing.
        """
        return self.always if len(self.last) < len(self.options) else ()

    def name(self, option: str) -> str:
        return self.names.get(option, option)


@dataclass(frozen=True)
class PartFacts:
    """One part of a study: kind of question, maximum number of questions per instance, and texts that people read."""

    kind: str
    title: str
    variants: int
    instructions: str
    label_space: LabelSpace = field(default_factory=LabelSpace)


@dataclass(frozen=True)
class SimulatedStudy:
    """A study and the number of its counted annotators that are simulated."""

    slug: str
    simulated: int
    annotators: int


@dataclass(frozen=True, slots=True)
class DescriptionFacts:
    """A text that a question asks about.

    `writer`: an internal id that no report contains; None for an imported text. `author`: whether the writer also wrote
    for the training split, as in `studies.descriptions`, "" if unknown. `tags`: phenomena found in it, of those
    `looked_for`. `pasted`: whether something was pasted while writing, None if not recorded.
    """

    text: str
    writer: int | None = None
    author: str = ""
    tags: Sequence[str] = ()
    looked_for: Sequence[str] = ()
    pasted: bool | None = None


@dataclass(frozen=True, slots=True)
class WrittenFacts:
    """The number of texts about instances of a type, and how often somebody declared that none could be written."""

    texts: int
    not_possible: int


@dataclass(frozen=True)
class StudyFacts:
    """One study of a report.

    `purpose`: as declared. `accepts`: whether its answers accept and reject. `sessions`: state -> number. `paid`:
    duration of each finished session on our clock.

    `simulated`: number of the `annotators` that are simulated. `first_day`, `last_day`: ISO dates of the first and last
    arrival, "" without any. `categories`: as in ProjectFacts, of its instances. `skipped`: how often a session skipped
    a question, because its images could not be shown; `settled`: number of adjudicated questions; each with the number
    of their instances. `surveys`: survey number -> instances. `above`: the upstream studies, direct or indirect, with
    simulated answers.

    `owed_for_sessions`: amount due for its sessions without their answers, including waiting, by
    `annotation.session_pay`. `paid_each`: amount due for a finished session itself -> number of such sessions, without
    those with unlikely times. `per_answer`: additional pay for each of the `answers_paid`, which are all stored ones;
    both 0 without it.

    `beside`: question id -> options shown together, of kinds that ask for a preference. `described`: question id ->
    text it asks about. `written`: type of instance -> all texts to ask about.

    `predicted`: model -> question id -> score from 0 to 1, for exactly the content of this question; only for studies
    that do not ask the four questions of `analytics.scores`. `predicted_otherwise`: model, as in lists -> instances for
    which it answered questions with options other than this study's; only for studies that ask the four.

    `scored`: answers that their kind scores itself. `measured`: questions with several answers, by each agreement
    measure of their kind. `ethics`: the approval that its study file names. `consents`: number of a version of the
    consent text -> the sessions that agreed to it last. `minimum_hourly_pay`: of the site, in the
    study's currency, None without one. `names`: annotator -> the name that the report gives them: a pseudonym of the
    project or of a release; without one they are named by their place.
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
    double_surveys: int = 0
    asked_twice: int = 0
    above: Sequence[SimulatedStudy] = ()
    beside: Mapping[int, Sequence[str]] = field(default_factory=dict)
    described: Mapping[int, DescriptionFacts] = field(default_factory=dict)
    written: Mapping[str, WrittenFacts] = field(default_factory=dict)
    owed_for_sessions: Decimal = Decimal(0)
    paid_each: Mapping[Decimal, int] = field(default_factory=dict)
    per_answer: Decimal = Decimal(0)
    answers_paid: int = 0
    predicted: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    predicted_otherwise: Mapping[str, Set[int]] = field(default_factory=dict)
    scored: Sequence[ScoredAnswer] = ()
    measured: Sequence[MeasuredQuestion] = ()
    ethics: str = ""
    consents: Mapping[int, int] = field(default_factory=dict)
    minimum_hourly_pay: Decimal | None = None
    names: Mapping[int, str] = field(default_factory=dict)

    @property
    def kinds(self) -> list[str]:
        return [part.kind for part in self.parts]

    @property
    def label_spaces(self) -> Mapping[str, LabelSpace]:
        """Return kind -> label space of its first part."""
        found: dict[str, LabelSpace] = {}
        for part in self.parts:
            found.setdefault(part.kind, part.label_space)
        return found

    @property
    def undone(self) -> Set[int]:
        """The instances that left the study because the acceptance they came from was undone."""
        return {question.instance for question in self.questions if question.outcome is Outcome.UNDONE}

    @property
    def knows_answers(self) -> bool:
        """Whether it asks questions with a known right answer."""
        return any(question.knows_right for question in self.questions)


@dataclass(frozen=True)
class ModelFacts:
    """The outcomes of a model: instance id -> outcomes in the order Ipos2T, Ineg2T, Tpos2I, Tneg2I.

    `captions`: instance id -> whether it chose the caption of the image, for instances without all four questions.
    `is_declared`: its predictions come from files that name no pictures, so that their content cannot be verified.
    `listed_as`: its name in lists of instances, whichever captions it read.
    """

    name: str
    outcomes: Mapping[int, tuple[bool, bool, bool, bool]]
    captions: Mapping[int, bool] = field(default_factory=dict)
    is_declared: bool = False
    listed_as: str = ""


@dataclass(frozen=True, slots=True)
class MismatchedPredictions:
    """The number of a model's predictions that do not match the options of their question, and why.

    They count nowhere.
    """

    model: str
    problem: str
    predictions: int


class Way(StrEnum):
    """Who is right when people and all models disagree."""

    PEOPLE = "people"
    MODELS = "models"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A question on which people and all models disagree.

    `instance`: an id. `right`: number of its counted `answers` that are right. `models`: number of models that answered
    exactly this question.
    """

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
    """The number of image sets of one split and type with descriptions, and all descriptions."""

    sets: int
    texts: Sequence[str]


@dataclass(frozen=True)
class SourceFacts:
    """A source file of instances, the caption formatting rule, and the number of instances."""

    file: str
    caption_rule: str
    instances: int


@dataclass(frozen=True)
class ProjectFacts:
    """A project with its studies.

    `categories`: instance id -> (type, subtype), of all instances of the project. `dataset`: the studies whose accepted
    items are the dataset, none if all instances are. `withdrawn`, `excluded`: number of people whose answers do not
    count, by their own wish or a researcher's decision. `disagreements`: questions on which people and all models
    disagree. `predicted_by`: model, as in lists -> instances with any prediction of it. `described`: (split, type) ->
    exported descriptions of image sets. `mismatched`: predictions that count nowhere.
    """

    slug: str
    name: str
    categories: Mapping[int, tuple[str, str]]
    studies: Sequence[StudyFacts]
    dataset: Sequence[str] = ()
    models: Sequence[ModelFacts] = field(default=())
    predicted_by: Mapping[str, Set[int]] = field(default_factory=dict)
    disagreements: Sequence[Disagreement] = field(default=())
    sources: Sequence[SourceFacts] = field(default=())
    withdrawn: int = 0
    excluded: int = 0
    described: Mapping[tuple[str, str], DescribedSets] = field(default_factory=dict)
    mismatched: Sequence[MismatchedPredictions] = field(default=())

    @property
    def has_something_to_report(self) -> bool:
        return bool(self.studies or self.models or self.described or self.mismatched)
