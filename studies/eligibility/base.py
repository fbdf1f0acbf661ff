"""Interface of eligibility rules: their input (a person's record) and decision. Pure.

A rule excludes a person from a whole study or from some of its questions; in that case they still get the others.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

# Value of an entry's `by` that judges people by the outcome of their answers in downstream studies.
ACCEPTANCE = "acceptance"


def gettext_noop(text: str) -> str:
    """Mark a text for translation; the page translates it into the annotator's language."""
    return text


@dataclass(frozen=True, slots=True)
class Record:
    """A person's record in one study. `answered`: number of questions.

    `instances`: ids of the instances that they answered about, have open now, or saw before they stopped early.

    `known`: number of their counted answers to questions with a known right answer. `right`: sum of the scores of these
    (0 to 1 each), at most `known`. `sittings`: (known, right) of each sitting.

    `accepted`, `rejected`: number of their counted answers that downstream studies accepted or rejected. One rejection
    makes an answer rejected; undecided ones are in neither. "Not possible" counts as rejected if somebody else's answer
    to the question was accepted. Both are 0 unless an entry is `by` acceptance.
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
    """A person who arrives at a study. `records`: their records by study name; empty for somebody new.

    `groups`: their groups in the project. `answers`: ids of their own answers that the study may ask about.
    """

    records: Mapping[str, Record] = field(default_factory=dict)
    groups: frozenset[str] = frozenset()
    answers: frozenset[int] = frozenset()

    def record(self, study: str) -> Record:
        return self.records.get(study, Record())


@dataclass(frozen=True, slots=True)
class BarredQuestions:
    """Questions that a person must not get: about these `instances` or made from these `answers` (ids)."""

    instances: frozenset[int] = frozenset()
    answers: frozenset[int] = frozenset()

    def __or__(self, other: "BarredQuestions") -> "BarredQuestions":
        return BarredQuestions(self.instances | other.instances, self.answers | other.answers)

    def __bool__(self) -> bool:
        return bool(self.instances or self.answers)


NOTHING = BarredQuestions()


class Eligibility:
    """An eligibility rule; `given` is its entry in the study file, valid under its schema."""

    name: ClassVar[str]
    schema: ClassVar[Mapping[str, Any]]
    """JSON Schema of its entry without the name, with defaults."""
    told: ClassVar[str]
    """Message for a person whom it excludes from the study, or from all remaining questions."""
    reason: ClassVar[str]
    """Reason for researchers: the end of a sentence that begins with "somebody was not let in who"."""
    of_itself: ClassVar[bool] = False
    """Whether its entry may name its own study."""

    def problems(self, given: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """Yield (property, sentence) for each mistake in an entry that its schema cannot find."""
        return ()

    def refuses(self, person: Person, given: Mapping[str, Any]) -> bool:
        """Return whether `person` is excluded from the whole study."""
        return False

    def bars(self, person: Person, given: Mapping[str, Any]) -> BarredQuestions:
        """Return the questions that `person` must not get."""
        return NOTHING


def study_property(description: str) -> dict[str, Any]:
    """Return the schema of an entry's `study` property."""
    return {"type": "string", "minLength": 1, "maxLength": 50, "description": description}
