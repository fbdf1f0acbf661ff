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
    InstanceFilters,
)
from results.reports.explorer_links import NO_NAME
from studies.models import Project, Study
from workspace.api.framework.pagination import PageQuery


def _text(help_text: str) -> serializers.CharField:
    return serializers.CharField(required=False, help_text=help_text)


def _one_of(choices: Mapping[str, str], help_text: str) -> serializers.ChoiceField:
    return serializers.ChoiceField(choices=list(choices.items()), required=False, help_text=help_text)


def _seconds(help_text: str) -> serializers.RegexField:
    not_so = f"Write seconds as 4 or 2.5: at most {DIGITS} digits, and up to 3 decimals."
    return serializers.RegexField(
        rf"^{SECONDS}$", required=False, help_text=help_text, error_messages={"invalid": not_so}
    )


class InstanceQuery(PageQuery):
    key = _text("The exact key.")
    words = _text("Text in the key or in a caption; upper and lower case are the same.")
    type = _text(f"`{NO_NAME}` for instances without one.")
    subtype = _text(f"`{NO_NAME}` for instances without one.")
    split = _text(f"`{NO_NAME}` for instances without one.")
    tag = _text("A tag.")
    images = _one_of(IMAGES, "Whether all its images are there.")
    study = _text("A study that asks about it. Filters about answers then apply to this study, otherwise to any study.")
    state = _one_of(STATES, "Its outcome in the study, or else in the project.")
    progress = _one_of(PROGRESS, "How many of the answers to its questions are in.")
    question = _one_of(QUESTIONS, "The outcome of at least one of its questions.")
    person = _text("Pseudonym of an annotator with a counted answer about it.")
    survey = serializers.IntegerField(
        min_value=1,
        max_value=10**DIGITS - 1,
        required=False,
        help_text="Number of a survey that asks about it.",
    )
    alike = _one_of(ALIKE, "Share of pairs of answers to the same question that agree.")
    longer = _seconds("Median time of its answers, at least, in seconds.")
    shorter = _seconds("Median time of its answers, at most, in seconds.")
    reason = _one_of(REASONS, "Reason for which an annotator reported one of its questions.")
    parted = _one_of(PARTED, "Who is right where people and all models disagree.")
    model = _text("A model that answered a question about it, as results name it: name, version and (weights).")
    without = _text("A study that does not ask about it.")

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        """Refuse unknown names: ignoring them would return all instances, as if all matched."""
        unknown = {name: ["There is no filter of this name."] for name in self.initial_data if name not in self.fields}
        if unknown:
            raise serializers.ValidationError(unknown)
        return given


def read_instance_filters(project: Project, given: Mapping[str, Any]) -> InstanceFilters:
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
    return InstanceFilters(
        **{name: str(given[name]) for name in InstanceFilters.__dataclass_fields__.keys() & given.keys()}
    )


def _check_exists(project: Project, given: Mapping[str, Any], what: str, names: Iterable[str]) -> None:
    if what in given and given[what] not in set(names):
        raise serializers.ValidationError({what: [f"{project.name} has no {what} called {given[what]}."]})
