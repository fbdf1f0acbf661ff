"""Filters of the list of instances, under the names that the explorer's addresses use."""

from collections.abc import Iterable, Mapping
from typing import Any

from rest_framework import serializers

from results.models import Pseudonym
from results.queries.instances.explorer import (
    ALIKE,
    DIGITS,
    IMAGES,
    PARTED,
    PROGRESS,
    QUESTIONS,
    REASONS,
    SECONDS,
    STATES,
    Wanted,
)
from results.reports.explorer_links import NO_NAME
from studies.models import Project, Study
from workspace.api.framework.pagination import PageQuery


def _text(help_text: str) -> serializers.CharField:
    return serializers.CharField(required=False, help_text=help_text)


def _one_of(choices: Mapping[str, str], help_text: str) -> serializers.ChoiceField:
    return serializers.ChoiceField(choices=list(choices.items()), required=False, help_text=help_text)


def _seconds(help_text: str) -> serializers.RegexField:
    not_so = f"Write seconds as 4 or 2.5: at most {DIGITS} digits, and three behind the point."
    return serializers.RegexField(
        rf"^{SECONDS}$", required=False, help_text=help_text, error_messages={"invalid": not_so}
    )


class InstanceQuery(PageQuery):
    key = _text("Exactly this key.")
    words = _text("What stands in its key or in a caption, whatever the case.")
    type = _text(f"`{NO_NAME}`: those without one.")
    subtype = _text(f"`{NO_NAME}`: those without one.")
    split = _text(f"`{NO_NAME}`: those without one.")
    tag = _text("A word that researchers put on it.")
    images = _one_of(IMAGES, "Whether its images have come.")
    study = _text("One that asks about it. What is asked of answers is asked of this one, or else of any.")
    state = _one_of(STATES, "What has become of it in the study, or in the project.")
    progress = _one_of(PROGRESS, "How far the answers to all its questions are, taken together.")
    question = _one_of(QUESTIONS, "What one of its questions is.")
    person = _text("Who gave a counted answer: a pseudonym.")
    survey = serializers.IntegerField(
        min_value=1,
        max_value=10**DIGITS - 1,
        required=False,
        help_text="A number of a survey in which it is asked about.",
    )
    alike = _one_of(ALIKE, "How many of the pairs of answers to the same question are the same.")
    longer = _seconds("What the median answer took at least, in seconds.")
    shorter = _seconds("What the median answer took at most, in seconds.")
    reason = _one_of(REASONS, "What annotators said against a question.")
    parted = _one_of(PARTED, "Who is right where people and all models part.")
    model = _text("One that answered a question about it, as results name it: name, version and (weights).")
    without = _text("A study that does not ask about it.")

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        """Refuse unknown names: ignoring them would return all instances, as if all matched."""
        unknown = {name: ["There is no filter of this name."] for name in self.initial_data if name not in self.fields}
        if unknown:
            raise serializers.ValidationError(unknown)
        return given


def read_instance_filters(project: Project, given: Mapping[str, Any]) -> Wanted:
    """Return the filters for the instances of `project`.

    given: the values of a valid `InstanceQuery`. Raises ValidationError for a study, model or person that the project
    does not have.
    """
    studies = Study.objects.filter(project=project).values_list("slug", flat=True)
    _check_exists(project, given, "study", studies)
    if "without" in given:
        _check_exists(project, {"study": given["without"]}, "study", studies)
    _check_exists(project, given, "model", (str(model) for model in project.models.all()))
    _check_exists(project, given, "person", Pseudonym.objects.filter(project=project).values_list("name", flat=True))
    return Wanted(**{name: str(given[name]) for name in Wanted.__dataclass_fields__.keys() & given.keys()})


def _check_exists(project: Project, given: Mapping[str, Any], what: str, names: Iterable[str]) -> None:
    if what in given and given[what] not in set(names):
        raise serializers.ValidationError({what: [f"{project.name} has no {what} called {given[what]}."]})
