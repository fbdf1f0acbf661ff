"""The design of a study: what is asked, of what, by how many, how they come and what they are paid. Pure.

A design is never changed; `dataclasses.replace` makes another one. Its names are those of the study file
(docs/studies.md), where every value is explained, but for `from` and `pass`, which are words of Python.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from studies.design.older import any_right_is_known, filled
from studies.design.problems import DesignRefused, Problem
from studies.design.schema import VERSION
from studies.eligibility import RULES as ELIGIBILITY
from studies.eligibility import get_rule
from studies.kinds import AsksAboutAnswers, get_kind


@dataclass(frozen=True, slots=True)
class Part:
    """Questions of one kind; `ask` belongs to the kind, which says what may stand in it."""

    kind: str
    ask: Mapping[str, Any] = field(hash=False)
    instructions: str


@dataclass(frozen=True, slots=True)
class InstanceSelection:
    """`from_study` is the study whose accepted instances are taken, "" for those of the project."""

    from_study: str
    sample: int | None
    type: tuple[str, ...]
    subtype: tuple[str, ...]
    split: tuple[str, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SurveyLayout:
    size: int
    double_seats: int


@dataclass(frozen=True, slots=True)
class Recruitment:
    """`sessions_per_annotator` is 0 for any number."""

    prolific: bool
    invite: bool
    any_ids: bool
    prolific_study_ids: tuple[str, ...]
    other_studies: str
    sessions_per_annotator: int


@dataclass(frozen=True, slots=True)
class Condition:
    """A rule of eligibility by its name, with what the study file gives it."""

    rule: str
    given: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Time:
    """`more_minutes` is 0 where nobody may ask for more."""

    estimated_minutes: int
    limit_minutes: int
    more_minutes: int


@dataclass(frozen=True, slots=True)
class Pay:
    """Money in major units of `currency`: for a finished session, and besides for each answer. A session with fewer
    than `least_answers` is paid that share of `per_session`."""

    currency: str
    per_session: Decimal
    least_answers: int
    per_answer: Decimal


@dataclass(frozen=True, slots=True)
class PracticeEntry:
    instance: str
    right: str
    feedback: str


@dataclass(frozen=True, slots=True)
class Practice:
    """`needed` right answers, `pass` in the study file, let an annotator go on to the survey."""

    needed: int
    rounds: int
    questions: tuple[PracticeEntry, ...]


@dataclass(frozen=True, slots=True)
class Answering:
    one_action: str
    last_look: bool
    record_writing: bool


@dataclass(frozen=True, slots=True)
class Endings:
    """Where whoever stops, and whoever runs out of time, is led: "return" or "code"."""

    stopped: str
    time_over: str


@dataclass(frozen=True, slots=True)
class Lobby:
    """How long whoever arrives while nothing is ready is kept waiting at most, 0 for not at all, and what somebody is
    paid for whom nothing came, in the currency of the pay. `either_role`: whether they may take part in the study that
    is waited for instead."""

    minutes: int
    pay: Decimal
    either_role: bool


@dataclass(frozen=True, slots=True)
class BlindSolvability:
    """Programs that see only the texts, or only the pictures, of a question, by their specs, and the largest share of
    right answers (0 to 1) that each may have."""

    baselines: tuple[str, ...]
    at_most: float


@dataclass(frozen=True, slots=True)
class LaunchConditions:
    """What must hold before the study is launched; None for what need not."""

    blind_solvability: BlindSolvability | None


@dataclass(frozen=True, slots=True)
class Design:
    """`dataset` is None where the study file leaves it to Lineup; `consent` is "" for no consent page; `language` is ""
    for studies of versions that did not ask for it, whose pages follow the reader's browser."""

    study: str
    title: str
    purpose: str
    dataset: bool | None
    parts: tuple[Part, ...]
    instances: InstanceSelection
    answers: int
    max_answers: int
    surveys: SurveyLayout
    rule: str
    seed: str
    recruitment: Recruitment
    eligibility: tuple[Condition, ...]
    time: Time
    pay: Pay
    language: str
    contact: str
    consent: str
    practice: Practice
    answering: Answering
    endings: Endings
    lobby: Lobby
    conditions: LaunchConditions
    version: int = VERSION

    @property
    def knows_right(self) -> bool:
        """Whether it asks questions whose right answer is known beforehand."""
        return any_right_is_known([{"kind": part.kind, "ask": part.ask} for part in self.parts])

    @property
    def questions_per_instance(self) -> int:
        """How many questions it asks about one instance at most or, where it asks about answers, about one answer."""
        return sum(len(get_kind(part.kind).variants(part.ask)) for part in self.parts)

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
        """Whether its questions are made from answers, and not only from instances: from those of the study that feeds
        it or, without one, from descriptions that came with the import."""
        return any(get_kind(part.kind).asks_about_answers for part in self.parts)

    @property
    def excludes_upstream_annotators(self) -> bool:
        """Whether it asks nobody about an instance that they met in the study that feeds it."""
        kinds = [get_kind(part.kind) for part in self.parts]
        return any(isinstance(kind, AsksAboutAnswers) and kind.excludes_upstream_annotators for kind in kinds)

    @property
    def records_writing(self) -> bool:
        """Whether it is recorded how texts are written: only where there are some, and where the consent says so."""
        is_written = any(get_kind(part.kind).is_written for part in self.parts)
        return self.answering.record_writing and bool(self.consent) and is_written

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> "Design":
        """Return a design from what `to_stored` of this or an older version made; it was checked when it was made.

        Raises DesignRefused for a design of a later version, and for one with entries that are missing or unknown.
        """
        version = stored.get("version", 0)
        if version > VERSION:
            raise _refused(
                f"of version {version}; this Lineup reads versions up to {VERSION}. Go back to the later Lineup."
            )
        whole = _entries(filled(stored), _ENTRIES, "")
        sections = {
            "parts": tuple(_part(part) for part in whole["parts"]),
            "instances": _instances(whole["instances"]),
            "surveys": SurveyLayout(**_entries(whole["surveys"], _SURVEYS, "surveys")),
            "recruitment": _recruitment(whole["recruitment"]),
            "eligibility": tuple(_condition(entry) for entry in whole["eligibility"]),
            "time": Time(**_entries(whole["time"], _TIME, "time")),
            "pay": _pay(whole["pay"]),
            "practice": _practice(whole["practice"]),
            "answering": Answering(**_entries(whole["answering"], _ANSWERING, "answering")),
            "endings": Endings(**_entries(whole["endings"], _ENDINGS, "endings")),
            "lobby": _lobby(whole["lobby"]),
            "conditions": _conditions(whole["conditions"]),
        }
        return cls(**{**whole, **sections})

    def to_stored(self) -> dict[str, Any]:
        """Return the design as plain JSON, from which `from_stored` makes an equal one.

        The first part stands at the top too, where versions before this one look for it: a site can go back to them.
        """
        first, recruitment = self.parts[0], self.recruitment
        return {
            "version": self.version,
            "study": self.study,
            "title": self.title,
            "purpose": self.purpose,
            "dataset": self.dataset,
            **_stored_part(first),
            "parts": [_stored_part(part) for part in self.parts],
            "instances": {
                "from": self.instances.from_study,
                "sample": self.instances.sample,
                "type": list(self.instances.type),
                "subtype": list(self.instances.subtype),
                "split": list(self.instances.split),
                "keys": list(self.instances.keys),
            },
            "answers": self.answers,
            "max_answers": self.max_answers,
            "surveys": {"size": self.surveys.size, "double_seats": self.surveys.double_seats},
            "rule": self.rule,
            "seed": self.seed,
            "recruitment": {
                "prolific": recruitment.prolific,
                "invite": recruitment.invite,
                "any_ids": recruitment.any_ids,
                "prolific_study_ids": list(recruitment.prolific_study_ids),
                "other_studies": recruitment.other_studies,
                "sessions_per_annotator": recruitment.sessions_per_annotator,
            },
            "eligibility": [{"rule": each.rule, **each.given} for each in self.eligibility],
            "time": {
                "estimated_minutes": self.time.estimated_minutes,
                "limit_minutes": self.time.limit_minutes,
                "more_minutes": self.time.more_minutes,
            },
            "pay": {
                "currency": self.pay.currency,
                "per_session": str(self.pay.per_session),
                "least_answers": self.pay.least_answers,
                "per_answer": str(self.pay.per_answer),
            },
            "language": self.language,
            "contact": self.contact,
            "consent": self.consent,
            "practice": {
                "pass": self.practice.needed,
                "rounds": self.practice.rounds,
                "questions": [_stored_entry(entry) for entry in self.practice.questions],
            },
            "answering": {
                "one_action": self.answering.one_action,
                "last_look": self.answering.last_look,
                "record_writing": self.answering.record_writing,
            },
            "endings": {"stopped": self.endings.stopped, "time_over": self.endings.time_over},
            "lobby": {
                "minutes": self.lobby.minutes,
                "pay": str(self.lobby.pay),
                "either_role": self.lobby.either_role,
            },
            "conditions": {"blind_solvability": _stored_solvability(self.conditions.blind_solvability)},
        }


_ENTRIES = frozenset(Design.__dataclass_fields__)
_PART = frozenset(Part.__dataclass_fields__)
_INSTANCES = frozenset(InstanceSelection.__dataclass_fields__) - {"from_study"} | {"from"}
_SURVEYS = frozenset(SurveyLayout.__dataclass_fields__)
_RECRUITMENT = frozenset(Recruitment.__dataclass_fields__)
_TIME = frozenset(Time.__dataclass_fields__)
_PAY = frozenset(Pay.__dataclass_fields__)
_PRACTICE = frozenset(Practice.__dataclass_fields__) - {"needed"} | {"pass"}
_ANSWERING = frozenset(Answering.__dataclass_fields__)
_ENDINGS = frozenset(Endings.__dataclass_fields__)
_LOBBY = frozenset(Lobby.__dataclass_fields__)
_CONDITIONS = frozenset(LaunchConditions.__dataclass_fields__)
_BLIND_SOLVABILITY = frozenset(BlindSolvability.__dataclass_fields__)
_PRACTICE_ENTRY = frozenset(PracticeEntry.__dataclass_fields__)


def _refused(reason: str) -> DesignRefused:
    return DesignRefused([Problem(None, f"The stored design is {reason}")])


def _entries(stored: Any, names: frozenset[str], section: str) -> Mapping[str, Any]:
    """Return the entries of a section, which must have these names and no other."""
    if not isinstance(stored, Mapping):
        raise _refused(f"damaged: `{section}` is no section.")
    if stored.keys() != names:
        where = f" in `{section}`" if section else ""
        unlike = ", ".join(sorted(map(str, stored.keys() ^ names)))
        raise _refused(f"not one of version {VERSION}: {unlike} missing or unknown{where}.")
    return stored


def _part(stored: Any) -> Part:
    part = _entries(stored, _PART, "parts")
    return Part(kind=part["kind"], ask=MappingProxyType(dict(part["ask"])), instructions=part["instructions"])


def _instances(stored: Any) -> InstanceSelection:
    selection = _entries(stored, _INSTANCES, "instances")
    return InstanceSelection(
        from_study=selection["from"],
        sample=selection["sample"],
        type=tuple(selection["type"]),
        subtype=tuple(selection["subtype"]),
        split=tuple(selection["split"]),
        keys=tuple(selection["keys"]),
    )


def _condition(stored: Any) -> Condition:
    rule = stored.get("rule") if isinstance(stored, Mapping) else None
    if rule not in ELIGIBILITY:
        raise _refused(f"not one of version {VERSION}: `eligibility` has the unknown rule {rule!r}.")
    given = {name: value for name, value in stored.items() if name != "rule"}
    return Condition(rule, MappingProxyType(dict(_entries(given, _names_of(rule), "eligibility"))))


def _names_of(rule: str) -> frozenset[str]:
    return frozenset(get_rule(rule).schema["properties"])


def _recruitment(stored: Any) -> Recruitment:
    recruitment = dict(_entries(stored, _RECRUITMENT, "recruitment"))
    return Recruitment(**recruitment | {"prolific_study_ids": tuple(recruitment["prolific_study_ids"])})


def _pay(stored: Any) -> Pay:
    pay = _entries(stored, _PAY, "pay")
    per_session, per_answer = Decimal(pay["per_session"]), Decimal(pay["per_answer"])
    return Pay(pay["currency"], per_session, pay["least_answers"], per_answer)


def _lobby(stored: Any) -> Lobby:
    lobby = _entries(stored, _LOBBY, "lobby")
    return Lobby(minutes=lobby["minutes"], pay=Decimal(lobby["pay"]), either_role=lobby["either_role"])


def _conditions(stored: Any) -> LaunchConditions:
    limit = _entries(stored, _CONDITIONS, "conditions")["blind_solvability"]
    if limit is None:
        return LaunchConditions(blind_solvability=None)
    entries = _entries(limit, _BLIND_SOLVABILITY, "conditions.blind_solvability")
    return LaunchConditions(BlindSolvability(tuple(entries["baselines"]), float(entries["at_most"])))


def _practice(stored: Any) -> Practice:
    practice = _entries(stored, _PRACTICE, "practice")
    entries = (_entries(entry, _PRACTICE_ENTRY, "practice.questions") for entry in practice["questions"])
    return Practice(
        needed=practice["pass"],
        rounds=practice["rounds"],
        questions=tuple(PracticeEntry(**entry) for entry in entries),
    )


def _stored_part(part: Part) -> dict[str, Any]:
    return {"kind": part.kind, "ask": dict(part.ask), "instructions": part.instructions}


def _stored_solvability(limit: BlindSolvability | None) -> dict[str, Any] | None:
    return None if limit is None else {"baselines": list(limit.baselines), "at_most": limit.at_most}


def _stored_entry(entry: PracticeEntry) -> dict[str, Any]:
    return {"instance": entry.instance, "right": entry.right, "feedback": entry.feedback}
