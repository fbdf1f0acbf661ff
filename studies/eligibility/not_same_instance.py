"""`not_same_instance`: nobody gets an instance that they had in another study."""

from collections.abc import Mapping
from typing import Any, ClassVar

from studies.eligibility.base import BarredQuestions, Eligibility, Person, gettext_noop, study_property
from studies.entry_schema import entry_schema


class NotSameInstance(Eligibility):
    """Bar questions about instances that the person answered, has open, or saw before stopping early in `study`."""

    name = "not_same_instance"
    schema: ClassVar[Mapping[str, Any]] = entry_schema(
        study=study_property("People do not get instances again that they had in this study.")
    )
    told = gettext_noop("The remaining questions show what you have already seen in another study.")
    reason = "came when only questions about instances they had in another study were left."

    def bars(self, person: Person, given: Mapping[str, Any]) -> BarredQuestions:
        return BarredQuestions(instances=person.record(given["study"]).instances)
