"""The pipeline file: a graph of stages, each of which makes candidates from those of another. Pure.

docs/making.md describes it.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal

from pydantic import Field, ValidationError

from making.filters import FILTERS, BaseFilter, Filter, get_filter
from making.makers import MAKERS, Maker, get_maker, maker_names
from making.options import Options
from studies.design.checks import Findings, check_schema, check_texts, nearest_line
from studies.design.parser import read_values
from studies.design.problems import DesignRefused, Problem
from studies.importing.base import problem_with_role

FILE, GUIDE = "pipeline file", "docs/making.md"
# The name of what a pipeline begins with, beside the names of its stages.
START = "start"
# Candidates of one stage per candidate that it makes them from.
MOST_EACH = 100
_NAME = r"^[a-z][-a-z0-9]{0,49}$(?!\n)"
_ROLE = r"^[a-z][a-z0-9_]{0,29}$(?!\n)"


class Start(Options):
    """Where a pipeline begins: the captions in `role` of the project's instances."""

    role: str = Field(pattern=_ROLE, description="Write lower-case letters, digits and _.")


class Stage(Options):
    """What makes candidates, out of what, and which filters they must pass."""

    name: str = Field(pattern=_NAME, description="Write at most 50 lower-case letters, digits and -.")
    make: str = Field(description="The maker, FAMILY:POLICY.")
    of: str = Field(default=START, description="The stage whose texts it reads, or start.")
    count: int = Field(default=1, ge=1, le=MOST_EACH, description="The maximum number of candidates per text.")
    licence: str = Field(default="", max_length=200, description="The licence of the images that it makes.")
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the maker.")
    filters: list[dict[str, Any]] = Field(default_factory=list, description="Filters, in the order of use.")

    @property
    def maker(self) -> Maker:
        return get_maker(self.make.partition(":")[0]).model_validate(self.options)

    @property
    def policy(self) -> str:
        return self.make.partition(":")[2]

    @property
    def checked_filters(self) -> list[tuple[str, BaseFilter]]:
        """Return the filters with their options, each with a name of its own: toxicity, toxicity-2."""
        names = [each["filter"] for each in self.filters]
        times = [names[:place].count(name) for place, name in enumerate(names, start=1)]
        return [
            (name if time == 1 else f"{name}-{time}", get_filter(name).model_validate(_without_name(each)))
            for name, time, each in zip(names, times, self.filters, strict=True)
        ]

    @property
    def first_filters(self) -> list[tuple[str, Filter]]:
        """Return the filters at the beginning that judge on the site, while candidates are made."""
        found: list[tuple[str, Filter]] = []
        for name, each in self.checked_filters:
            if not isinstance(each, Filter):
                break
            found.append((name, each))
        return found

    @property
    def later_filters(self) -> range:
        """Return the places, from 1, of the other filters: candidates wait for these, one after another."""
        return range(len(self.first_filters) + 1, len(self.filters) + 1)


class Instances(Options):
    """The instances that come of a pipeline: one for each text of the stage `of` that was kept.

    `least_images`: an instance needs so many images of each stage that makes them.
    """

    of: str = Field(description="The start, or the stage, whose texts become instances.")
    captions: dict[str, str] = Field(min_length=1, description="Role of the instance -> the start, or a stage.")
    images: dict[str, str] = Field(
        default_factory=dict,
        description="Role of the instance -> a stage that makes images, or a role of the source instance.",
    )
    least_images: int = Field(
        default=1, ge=1, le=MOST_EACH, description="The minimum number of images of a stage per text."
    )
    type: str = Field(default="", max_length=50, description="The type of the instances; without it, the source's.")


class PipelineFile(Options):
    """A checked pipeline file."""

    version: Literal[1] = 1
    name: str = Field(pattern=_NAME, description="Write at most 50 lower-case letters, digits and -.")
    seed: int = Field(default=0, ge=0, le=2**31 - 1, description="Decides every random choice.")
    start: Start
    stages: list[Stage] = Field(min_length=1, max_length=50)
    instances: Instances | None = None

    @cached_property
    def ordered_stages(self) -> Sequence[Stage]:
        """Return the stages such that each comes after the one that it makes candidates from."""
        by_name = {stage.name: stage for stage in self.stages}
        order = TopologicalSorter({stage.name: [stage.of] for stage in self.stages}).static_order()
        return [by_name[name] for name in order if name in by_name]

    @property
    def image_stages(self) -> Mapping[str, Stage]:
        """Return the stages that make images, by name."""
        return {stage.name: stage for stage in self.stages if stage.maker.makes_images}

    def line_of(self, name: str) -> list[str]:
        """Return the names from a stage back to the start."""
        by_name = {stage.name: stage for stage in self.stages}
        found = [name]
        while found[-1] in by_name:
            found.append(by_name[found[-1]].of)
        return found


def read_pipeline(text: str) -> PipelineFile:
    """Return a checked pipeline. Raises DesignRefused with all problems found, each with its line."""
    values, lines = read_values(text, file=FILE, guide=GUIDE)
    findings = [*check_texts(values)] or [*check_schema(values, _schema(), (), file=FILE)] or [*_check_stages(values)]
    if not findings:
        pipeline = PipelineFile.model_validate(values)
        findings = [*_check_graph(pipeline)]
    if findings:
        problems = [Problem(nearest_line(lines, path), sentence) for path, sentence in findings]
        raise DesignRefused(sorted(problems, key=lambda problem: problem.line or 0))
    return pipeline


def _schema() -> Mapping[str, Any]:
    return PipelineFile.model_json_schema()


def _check_stages(values: Mapping[str, Any]) -> Findings:
    for number, stage in enumerate(values["stages"]):
        path = ("stages", number)
        family, _, policy = stage["make"].partition(":")
        if family not in MAKERS or not get_maker(family).accepts(policy):
            yield (*path, "make"), f"`{stage['make']}` is not a maker. {_nearest(stage['make'], maker_names())}"
        else:
            yield from _check_options(get_maker(family), stage.get("options", {}), (*path, "options"))
        for place, each in enumerate(stage.get("filters", [])):
            inside = (*path, "filters", place)
            if each.get("filter") not in FILTERS:
                yield inside, f"`filter` must name a filter. {_nearest(str(each.get('filter', '')), [*FILTERS])}"
            else:
                yield from _check_options(get_filter(each["filter"]), _without_name(each), inside)


def _check_options(wanted: type[Options], values: Mapping[str, Any], path: tuple[str | int, ...]) -> Findings:
    found = [*check_schema(values, wanted.model_json_schema(), path, file=FILE)]
    yield from found
    if not found:
        try:
            wanted.model_validate(values)
        except ValidationError as error:
            for each in error.errors():
                # What a schema cannot say is said by the sentence of a ValueError.
                yield (*path, *each["loc"]), str(each["ctx"]["error"] if "ctx" in each else each["msg"])


def _without_name(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if name != "filter"}


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean `{near[0]}`?" if near else f"Known are: {', '.join(known)}."


def _check_graph(pipeline: PipelineFile) -> Findings:
    names = [stage.name for stage in pipeline.stages]
    known = [START, *names]
    if len({*known}) < len(known):
        again = next(place for place, name in enumerate(names) if name in known[: place + 1])
        sentence = f"`{names[again]}` is already the name of a stage or of the start. Choose another name."
        yield ("stages", again, "name"), sentence
        return
    images = pipeline.image_stages
    for number, stage in enumerate(pipeline.stages):
        if stage.of not in known:
            yield ("stages", number, "of"), f"`{stage.of}` is not a stage. {_nearest(stage.of, known)}"
        if stage.of in images:
            yield (
                ("stages", number, "of"),
                f"`{stage.of}` makes images, but `{stage.make}` reads texts. Read a stage of texts.",
            )
        for path, sentence in _check_filters(stage):
            yield ("stages", number, "filters", *path), sentence
    try:
        list(pipeline.ordered_stages)
    except CycleError as error:
        circle = " of ".join(f"`{name}`" for name in error.args[1])
        yield ("stages",), f"The stages form a cycle: {circle}. Let one of them read `{START}`."
        return
    if pipeline.instances is not None and all(stage.of in known for stage in pipeline.stages):
        texts = [name for name in known if name not in images]
        yield from _check_instances(pipeline, pipeline.instances, texts)


def _check_filters(stage: Stage) -> Findings:
    """Yield what is wrong with the filters of a stage together."""
    before: list[str] = []
    for place, (name, each) in enumerate(stage.checked_filters):
        if stage.maker.makes_images and not each.of_images:
            yield (place,), f"The filter `{name}` works on texts, but `{stage.make}` makes images. Remove it."
        if not stage.maker.makes_images and not each.of_texts:
            yield (place,), f"The filter `{name}` works on images, but `{stage.make}` makes texts. Remove it."
        for other in each.measured_by:
            if other not in before:
                yield (place,), f"`{name}` uses the scores of `{other}`. Put the filter `{other}` before it."
        before.append(name)


def _check_instances(pipeline: PipelineFile, instances: Instances, texts: Sequence[str]) -> Iterator[tuple[Any, str]]:
    if instances.of not in texts:
        yield ("instances", "of"), f"`{instances.of}` does not make texts. {_nearest(instances.of, texts)}"
        return
    line = pipeline.line_of(instances.of)
    for role, source in instances.images.items():
        stage = pipeline.image_stages.get(source)
        if stage is not None and stage.of not in line:
            sentence = f"`{source}` makes images of `{stage.of}`, which does not lead to `{instances.of}`."
            yield ("instances", "images", role), sentence
    for section, roles in (("captions", instances.captions), ("images", instances.images)):
        for role in roles:
            if reason := problem_with_role(role):
                yield ("instances", section, role), reason
    for role, source in instances.captions.items():
        if source not in line:
            yield (
                ("instances", "captions", role),
                f"`{source}` does not lead to `{instances.of}`. Choose one of: {', '.join(line)}.",
            )
