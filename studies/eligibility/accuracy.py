"""`accuracy`: exclude people whose answers in this or another study were too often wrong or rejected."""

from collections.abc import Mapping
from typing import Any, ClassVar

from analytics.scores import is_below
from studies.eligibility.base import ACCEPTANCE, Eligibility, Person, gettext_noop, study_property
from studies.entry_schema import entry_schema

RIGHT_ANSWERS = "right_answers"


class Accuracy(Eligibility):
    """Refuse people whose share of good answers in `study` is below `at_least` (0 to 1) beyond chance.

    Beyond chance: the upper end of the share's Wilson 95 % interval is below it (`analytics.scores.is_below`). People
    with fewer than `answers` judged answers are let in; use `qualified` to require proof first.

    `by` right answers: judged answers are those to questions with a known right answer. `by` acceptance: those that
    other studies asked about and accepted or rejected.
    """

    name = "accuracy"
    schema: ClassVar[Mapping[str, Any]] = entry_schema(
        study=study_property("The study whose answers are judged. It can be this study if people may take part again."),
        at_least={"type": "number", "minimum": 0, "maximum": 1, "description": "The share of good answers needed."},
        answers={
            "type": "integer",
            "minimum": 1,
            "default": 10,
            "description": "The minimum number of judged answers. People with fewer may take part.",
        },
        by={
            "type": "string",
            "enum": [RIGHT_ANSWERS, ACCEPTANCE],
            "default": RIGHT_ANSWERS,
            "description": "When an answer is good: if it is right (right_answers), or if downstream studies "
            "accepted it (acceptance).",
        },
    )
    told = gettext_noop("This study needs people whose earlier answers matched more often. Thank you for your answers.")
    reason = "had too few good answers in the study whose answers are judged."
    of_itself = True

    def refuses(self, person: Person, given: Mapping[str, Any]) -> bool:
        record = person.record(given["study"])
        good, known = record.right, record.known
        if given["by"] == ACCEPTANCE:
            good, known = record.accepted, record.accepted + record.rejected
        return bool(known >= given["answers"]) and is_below(given["at_least"], good, known)
