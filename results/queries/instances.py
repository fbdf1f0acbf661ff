"""The instances of a project: found by what they are, what they say and where they stand."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform

from analytics.outcomes import Outcome, outcome_of_instance
from annotation.models import Decision
from annotation.models.outcomes import instances_with
from studies.descriptions import SET, descriptions_of
from studies.models import Instance, InstanceImage, Project, Question, Study

PER_PAGE = 20
NOT_ASKED = "not-asked"
# How an outcome stands in addresses, and what people read.
STATES = {outcome.replace(" ", "-"): outcome.capitalize() for outcome in Outcome} | {NOT_ASKED: "Not asked about"}
_OUTCOMES = {outcome.replace(" ", "-"): outcome for outcome in Outcome}


@dataclass(frozen=True)
class Wanted:
    """What the list is narrowed to; "" leaves it as wide as it is. `study` is one of the project's, by its slug."""

    type: str = ""
    subtype: str = ""
    study: str = ""
    state: str = ""
    words: str = ""


@dataclass(frozen=True)
class Standing:
    """What a study has made of an instance so far."""

    study: Study
    outcome: Outcome


@dataclass(frozen=True)
class InstanceLine:
    instance: Instance
    images: Sequence[InstanceImage]
    standings: Sequence[Standing]


def instance_lines(project: Project, studies: Sequence[Study], wanted: Wanted, page: Any) -> Page[InstanceLine]:
    """Return one page of the instances that are wanted, with where they stand in `studies`, the project's in order."""
    found: Page[Any] = Paginator(_found(project, wanted), PER_PAGE).get_page(page)
    instances = list(found.object_list)
    images = images_of(instances)
    standings = _standings(instances, studies)
    found.object_list = [InstanceLine(instance, images[instance.pk], standings[instance.pk]) for instance in instances]
    return found


def images_of(instances: Iterable[Instance]) -> dict[int, list[InstanceImage]]:
    """Return the pictures of each instance, those that stand alone in their role first."""
    images: dict[int, list[InstanceImage]] = {instance.pk: [] for instance in instances}
    uses = InstanceImage.objects.filter(instance__in=images).select_related("image")
    for use in uses.order_by(F("role").desc(), "position"):
        images[use.instance_id].append(use)
    return images


def named_images(images: Sequence[InstanceImage]) -> list[tuple[str, InstanceImage]]:
    """Return each picture of one instance with what options call it: its role, and its place where there are several.

    Example: `image`, but `set-0` to `set-9`.
    """
    so_many = Counter(use.role for use in images)
    return [(f"{use.role}-{use.position}" if so_many[use.role] > 1 else use.role, use) for use in images]


def one_origin(images: Sequence[InstanceImage]) -> InstanceImage | None:
    """Return one of several pictures that all have the same source, licence and generator, None where they differ."""
    origins = {(use.image_id is None, use.source, use.licence, use.generator) for use in images}
    return images[0] if len(images) > 1 and len(origins) == 1 and images[0].image_id else None


def told_of(instance: Instance) -> dict[str, str]:
    """Return what the import knew about descriptions of an image set: role -> a few words."""
    found = {}
    for each in descriptions_of(instance.captions, instance.reference):
        words = [] if each.target is None else [f"about {SET}-{each.target}"]
        words += filter(None, [each.author.replace("_", " ")])
        words += [f"phenomena: {', '.join(each.tags) or 'none'}"] if each.looked_for else []
        found[each.role] = " · ".join(words)
    return found


def categories_of(project: Project) -> list[tuple[str, str]]:
    """Return the types and subtypes that the project's instances have, in order."""
    found = Instance.objects.filter(project=project).order_by("type", "subtype")
    return list(found.values_list("type", "subtype").distinct())


def _found(project: Project, wanted: Wanted) -> QuerySet[Instance]:
    found = Instance.objects.filter(project=project).order_by("source_file", "source_row", "pk")
    if wanted.type:
        found = found.filter(type=wanted.type)
    if wanted.subtype:
        found = found.filter(subtype=wanted.subtype)
    if wanted.words:
        found = found.filter(_says(project, wanted.words))
    studies = Study.objects.filter(project=project, **({"slug": wanted.study} if wanted.study else {}))
    asked = _asked_by(studies)
    if wanted.state == NOT_ASKED:
        return found.filter(~asked)
    if wanted.state in _OUTCOMES:
        outcome = _OUTCOMES[wanted.state]
        standing = _in_any(studies, outcome) if wanted.study else _in_project(project, outcome)
        return found.filter(standing)
    return found.filter(asked) if wanted.study else found


def _asked_by(studies: Iterable[Study]) -> Exists:
    return Exists(Question.objects.filter(instance=OuterRef("pk"), study__in=studies))


def _in_any(studies: Iterable[Study], outcome: Outcome) -> Q:
    standing = Q(pk__in=[])
    for study in studies:
        standing |= Q(pk__in=instances_with(outcome, study).values("pk"))
    return standing


def _in_project(project: Project, outcome: Outcome) -> Q:
    """Match the instances that stand so in the project: in the study that keeps the dataset, or, where that has not
    asked about them yet, in the last study before it. Accepted there only, they have no outcome yet."""
    if project.dataset is None or outcome is Outcome.AGREED:
        return _in_any(Study.objects.filter(project=project), outcome)
    way = [project.dataset]
    while (feeding := way[-1].fed_by) is not None:
        way.append(feeding)
    standing = _in_any(way[:1], outcome)
    for index, study in enumerate(way[1:], start=1):
        here = _in_any([study], outcome) if outcome is not Outcome.ACCEPTED else Q(pk__in=[])
        if outcome is Outcome.NONE_YET:
            here |= _in_any([study], Outcome.ACCEPTED)
        standing |= here & ~Q(_asked_by(way[:index]))
    return standing


def _says(project: Project, words: str) -> Q:
    """Match the key and the captions, but not the names of their roles."""
    captions = Instance.objects.filter(project=project).order_by().values_list("captions", flat=True)
    roles = {role for of_one in captions.iterator() for role in of_one}
    matches = Q(key__icontains=words)
    for role in sorted(roles):
        saying = Instance.objects.annotate(said=KeyTextTransform(role, "captions"))
        matches |= Q(Exists(saying.filter(pk=OuterRef("pk"), said__icontains=words)))
    return matches


def _standings(instances: Iterable[Instance], studies: Sequence[Study]) -> Mapping[int, Sequence[Standing]]:
    outcomes: dict[tuple[int, int], set[Outcome]] = {}
    by_id = {study.pk: study for study in studies}
    ids = [instance.pk for instance in instances]
    decisions = (
        Decision.objects.filter(question__instance__in=ids, study__in=by_id).order_by().select_related("question")
    )
    for decision in decisions.defer("question__content", "question__won"):
        decision.question.study = by_id[decision.study_id]
        of_one = outcomes.setdefault((decision.question.instance_id, decision.study_id), set())
        of_one.add(decision.outcome)
    return {
        instance: [
            Standing(study, outcome_of_instance(outcomes[instance, study.pk]))
            for study in studies
            if (instance, study.pk) in outcomes
        ]
        for instance in ids
    }


def asked_about(instance: Instance) -> QuerySet[Question]:
    return Question.objects.filter(instance=instance)
