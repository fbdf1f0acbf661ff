"""`accuracy`: nobody whose answers have too often turned out wrong, or were rejected, in this study or another one."""

from collections.abc import Mapping
from typing import Any, ClassVar

from analytics.scores import is_below
from studies.eligibility.base import ACCEPTANCE, Eligibility, Person, entry_schema, gettext_noop, study_named

RIGHT_ANSWERS = "right_answers"


class Accuracy(Eligibility):
    """Refuses whoever has at least `answers` answers in `study` of which it is known how they turned out, where the
    share of good ones lies below `at_least` (0 to 1) beyond chance: the upper end of Wilson's 95 % interval of it does
    (`analytics.scores.is_below`). Of fewer answers it says nothing, so that whoever is new may begin; `qualified` is
    for those who must have shown something first.

    `by` right answers it counts the answers to questions whose right answer is known; `by` acceptance the answers that
    other studies asked about and accepted or rejected.
    """

    name = "accuracy"
    schema: ClassVar[Mapping[str, Any]] = entry_schema(
        study=study_named("The study in which people are measured; it may be this one, where one may come again."),
        at_least={"type": "number", "minimum": 0, "maximum": 1, "description": "The share of good answers needed."},
        answers={
            "type": "integer",
            "minimum": 1,
            "default": 10,
            "description": "Whoever has given fewer answers there is not measured yet, and let in.",
        },
        by={
            "type": "string",
            "enum": [RIGHT_ANSWERS, ACCEPTANCE],
            "default": RIGHT_ANSWERS,
            "description": "What makes an answer a good one: that it is the right one, where that is known, or that "
            "the studies that asked others about it accepted it.",
        },
    )
    told = gettext_noop("This study needs people whose earlier answers matched more often. Thank you for your answers.")
    reason = "had too few good answers in the study in which people are measured."
    of_itself = True

    def refuses(self, person: Person, given: Mapping[str, Any]) -> bool:
        record = person.record(given["study"])
        good, known = record.right, record.known
        if given["by"] == ACCEPTANCE:
            good, known = record.accepted, record.accepted + record.rejected
        return bool(known >= given["answers"]) and is_below(given["at_least"], good, known)
