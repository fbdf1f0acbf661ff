"""The pipeline file: a graph of stages, each of which makes candidates from those of another. Pure.

Jobs make the candidates of most stages; in the others people accept or reject them. docs/making.md describes it.
"""

import difflib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationError

from making.filters import FILTERS, BaseFilter, Filter, StageFilter, get_filter
from making.makers import MAKERS, Maker, get_maker, maker_names
from making.options import Currency, Options
from making.tokens import Cost
from studies.design.checks import Findings, check_design, check_schema, check_texts, nearest_line
from studies.design.model import Design
from studies.design.parser import Path, read_values
from studies.design.problems import DesignRefused, Problem
from studies.importing.base import problem_with_role
from studies.kinds import get_kind

FILE, GUIDE = "pipeline file", "docs/making.md"
# The name of what a pipeline begins with, beside the names of its stages.
START = "start"
# Candidates of one stage per candidate that it makes them from.
MOST_EACH = 100
_NAME = r"^[a-z][-a-z0-9]{0,49}$(?!\n)"
_ROLE = r"^[a-z][a-z0-9_]{0,29}$(?!\n)"
_ROLE_OR_NONE = r"^([a-z][a-z0-9_]{0,29})?$(?!\n)"


class Start(Options):
    """Where a pipeline begins: the captions in `role` of the project's instances.

    `images`: the role of the images that makers of images read, the first of each instance; "" for none.
    """

    role: str = Field(pattern=_ROLE, description="Write lower-case letters, digits and _.")
    images: str = Field(default="", pattern=_ROLE_OR_NONE, description="Write lower-case letters, digits and _.")


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


SourceText = Annotated[
    str,
    Field(
        pattern=r"^[a-z][-a-z0-9_]*(\.[a-z][a-z0-9_]*)?$(?!\n)",
        description="Write the name of a stage or role, or both with a dot between them, such as choose.caption.",
    ),
]


class Instances(Options):
    """The instances that come of a pipeline: one for each text of the stage `of` that was kept.

    `least_images`: an instance needs so many images of each stage that makes them.
    """

    of: str = Field(description="The start, or the stage, whose texts become instances.")
    captions: dict[str, SourceText] = Field(
        min_length=1, description="Role of the instance -> the start, a stage, start.ROLE or STUDY.ROLE."
    )
    images: dict[str, SourceText] = Field(
        default_factory=dict,
        description="Role of the instance -> a stage that makes images, STUDY.ROLE, or a role of the source instance.",
    )
    least_images: int = Field(
        default=1, ge=1, le=MOST_EACH, description="The minimum number of images of a stage per text."
    )
    type: str = Field(default="", max_length=50, description="The type of the instances; without it, the source's.")


class AskedStage(Options):
    """A stage that people make: a study about instances of candidates keeps what people accept.

    `role`: the caption of accepted instances that other stages read. `launch`: the study is launched at once; without
    it, its draft waits for a person. `study`: a study file without `instances`; its name may be left out.
    """

    name: str = Field(pattern=_NAME, description="Write at most 50 lower-case letters, digits and -.")
    instances: Instances
    role: str = Field(default="", description="The role whose captions other stages read.")
    launch: bool = Field(default=False, description="Launch the study as soon as there are instances.")
    study: dict[str, Any] = Field(description="A study file without `instances`.")

    @property
    def of(self) -> str:
        return self.instances.of


class Source(NamedTuple):
    """Where a caption or an image of an instance comes from: a stage, and a role of an instance there, or ""."""

    stage: str
    role: str = ""


def read_source(text: str) -> Source:
    """Return the source that STAGE or STAGE.ROLE names."""
    stage, _, role = text.partition(".")
    return Source(stage, role)


class Device(Options):
    """What the device of a worker with models costs in an hour, for the report."""

    currency: Currency
    hour: float = Field(ge=0, le=1_000_000, description="The price of an hour, such as 2.50.")

    def cost_of(self, hours: float) -> Cost:
        return Cost(Decimal(str(self.hour)) * Decimal(str(hours)), self.currency)


class PipelineFile(Options):
    """A checked pipeline file."""

    version: Literal[1] = 1
    name: str = Field(pattern=_NAME, description="Write at most 50 lower-case letters, digits and -.")
    seed: int = Field(default=0, ge=0, le=2**31 - 1, description="Decides every random choice.")
    start: Start
    stages: list[Stage] = Field(min_length=1, max_length=50)
    studies: list[AskedStage] = Field(default_factory=list, max_length=20, description="Stages that people make.")
    instances: Instances | None = None
    device: Device | None = None

    @cached_property
    def by_name(self) -> Mapping[str, Stage | AskedStage]:
        made: dict[str, Stage | AskedStage] = {stage.name: stage for stage in self.stages}
        return made | {stage.name: stage for stage in self.studies}

    @cached_property
    def ordered_stages(self) -> Sequence[Stage | AskedStage]:
        """Return all stages such that each comes after those that it makes candidates from."""
        before = {stage.name: [stage.of] for stage in self.stages}
        for asked in self.studies:
            images = {read_source(source).stage for source in asked.instances.images.values()}
            before[asked.name] = [asked.of, *sorted(images & self.by_name.keys())]
        return [self.by_name[name] for name in TopologicalSorter(before).static_order() if name in self.by_name]

    @property
    def all_instances(self) -> Sequence[Instances]:
        """Return what is said of instances: those that studies ask about, and those that the pipeline ends with."""
        return [*(stage.instances for stage in self.studies), *([self.instances] if self.instances else [])]

    @cached_property
    def asked(self) -> Mapping[str, AskedStage]:
        """Return the stages that people make, by name."""
        return {stage.name: stage for stage in self.studies}

    def name_of_study(self, stage: AskedStage) -> str:
        """Return the name of the study of a stage, which is also the tag of the instances that it asks about."""
        return str(stage.study.get("study", f"{self.name}-{stage.name}"))

    def study_values(self, stage: AskedStage) -> dict[str, Any]:
        """Return the whole study file of a stage, as plain values."""
        name = self.name_of_study(stage)
        return stage.study | {"study": name, "instances": {"tags": [name]}}

    def design(self, stage: AskedStage) -> Design:
        """Return the design of the study of a stage."""
        return check_design(self.study_values(stage))

    @property
    def image_stages(self) -> Mapping[str, Stage]:
        """Return the stages that make images, by name."""
        return {stage.name: stage for stage in self.stages if stage.maker.makes_images}

    def root_of(self, stage: Stage) -> tuple[str, int]:
        """Return the stage of texts, or the start, that a stage of images goes back to, and its distance from there.

        Example: 1 if it makes images of texts, or of the images of the start.
        """
        images, root, distance = self.image_stages, stage.of, 1
        while root in images:
            root, distance = images[root].of, distance + 1
        return root, distance

    def line_of(self, name: str) -> list[str]:
        """Return the names from a stage back to the start."""
        found = [name]
        while found[-1] in self.by_name:
            found.append(self.by_name[found[-1]].of)
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
    schema = PipelineFile.model_json_schema()
    # Without the alternative of nothing, so that problems inside are named.
    schema["properties"] |= {name: {"$ref": f"#/$defs/{name.title()}"} for name in ("instances", "device")}
    return schema


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
    places = [*(("stages", number) for number in range(len(pipeline.stages)))]
    places += [("studies", number) for number in range(len(pipeline.studies))]
    names = [*(stage.name for stage in pipeline.stages), *(stage.name for stage in pipeline.studies)]
    known = [START, *names]
    if len({*known}) < len(known):
        again = next(place for place, name in enumerate(names) if name in known[: place + 1])
        sentence = f"`{names[again]}` is already the name of a stage or of the start. Choose another name."
        yield (*places[again], "name"), sentence
        return
    images = pipeline.image_stages
    for number, stage in enumerate(pipeline.stages):
        if stage.of not in known:
            yield ("stages", number, "of"), f"`{stage.of}` is not a stage. {_nearest(stage.of, known)}"
        if problem := _problem_with_input(pipeline, stage):
            yield ("stages", number, "of"), problem
        for inside, sentence in _check_filters(stage):
            yield ("stages", number, "filters", *inside), sentence
        if stage.of in pipeline.asked and not pipeline.asked[stage.of].role:
            yield ("stages", number, "of"), f"`{stage.of}` is a study. Name in its `role` the captions to read."
    sections: list[tuple[Path, Instances]] = [
        (("studies", number, "instances"), asked.instances) for number, asked in enumerate(pipeline.studies)
    ]
    if pipeline.instances is not None:
        sections.append((("instances",), pipeline.instances))
    for path, section in sections:
        if section.of not in known or section.of in images:
            texts = [name for name in known if name not in images]
            yield (*path, "of"), f"`{section.of}` does not make texts. {_nearest(section.of, texts)}"
    try:
        list(pipeline.ordered_stages)
    except CycleError as error:
        circle = " of ".join(f"`{name}`" for name in error.args[1])
        yield ("stages",), f"The stages form a cycle: {circle}. Let one of them read `{START}`."
        return
    for path, section in sections:
        if section.of in known and section.of not in images and all(stage.of in known for stage in pipeline.stages):
            yield from _check_instances(pipeline, section, path)
    yield from _check_studies(pipeline)
    for number, stage in enumerate(pipeline.stages):
        asked = [name for name in pipeline.line_of(stage.name) if name in pipeline.asked]
        for place, (name, each) in enumerate(stage.checked_filters):
            if asked and isinstance(each, StageFilter):
                yield (
                    ("stages", number, "filters", place),
                    f"`{name}` must see all candidates of `{stage.name}` at once, but those of `{asked[0]}` come one "
                    "after another. Remove it.",
                )


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


def _problem_with_input(pipeline: PipelineFile, stage: Stage) -> str:
    """Return why a stage cannot read what it is made of, as a sentence, "" if it can."""
    of_images = stage.of in pipeline.image_stages
    if not stage.maker.reads_images:
        wrong = f"`{stage.of}` makes images, but `{stage.make}` reads texts. Read a stage of texts."
        return wrong if of_images else ""
    if not pipeline.start.images:
        return f"`{stage.make}` reads images. Name their role in `start`, such as `images: image`."
    if of_images or stage.of == START:
        return ""
    return f"`{stage.of}` makes texts, but `{stage.make}` reads images. Read the start or a stage of images."


def _check_instances(pipeline: PipelineFile, instances: Instances, path: Path) -> Findings:
    line = pipeline.line_of(instances.of)
    for role, text in instances.images.items():
        if reason := _problem_with_images(pipeline, text, line, instances.of):
            yield (*path, "images", role), reason
    for section, roles in (("captions", instances.captions), ("images", instances.images)):
        for role in roles:
            if reason := problem_with_role(role):
                yield (*path, section, role), reason
    for role, text in instances.captions.items():
        source = read_source(text)
        inside = (*path, "captions", role)
        if source.stage not in line:
            yield inside, f"`{source.stage}` does not lead to `{instances.of}`. Choose one of: {', '.join(line)}."
        elif source.role and source.stage != START and source.stage not in pipeline.asked:
            yield inside, f"`{source.stage}` makes single texts, without roles. Write `{source.stage}` alone."
        elif not source.role and source.stage in pipeline.asked and not pipeline.asked[source.stage].role:
            yield inside, f"`{source.stage}` is a study. Write the role of a caption, as in `{source.stage}.caption`."


def _problem_with_images(pipeline: PipelineFile, text: str, line: Sequence[str], of: str) -> str:
    """Return why `text` is no source of images for instances of the stage `of`, "" if it is one."""
    source = read_source(text)
    stage = pipeline.image_stages.get(source.stage)
    if stage is not None and pipeline.root_of(stage)[0] not in line:
        return f"`{source.stage}` makes images of `{stage.of}`, which does not lead to `{of}`."
    if stage is None and source.role and source.stage not in line:
        return f"`{source.stage}` does not lead to `{of}`. Choose one of: {', '.join(line)}."
    if stage is None and source.role and source.stage != START and source.stage not in pipeline.asked:
        return f"`{source.stage}` makes texts, and no images."
    if stage is None and not source.role and source.stage in pipeline.asked:
        return f"`{source.stage}` is a study. Write the role of an image, as in `{source.stage}.image`."
    return ""


def _check_studies(pipeline: PipelineFile) -> Findings:
    read = {stage.of for stage in pipeline.by_name.values()}
    read |= {pipeline.instances.of} if pipeline.instances is not None else set()
    names: set[str] = set()
    for number, asked in enumerate(pipeline.studies):
        path, name = ("studies", number), pipeline.name_of_study(asked)
        if name in names:
            yield (*path, "study"), f"Two studies are called {name}. Give one of them another `study`."
        names.add(name)
        if "instances" in asked.study:
            yield (
                (*path, "study", "instances"),
                "Leave `instances` out: the stage says which instances are asked about.",
            )
            continue
        try:
            design = pipeline.design(asked)
        except DesignRefused as error:
            yield from (((*path, "study", *problem.path), problem.message) for problem in error.problems)
            continue
        if asked.name in read and not design.accepts:
            sentence = f"The study accepts nothing, because its purpose is {design.purpose}, and other stages read it."
            yield (*path, "study"), sentence
        if asked.launch and not design.contact:
            yield (
                (*path, "study", "contact"),
                "Fill in `contact`: a study that is launched needs a person whom annotators can write to.",
            )
        added = {role for part in design.parts for role in get_kind(part.kind).adds_roles(part.ask).captions}
        if asked.role and asked.role not in added | asked.instances.captions.keys():
            known = ", ".join(sorted(added | asked.instances.captions.keys()))
            yield (*path, "role"), f"Instances of the study have no caption {asked.role}. Choose one of: {known}."
