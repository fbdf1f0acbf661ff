"""Question types that fit a project's instances, each with a question about one of them."""

import random
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

from django.db.models import Min

from studies.actions.questions import About, facts_about, imported_answers, with_placeholders
from studies.actions.studies import columns
from studies.design import read_design
from studies.design.editor import apply_changes
from studies.design.form_fields import STUDIES
from studies.kinds import (
    CAPTIONS,
    IMAGES,
    KINDS,
    AsksAboutAnswers,
    CannotAsk,
    InstanceFacts,
    Kind,
    NewQuestion,
    Roles,
    find_fit,
    get_kind,
    shown_order,
    usual_ask,
)
from studies.models import Instance, InstanceImage, Project, Study
from studies.wording import format_count

# So many instances are tried with each kind, from the first and from the last.
TRIED_AT_EACH_END = 5
MOST_TYPES = 20
# So many different compositions of instances are named.
MOST_IN_WORDS = 3
# Roles are read from so many of the first and of the last instances.
READ_AT_EACH_END = 500


@dataclass(frozen=True)
class QuestionType:
    """A kind as a project can use it.

    `ask`: options that fit its instances, None if none do. `question`: about one of them, None if none can be asked
    yet. `source`: the study whose accepted instances or answers it asks about, "" for the project's instances.
    `lacks_files`: its instances fit, but the files of their images are missing.
    """

    kind: Kind
    ask: Mapping[str, Any] | None = None
    question: NewQuestion | None = None
    source: str = ""
    lacks_files: bool = False

    @property
    def makes_dataset(self) -> bool:
        """Whether a new study that asks such questions accepts instances, unless its purpose is changed."""
        return Study(**columns(read_design(self.study_file()))).accepts

    def study_file(self, **values: str | None) -> str:
        """Return a study file that asks such questions, with these values at its top, those that are not None."""
        usual = usual_ask(self.kind)
        ask = {name: value for name, value in (self.ask or usual).items() if value != usual[name]}
        changes: dict[Any, Any] = {("kind",): self.kind.name, ("ask",): ask or None}
        changes |= {(name,): value for name, value in values.items()}
        changes |= {("instances", "from"): self.source or None}
        return apply_changes("study: x\ntitle: x\n", changes)


def question_types(project: Project) -> Iterator[QuestionType]:
    """Yield every kind, with what it asks about instances of `project`."""
    material = _Material(project)
    return (_fit_type(get_kind(name), material) for name in KINDS)


def question_type(project: Project, name: str) -> QuestionType:
    """Return the kind called `name`, with what it asks about instances of `project`."""
    return _fit_type(get_kind(name), _Material(project))


class _Material:
    """What a project has to ask about: some of its instances and their descriptions, and its studies."""

    def __init__(self, project: Project) -> None:
        own = Instance.objects.filter(project=project)
        ends = [own.order_by(order).values_list("pk", flat=True)[:TRIED_AT_EACH_END] for order in ("pk", "-pk")]
        # Instances of another type may have other roles.
        of_types = own.order_by().values("type", "subtype").annotate(first=Min("pk")).values_list("first", flat=True)
        ids = {*ends[0], *ends[1], *of_types[:MOST_TYPES]}
        self.instances = facts_about(list(map(About, sorted(ids))))
        self.described = facts_about(list(imported_answers(own.filter(pk__in=ids))))
        self.studies = [each for each in Study.objects.filter(project=project) if each.accepts]

    def with_files(self) -> Self:
        """Return the same as if the files of all images were there."""
        filled = copy(self)
        filled.instances = [*map(with_placeholders, self.instances)]
        filled.described = [*map(with_placeholders, self.described)]
        return filled


def _fit_type(kind: Kind, material: _Material) -> QuestionType:
    """Return what `kind` asks about `material`, if need be as if missing files of images were there."""
    found = _fit_now(kind, material)
    if found.ask is not None:
        return found
    filled = _fit_now(kind, material.with_files())
    return found if filled.ask is None else replace(filled, question=None, lacks_files=True)


def _fit_now(kind: Kind, material: _Material) -> QuestionType:
    found = find_fit(kind, material.described if kind.asks_about_answers else material.instances)
    if found is not None:
        return QuestionType(kind, found.ask, found.question)
    tried: set[frozenset[str]] = {frozenset()}
    for study in material.studies:
        asked = [(get_kind(part.kind), part.ask) for part in study.design.parts]
        if isinstance(kind, AsksAboutAnswers):
            answered = [
                each for other, ask in asked for each in _answered_instances(other, ask, kind, material.instances)
            ]
            if (found := find_fit(kind, answered)) is not None:
                return QuestionType(kind, found.ask, found.question, source=study.slug)
            continue
        gained = [other.adds_roles(ask) for other, ask in asked]
        names = frozenset().union(*(roles.all() for roles in gained))
        if names in tried:
            continue
        tried.add(names)
        found = find_fit(kind, [_with_roles(each, gained) for each in material.instances])
        if found is not None:
            return QuestionType(kind, found.ask, found.question, source=study.slug)
    return QuestionType(kind)


def _answered_instances(
    other: Kind, ask: Mapping[str, Any], kind: AsksAboutAnswers, instances: Sequence[InstanceFacts]
) -> Iterator[InstanceFacts]:
    """Yield instances with a simulated answer to a question of `other` that `kind` can ask about."""
    for instance in instances if other.answers_are_sources else ():
        try:
            content = other.questions(instance, ask, seed=instance.key)[0].content
        except CannotAsk:
            continue
        order = shown_order(other, content, seed="", annotator=0, question=0)
        dice = random.Random(instance.key)  # noqa: S311 (an example)
        answer = other.parse(content, order, other.simulate(content, order, dice=dice))
        source = other.as_source(content, answer.value)
        if source is not None and kind.accepts_source(source):
            yield replace(instance, source=source)


def _with_roles(instance: InstanceFacts, gained: Sequence[Roles]) -> InstanceFacts:
    """Return an instance as if acceptance had filled these roles, with its own images and captions."""
    image = [image for images in instance.images.values() for image in images][-1:]
    caption = [*instance.captions.values()][-1:]
    images = {role: image for roles in gained for role in roles.images if image}
    captions = {role: caption[0] for roles in gained for role in roles.captions if caption}
    return replace(instance, images={**images, **instance.images}, captions={**captions, **instance.captions})


def names_in(project: Project, draft: Study | None = None) -> dict[str, list[str]]:
    """Return what a study file of `project` can name: caption roles, image roles, and studies that accept something.

    `draft`: the study whose file it is, which is not its own source. Roles that other studies add are among them; of a
    large project, those of the first and last instances.
    """
    own = Instance.objects.filter(project=project)
    others = Study.objects.filter(project=project).order_by("slug")
    studies = [each for each in others if each.accepts and each != draft]
    captions: dict[str, None] = {}
    images: dict[str, None] = {}
    for order in ("pk", "-pk"):
        some = own.order_by(order)[:READ_AT_EACH_END]
        for each in some.values_list("captions", flat=True):
            captions |= dict.fromkeys(each)
        uses = InstanceImage.objects.filter(instance__in=some.values("pk")).order_by("role")
        images |= dict.fromkeys(uses.values_list("role", flat=True).distinct())
    for study in studies:
        for part in study.design.parts:
            gained = get_kind(part.kind).adds_roles(part.ask)
            captions |= dict.fromkeys(gained.captions)
            images |= dict.fromkeys(gained.images)
    return {CAPTIONS: [*captions], IMAGES: [*images], STUDIES: [each.slug for each in studies]}


def describe_material(project: Project) -> str:
    """Return what instances of `project` have, such as "a caption (caption) and 4 images (set)", by `_Material`."""
    found = dict.fromkeys(map(_in_words, _Material(project).instances))
    return "; others have ".join([*found][:MOST_IN_WORDS])


def _in_words(facts: InstanceFacts) -> str:
    words = [f"a caption ({role})" for role in facts.captions]
    words += [f"{format_count(len(images), 'image')} ({role})" for role, images in facts.images.items()]
    return ", ".join([*words[:-2], " and ".join(words[-2:])]) if words else "no caption and no image"
