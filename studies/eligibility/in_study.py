"""`in_study`: only people who answered something in another study."""

from collections.abc import Mapping
from typing import Any, ClassVar

from studies.eligibility.base import Eligibility, Person, gettext_noop, study_property
from studies.entry_schema import entry_schema


class InStudy(Eligibility):
    name = "in_study"
    schema: ClassVar[Mapping[str, Any]] = entry_schema(
        study=study_property("Only people who have answered at least one question of this study may take part.")
    )
    told = gettext_noop("This study continues another one and is for people who took part in that one.")
    reason = "had not taken part in the required study."

    def refuses(self, person: Person, given: Mapping[str, Any]) -> bool:
        return not person.record(given["study"]).answered
