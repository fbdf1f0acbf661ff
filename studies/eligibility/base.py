"""What a rule of eligibility is: what it sees of somebody, and what it says. Pure.

A rule keeps somebody from a study as a whole, or from some of its questions: then it costs them these, and not the
rest of what they would get.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

# What an entry's `by` says that measures people by what became of their answers in the studies that asked about them.
ACCEPTANCE = "acceptance"


def gettext_noop(text: str) -> str:
    """Mark a text of a rule as one that annotators read in their own language; the page translates it."""
    return text


@dataclass(frozen=True, slots=True)
class Record:
    """What somebody did in one study. `answered`: how many questions. `instances`: the ids of those that they answered
    about, have before them now, or could look at before they gave up.

    `known`: how many of their counted answers are to questions whose right answer is known; `right`: how many of these
    are right, at most `known`, each as far as it is right. `sittings`: both, in this order, of the answers that they
    gave in one sitting each.

    `accepted`, `rejected`: how many of their counted answers other studies asked about and accepted, or rejected; an
    answer that one rejects is rejected, whatever others say, and what is undecided is in neither. Whoever said that
    there is nothing to say, where somebody else's answer was accepted, has one more that was rejected. Both are 0
    unless an entry is `by` acceptance.
    """

    answered: int = 0
    known: int = 0
    right: float = 0
    sittings: tuple[tuple[int, float], ...] = ()
    accepted: int = 0
    rejected: int = 0
    instances: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who comes to a study. `records`: what they did, by the study's name, where they did something.

    `groups`: the groups of the project that they are in. `answers`: the ids of the answers they gave, of those that the
    study may ask about. Somebody new has done nothing.
    """

    records: Mapping[str, Record] = field(default_factory=dict)
    groups: frozenset[str] = frozenset()
    answers: frozenset[int] = frozenset()

    def record(self, study: str) -> Record:
        return self.records.get(study, Record())


@dataclass(frozen=True, slots=True)
class Barred:
    """Questions that somebody is not asked: those about `instances`, and those made from `answers`, both ids."""

    instances: frozenset[int] = frozenset()
    answers: frozenset[int] = frozenset()

    def __or__(self, other: "Barred") -> "Barred":
        return Barred(self.instances | other.instances, self.answers | other.answers)

    def __bool__(self) -> bool:
        return bool(self.instances or self.answers)


NOTHING = Barred()


class Eligibility:
    """One rule; `given` is its entry in the study file, as its schema has it."""

    name: ClassVar[str]
    schema: ClassVar[Mapping[str, Any]]
    """JSON Schema of what stands in its entry besides its name; defaults stand in it."""
    told: ClassVar[str]
    """What somebody reads whom it keeps from the study, or from all that is left in it."""
    reason: ClassVar[str]
    """What researchers read of that: the end of a sentence that begins with "somebody was not let in who"."""
    of_itself: ClassVar[bool] = False
    """Whether it may name the very study that it is a rule of."""

    def problems(self, given: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """Yield what is wrong with an entry that its schema allows: the line it is about, and a sentence."""
        return ()

    def refuses(self, person: Person, given: Mapping[str, Any]) -> bool:
        """Tell whether `person` may not begin the study at all."""
        return False

    def bars(self, person: Person, given: Mapping[str, Any]) -> Barred:
        """Return the questions that `person` is not asked."""
        return NOTHING


def entry_schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an entry with these properties; those without a default are needed."""
    needed = [name for name, part in properties.items() if "default" not in part]
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": needed}


def study_named(description: str) -> dict[str, Any]:
    """Return the schema of an entry's `study`."""
    return {"type": "string", "minLength": 1, "maxLength": 50, "description": description}
