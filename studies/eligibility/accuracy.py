"""`accuracy`: nobody whose answers have turned out wrong too often, in this study or in another one."""

from collections.abc import Mapping
from typing import Any, ClassVar

from studies.eligibility.base import Eligibility, Person, entry_schema, gettext_noop, study_named

ROUNDING = 1e-9


class Accuracy(Eligibility):
    """Refuses whoever has given at least `answers` answers in `study` to questions whose right answer is known, and
    was right in a smaller share of them than `at_least` (0 to 1). Of fewer answers it says nothing, so that whoever is
    new may begin; `qualified` is for those who must have shown something first."""

    name = "accuracy"
    schema: ClassVar[Mapping[str, Any]] = entry_schema(
        study=study_named("The study in which people are measured; it may be this one, where one may come again."),
        at_least={"type": "number", "minimum": 0, "maximum": 1, "description": "The share of right answers needed."},
        answers={
            "type": "integer",
            "minimum": 1,
            "default": 10,
            "description": "Whoever has given fewer answers there is not measured yet, and let in.",
        },
    )
    told = gettext_noop("This study needs people whose earlier answers matched better. Thank you for what you gave.")
    reason = "had too few right answers in the study in which people are measured."
    of_itself = True

    def refuses(self, person: Person, given: Mapping[str, Any]) -> bool:
        record = person.record(given["study"])
        # A share such as 0.28 of 25 answers is 7, of which computers make a little more.
        needed = given["at_least"] * record.known - ROUNDING
        return bool(record.known >= given["answers"] and record.right < needed)
