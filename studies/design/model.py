"""The definition of study files, as the model of the design. Pure.

Each entry is defined here and nowhere else. Checks, the published JSON Schema, the stored form, defaults, what older
versions did, and the fields of the form all follow from it. docs/studies.md explains every value.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Self

from pydantic import ConfigDict, ValidationError, model_validator

from studies.design.entries import Entry, Options, Section, entry, fill, with_defaults
from studies.design.problems import DesignRefused, Problem
from studies.eligibility import RULES as ELIGIBILITY
from studies.eligibility import every_property, get_rule
from studies.entry_schema import entry_schema
from studies.kinds import KINDS, AsksAboutAnswers, get_kind
from studies.names import LONGEST_NOTE
from studies.policies import POLICIES, get_policy
from studies.policies import every_property as every_policy_property
from studies.rules import RULES
from studies.wording import AMOUNT

# Of study files and of stored designs. A change that older versions of Lineup would misread gets the next number: its
# entries say `since`. An entry that is `optional` needs none. See docs/decisions/0066-a-study-file-is-defined-once.md.
VERSION = 5
# Maximum answers per question, by a study file or an extension.
MOST_ANSWERS = 100
# Purposes of a study; `studies.models.Purpose` has their labels.
PURPOSES = ("filter", "baseline", "pilot", "qualification", "collection")
# Only these accept and reject instances; in other studies answers only agree or conflict.
ACCEPTING = ("filter", "collection")
# Trials: they accept like the real study, unless the right answers are known.
TRYING = ("pilot",)
# What annotators who end before the last question do: return the submission, or enter a code.
WAYS_OUT = ("return", "code")
# Whether choosing an option sends the answer: never, if the annotator turns it on, or unless they turn it off.
ONE_ACTION = ("off", "offered", "on")
# Maximum characters of a text that fills a page: instructions, consent.
LONGEST_PAGE = 50_000
# The entries of a part; with only one part, they are at the top level of a study file.
ASKING = ("kind", "ask", "instructions")
PARTS = "parts"

# In Python `$` alone also matches before a final line end; in other languages the rest has no effect.
_END = r"$(?!\n)"
# A program that sees only the texts, or only the pictures, of a question. A higher room knows which exist.
_BLIND_BASELINE = r"^(text-only|image-only):\S+" + _END
# A multi-line text; editors that know the media type show it accordingly.
_MARKDOWN = "text/markdown"
# Groups of the form, and headings of its first screen.
_STUDY, _ANSWERS = "What it is", "How many answers"
QUESTION, _PEOPLE, _PAY = "Question", "People", "Pay"


def accepts_answers(purpose: str, knows_right: Callable[[], bool]) -> bool:
    """Return whether the answers of a study accept and reject instances; `knows_right` is asked only where it matters.

    knows_right: whether some of its questions have right answers that are known in advance.
    """
    return purpose in ACCEPTING or (purpose in TRYING and not knows_right())


def shortest_limit(estimated_minutes: int) -> int:
    """Return the shortest maximum time, in minutes, that Prolific allows: 2 + 2t + 2 sqrt(t), rounded up.

    Source: prolific.md, section 3.5. Example: 20 -> 51.
    """
    return math.ceil(2 + 2 * estimated_minutes + 2 * math.sqrt(estimated_minutes))


def any_right_is_known(parts: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether parts, with their `kind` and `ask`, have a question with a known right answer."""
    return any(get_kind(part["kind"]).knows_right(part["ask"]) for part in parts)


def _usual_purpose(design: Mapping[str, Any]) -> str:
    parts = design[PARTS]
    if any(get_kind(part["kind"]).asks_about_answers for part in parts):
        # What annotators find decides on the answers that they are asked about.
        return "filter"
    if any_right_is_known(parts):
        return "baseline"
    return "collection" if all(get_kind(part["kind"]).collect_only for part in parts) else "filter"


def _first_purpose(design: Mapping[str, Any]) -> str:
    return "baseline" if any_right_is_known(design[PARTS]) else "filter"


def _usual_least_answers(design: Mapping[str, Any]) -> int:
    instances, size = design["instances"], int(design["surveys"]["size"])
    return size if instances["from"] and instances.get("sample") is None else 1


def _condition_schema() -> dict[str, Any]:
    """Return the schema of a condition; the schema of its rule has its entries and their defaults."""
    return _named_schema("rule", list(ELIGIBILITY), every_property())


def _policy_schema() -> dict[str, Any]:
    """Return the schema of a policy; the schema of its name has its entries and their defaults."""
    return _named_schema("policy", list(POLICIES), every_policy_property())


def _named_schema(key: str, names: Sequence[str], every: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    properties = {
        name: {word: value for word, value in part.items() if word != "default"} for name, part in every.items()
    }
    named = {"enum": names, "description": f"The name of the {key}."}
    return entry_schema(**{key: named}, **properties) | {"required": [key]}


class Part(Section):
    """Questions of one kind, which defines the entries of `ask`."""

    kind: str = entry(..., enum=KINDS)
    """The type of its questions."""
    ask: Options = entry({})
    """The roles of the instance that are shown, and other settings of the kind."""
    instructions: str = entry(
        lambda part: get_kind(part["kind"]).instructions, maxLength=LONGEST_PAGE, contentMediaType=_MARKDOWN
    )
    """Markdown. Default: the instructions of the kind."""


class InstanceSelection(Section):
    from_study: str = entry("", alias="from", first=QUESTION, label="Instances", since=2)
    """The study whose accepted instances are used, as soon as they are accepted."""
    sample: int | None = entry(None, since=2, minimum=1)
    """Number of instances in a random sample, drawn at launch from the seed. Default: all, including later ones."""
    type: tuple[str, ...] = entry([], uniqueItems=True)
    subtype: tuple[str, ...] = entry([], uniqueItems=True)
    split: tuple[str, ...] = entry([], uniqueItems=True)
    keys: tuple[str, ...] = entry([], uniqueItems=True)
    tags: tuple[str, ...] = entry([], optional=True, uniqueItems=True)
    """Instances with one of these tags."""


class SurveyLayout(Section):
    size: int = entry(100, minimum=1, maximum=2000)
    double_seats: int = entry(0, minimum=0, maximum=10_000)
    """Number of surveys answered by a second set of people, to measure agreement."""


class Recruitment(Section):
    prolific: bool = entry(True, first=_PEOPLE)
    """People come from Prolific."""
    invite: bool = entry(True, first=_PEOPLE, label="Invitation link")
    """Anyone who has the link can take part, without Prolific."""
    any_ids: bool = entry(False, since=2, before=True)
    """Accept ids of people and sessions that are not Prolific's (24 hexadecimal digits), for manual tests and for other
    platforms with the same kind of link."""
    prolific_study_ids: tuple[str, ...] = entry([], uniqueItems=True)
    other_studies: str = entry("accept", enum=("accept", "refuse"))
    """What happens to a link from a Prolific study that is not listed."""
    sessions_per_annotator: int = entry(1, minimum=0, maximum=1000)
    """How many surveys one person may take (0: any number). Nobody gets the same question twice."""


class Condition(Section):
    """An eligibility rule by its name, with its parameters from the study file."""

    model_config = ConfigDict(extra="allow")
    rule: str = entry(...)

    @property
    def parameters(self) -> Mapping[str, Any]:
        return MappingProxyType(self.model_extra or {})

    @model_validator(mode="after")
    def _has_the_entries_of_its_rule(self) -> Self:
        if self.rule not in ELIGIBILITY:
            raise ValueError(f"no rule is called {self.rule}")
        unlike = self.parameters.keys() ^ get_rule(self.rule).schema["properties"].keys()
        if unlike:
            raise ValueError(f"missing or unknown in {self.rule}: {', '.join(sorted(unlike))}")
        return self


class PolicyEntry(Section):
    """A policy by its name, with its parameters from the study file."""

    model_config = ConfigDict(extra="allow")
    policy: str = entry(...)

    @property
    def parameters(self) -> Mapping[str, Any]:
        return MappingProxyType(self.model_extra or {})

    @model_validator(mode="after")
    def _has_the_entries_of_its_policy(self) -> Self:
        if self.policy not in POLICIES:
            raise ValueError(f"no policy is called {self.policy}")
        unlike = self.parameters.keys() ^ get_policy(self.policy).schema["properties"].keys()
        if unlike:
            raise ValueError(f"missing or unknown in {self.policy}: {', '.join(sorted(unlike))}")
        return self


class Time(Section):
    estimated_minutes: int = entry(30, first=_PAY, label="Minutes per survey", minimum=1, maximum=720)
    """Estimated time for one survey."""
    limit_minutes: int = entry(
        lambda design: shortest_limit(design["time"]["estimated_minutes"]), minimum=1, maximum=1440
    )
    """When this time is over, the place is released. Default: the minimum that Prolific allows."""
    more_minutes: int = entry(0, since=2, minimum=0, maximum=1440)
    """Extra time that an annotator may request once."""


class Pay(Section):
    """Amounts are in whole units of `currency`."""

    currency: str = entry("USD", first=_PAY, enum=("USD", "GBP", "EUR"))
    per_session: Decimal = entry("0.00", first=_PAY, label="Pay per survey", pattern=AMOUNT)
    """Amount in the currency of the study, such as 8.00."""
    least_answers: int = entry(_usual_least_answers, since=5, before=1, minimum=1, maximum=2000)
    """A finished session with fewer answers is paid in proportion: its answers divided by this number. Default: 1, or
    `surveys.size` if questions come from another study while this one is open."""
    per_answer: Decimal = entry("0.00", since=3, pattern=AMOUNT)
    """Extra amount for each stored answer, such as 0.10 per description; on Prolific, a bonus."""


class PracticeEntry(Section):
    instance: str = entry(...)
    """The key of an instance of the project."""
    right: str = entry(...)
    """The right option: "candidate-0", "none", ..."""
    feedback: str = entry("", maxLength=LONGEST_NOTE)


class Practice(Section):
    needed: int = entry(0, alias="pass", minimum=0)
    """Right answers needed."""
    rounds: int = entry(2, minimum=1, maximum=10)
    questions: tuple[PracticeEntry, ...] = entry([])


class GoldEntry(Section):
    instance: str = entry(...)
    """The key of an instance of the project."""
    right: str = entry("")
    """The right option: "candidate-0", "none", ... Not needed if the type of question knows it."""


class GoldChecks(Section):
    """Questions whose right answer is known, which nothing on the page tells from the others."""

    per_survey: int = entry(..., minimum=1, maximum=100)
    """Number of instances in each survey whose questions are gold."""
    from_study: str = entry("", alias="from")
    """The study of the project whose settled or accepted questions are used, with the decision as right answer."""
    questions: tuple[GoldEntry, ...] = entry([])
    """Instances with their right answers, instead of `from`."""


class InstructionChecks(Section):
    """Questions whose text is an instruction to choose a certain option."""

    per_survey: int = entry(..., minimum=1, maximum=100)
    """Number in each survey."""


class RepeatChecks(Section):
    """Questions that the same person gets a second time, later in the survey."""

    per_survey: int = entry(..., minimum=1, maximum=100)
    """Number in each survey."""


class QualityChecks(Section):
    """Questions that check answers. Their answers count nowhere, and are paid like others."""

    gold: GoldChecks | None = entry(None, optional=True)
    """Questions with a known right answer. Their instances are not asked about otherwise."""
    instruction: InstructionChecks | None = entry(None, optional=True)
    """Questions that tell annotators which option to choose."""
    repeat: RepeatChecks | None = entry(None, optional=True)
    """Questions that are asked again, to measure the agreement of people with themselves."""


class Answering(Section):
    one_action: str = entry("off", since=2, enum=ONE_ACTION)
    """Whether choosing an option sends the answer: never (off), if the annotator turns it on (offered), or unless the
    annotator turns it off (on)."""
    last_look: bool = entry(False, since=2)
    """Whether annotators see all their answers again before they finish."""
    record_writing: bool = entry(True, since=3, before=False)
    """For written answers: whether numbers of keys, pastes and pauses are recorded, without their content. The consent
    page says so; without a consent page nothing is recorded."""


class Endings(Section):
    stopped: str = entry("return", since=2, enum=WAYS_OUT)
    """For annotators who stop early."""
    time_over: str = entry("return", since=2, enum=WAYS_OUT)
    """For annotators who run out of time."""


class Lobby(Section):
    """The pay is in the currency of `pay`."""

    minutes: int = entry(0, since=3, minimum=0, maximum=60)
    """Longest time an annotator waits for a question. 0: nobody waits, and annotators learn at once that there is
    nothing for them."""
    pay: Decimal = entry("0.00", since=3, before="0", pattern=AMOUNT)
    """Amount for an annotator who waited and got no question, such as 0.50. They get a separate completion code."""
    either_role: bool = entry(False, since=3)
    """Whether annotators who wait may take part in the upstream study instead, if it has a place for them."""


_BASELINE = {
    "type": "string",
    "maxLength": 300,
    "pattern": _BLIND_BASELINE,
    "description": "Write a blind baseline, such as text-only:ngrams.",
}


class BlindSolvability(Section):
    baselines: tuple[str, ...] = entry(..., minItems=1, uniqueItems=True, items=_BASELINE)
    """The programs: text-only:ngrams, image-only:colour-and-gradient, ..."""
    at_most: float = entry(..., minimum=0, maximum=1)
    """The largest allowed share of right answers of each program, such as 0.6 if guessing gives 0.5. A tie counts as a
    guess."""


class LaunchConditions(Section):
    blind_solvability: BlindSolvability | None = entry(None, since=4)
    """Programs that see only the texts, or only the images, of each question must not be right too often. Run them
    while the study is a draft, on its page or with `predict`."""


class Qualification(Section):
    group: str = entry(..., minLength=1, maxLength=50)
    """The group of the project that people join who pass. Studies with the eligibility rule `in_group` are for it."""
    right: int = entry(..., minimum=1)
    """Right answers needed in one session."""
    of: int = entry(..., minimum=1)
    """The number of answers that `right` is out of. A session with more answers needs the same share."""
    days: int = entry(90, minimum=1, maximum=3650)
    """Days for which people belong to the group after passing. Passing again begins them anew."""


class Design(Section):
    """The whole content of a study file: questions, instances, annotators, recruitment and pay."""

    version: int = entry(lambda _: VERSION, minimum=1, maximum=VERSION)
    """The version of the study file's format. Default: the current one."""
    study: str = entry(
        ..., group=_STUDY, first=QUESTION, label="Name", pattern="^[a-z0-9]+(-[a-z0-9]+)*" + _END, maxLength=50
    )
    """The name in URLs and commands: small letters, digits and single hyphens."""
    title: str = entry(..., group=_STUDY, first=QUESTION, minLength=1, maxLength=200)
    """The title that annotators read."""
    purpose: str = entry(_usual_purpose, group=_STUDY, since=2, before=_first_purpose, enum=PURPOSES)
    """What the study is for. Default: filter if it asks about answers of another study. If not, baseline if the right
    answers are known, collection if the kind only collects, and filter for all others."""
    dataset: bool | None = entry(None, group=_STUDY, since=2)
    """Whether its accepted items belong to the dataset of the project. true: it joins the other studies of the dataset,
    and replaces those that feed it or select some of its instances. Default: true for a filter if the project has no
    dataset yet, or if a study of the dataset feeds it."""
    parts: tuple[Part, ...] = entry(None, minItems=2, maxItems=lambda: len(KINDS))
    """Instead of `kind`: questions of several kinds, one part of the survey after another."""
    instances: InstanceSelection = entry({}, since=2)
    """The instances of the project that it asks about. Default: all."""
    answers: int = entry(
        1, group=_ANSWERS, first=_PEOPLE, label="Answers per question", minimum=1, maximum=MOST_ANSWERS
    )
    """How many answers each question gets."""
    max_answers: int = entry(
        lambda design: design.get("answers"), group=_ANSWERS, since=2, minimum=1, maximum=MOST_ANSWERS
    )
    """An undecided question gets more answers, one at a time, up to this number. Default: answers."""
    surveys: SurveyLayout = entry({})
    """How questions are divided into surveys. All questions about an instance are in the same survey."""
    rule: str = entry(lambda design: get_kind(design[PARTS][0]["kind"]).rule, group=_ANSWERS, enum=RULES)
    """The acceptance rule. Default: the rule of the kind."""
    seed: str = entry(lambda design: design["study"], group=_ANSWERS, maxLength=100)
    """Random seed of the surveys and samples. Default: study."""
    recruitment: Recruitment = entry({}, since=2)
    """Where annotators come from."""
    eligibility: tuple[Condition, ...] = entry([], since=3, items=_condition_schema)
    """Who may take part, and who gets which questions. All of these rules apply."""
    time: Time = entry({}, since=2)
    """Minutes for one session."""
    pay: Pay = entry({})
    """Pay for a finished session, and extra pay for each answer."""
    language: str = entry(
        "en", group=_STUDY, since=2, before="", pattern="^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*" + _END, maxLength=35
    )
    """The language of its texts, buttons, numbers and times, as a tag such as en, es, eu, ar or pt-BR."""
    contact: str = entry("", group=_STUDY, first=_PEOPLE, since=2, maxLength=300)
    """Name and address of the person whom annotators can write to. Required at launch."""
    ethics: str = entry("", group=_STUDY, optional=True, maxLength=300)
    """The ethics approval: who gave it, and its number. It appears on the consent page and in the dataset card."""
    consent: str = entry("", maxLength=LONGEST_PAGE, contentMediaType=_MARKDOWN)
    """Markdown. Without it there is no consent page."""
    practice: Practice = entry({})
    """Questions with feedback before the survey."""
    checks: QualityChecks | None = entry(None, optional=True)
    """Gold questions, instruction checks and repeated questions, at places that nobody can foresee."""
    answering: Answering = entry({}, since=2)
    """How the page of a question is used."""
    endings: Endings = entry({}, since=2)
    """What happens to a session that ends before its last question. return: the annotator returns the submission,
    unpaid. code: they get a separate completion code, and the researcher decides about the pay."""
    lobby: Lobby = entry({}, since=3)
    """For studies that take their instances from another study: what happens if no question is ready when an annotator
    arrives."""
    conditions: LaunchConditions = entry({}, since=4)
    """Requirements for the launch."""
    policies: tuple[PolicyEntry, ...] = entry([], optional=True, items=_policy_schema)
    """What the study does by itself: pause, so that nobody new comes in, or ask others. People at work finish."""
    qualification: Qualification | None = entry(None, optional=True)
    """For studies whose purpose is qualification: people who finish with enough right answers join a group."""

    @property
    def is_live(self) -> bool:
        """Whether its questions come from another study one by one, while it is open."""
        return bool(self.instances.from_study) and self.instances.sample is None

    @property
    def accepts(self) -> bool:
        """Whether its answers accept and reject instances; not in a baseline."""
        return accepts_answers(self.purpose, lambda: self.knows_right)

    @property
    def knows_right(self) -> bool:
        """Whether some of its questions have right answers that are known in advance."""
        return any_right_is_known([{"kind": part.kind, "ask": part.ask} for part in self.parts])

    @property
    def questions_per_instance(self) -> int:
        """The maximum number of questions about one instance or, if it asks about answers, about one answer."""
        return sum(len(get_kind(part.kind).variants(part.ask)) for part in self.parts)

    @property
    def known_per_instance(self) -> int:
        """The maximum number of questions about one instance whose right answers are known in advance."""
        knowing = [part for part in self.parts if get_kind(part.kind).knows_right(part.ask)]
        return sum(len(get_kind(part.kind).variants(part.ask)) for part in knowing)

    @property
    def checks_per_survey(self) -> int:
        """The most checks that a person answers in a survey, in addition to its questions."""
        checks = self.checks
        if checks is None:
            return 0
        gold = 0 if checks.gold is None else checks.gold.per_survey * self.questions_per_instance
        others = (each.per_survey for each in (checks.instruction, checks.repeat) if each is not None)
        return gold + sum(others)

    @property
    def asks_several(self) -> bool:
        """Whether it may ask several questions about one instance."""
        return self.asks_about_answers or self.questions_per_instance > 1

    @property
    def asks_about_parts(self) -> bool:
        """Whether a part of it asks about parts of instances, each of which is an item."""
        return any(get_kind(part.kind).asks_about_parts for part in self.parts)

    @property
    def asks_about_answers(self) -> bool:
        """Whether its questions are about answers of its upstream study, or about imported descriptions."""
        return any(get_kind(part.kind).asks_about_answers for part in self.parts)

    @property
    def excludes_upstream_annotators(self) -> bool:
        """Whether annotators skip instances that they saw in the upstream study."""
        kinds = [get_kind(part.kind) for part in self.parts]
        return any(isinstance(kind, AsksAboutAnswers) and kind.excludes_upstream_annotators for kind in kinds)

    @property
    def records_writing(self) -> bool:
        """Whether it records how texts are written: only if annotators write, and the consent page says so."""
        is_written = any(get_kind(part.kind).is_written for part in self.parts)
        return self.answering.record_writing and bool(self.consent) and is_written

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Self:
        """Return the design of a stored form, written by `to_stored` of this or an older version.

        It was checked when it was stored. Raises DesignRefused for a later version, and for missing or unknown entries.
        """
        version = stored.get("version", 0)
        if version > VERSION:
            raise _refuse(
                f"of version {version}; this Lineup reads versions up to {VERSION}. Go back to the later Lineup."
            )
        whole = {name: value for name, value in stored.items() if name not in ASKING}
        # Old designs have no `parts`.
        asked = stored.get(PARTS) or [{name: stored[name] for name in ASKING if name in stored}]
        whole[PARTS] = [add_option_defaults(part) for part in asked]
        if version < VERSION:
            whole = fill(cls, whole | {"version": VERSION}, lambda entry: _earlier_default(entry, version, whole))
        try:
            return cls.model_validate(whole)
        except ValidationError as error:
            wrong = "; ".join(f"`{'.'.join(map(str, each['loc']))}`: {each['msg']}" for each in error.errors())
            raise _refuse(f"not one of version {VERSION}. {wrong}.") from error

    def to_stored(self) -> dict[str, Any]:
        """Return the design as plain JSON for `from_stored`.

        The first part is repeated at the top level for the first versions, so that a downgrade is possible.
        """
        values = self.model_dump(mode="json", by_alias=True)
        return before_parts(values, values[PARTS][0])


def _refuse(reason: str) -> DesignRefused:
    return DesignRefused([Problem(None, f"The stored design is {reason}")])


def _earlier_default(entry: Entry, version: int, stored: Mapping[str, Any]) -> Any:
    """Return the behaviour of `version` without this entry, `...` if it had the entry."""
    if version >= entry.since:
        return ...
    return entry.before(stored) if callable(entry.before) else entry.before


def add_option_defaults(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part with all defaults of its kind in `ask`, including options that were added later."""
    if part.get("kind") not in KINDS:
        return dict(part)
    return {**part, "ask": with_defaults(part.get("ask", {}), get_kind(part["kind"]).ask_schema)}


def before_parts(values: Mapping[str, Any], asking: Mapping[str, Any]) -> dict[str, Any]:
    """Return `values` with those of `asking` before their `parts`."""
    place = [*values].index(PARTS)
    items = [*values.items()]
    return dict([*items[:place], *asking.items(), *items[place:]])
