"""`in_group`: only people in a group of the project, such as the annotators of its test split."""

from collections.abc import Mapping
from typing import Any, ClassVar

from studies.eligibility.base import Eligibility, Person, gettext_noop
from studies.entry_schema import entry_schema

GROUP: Mapping[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 50,
    "description": "The name of a group of the project.",
}


class InGroup(Eligibility):
    name = "in_group"
    schema: ClassVar[Mapping[str, Any]] = entry_schema(group=GROUP)
    told = gettext_noop("This study is for people who were invited to it.")
    reason = "was not in the group that the study is for."

    def refuses(self, person: Person, given: Mapping[str, Any]) -> bool:
        return given["group"] not in person.groups
