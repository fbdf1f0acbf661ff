"""The instances of a project: found by what they are, what they say and where they stand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform

from annotation.models import Decision
from studies.models import Instance, InstanceImage, Project, Question, Study

PER_PAGE = 20
NOT_ASKED, ACCEPTED, REJECTED, UNDECIDED = "not-asked", "accepted", "rejected", "undecided"
STATES = {
    ACCEPTED: "Accepted",
    REJECTED: "Rejected",
    UNDECIDED: "Undecided",
    NOT_ASKED: "Not asked about",
}


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
    state: str

    @property
    def label(self) -> str:
        return STATES[self.state].lower()


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
    places = InstanceImage.objects.filter(instance__in=images).select_related("image")
    for place in places.order_by(F("role").desc(), "position"):
        images[place.instance_id].append(place)
    return images


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
    return _standing_where(found, wanted.study, wanted.state)


def _standing_where(found: QuerySet[Instance], study: str, state: str) -> QuerySet[Instance]:
    decisions = Decision.objects.filter(question__instance=OuterRef("pk"))
    if study:
        decisions = decisions.filter(study__slug=study)
    asked = Exists(decisions)
    rejected = Exists(decisions.filter(state=Decision.State.REJECTED))
    open_still = Exists(decisions.filter(state=Decision.State.UNDECIDED))
    match state:
        case "not-asked":
            return found.filter(~asked)
        case "rejected":
            return found.filter(rejected)
        case "undecided":
            return found.filter(open_still, ~rejected)
        case "accepted":
            return found.filter(asked, ~rejected, ~open_still)
    return found.filter(asked) if study else found


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
    states: dict[tuple[int, int], set[str]] = {}
    ids = [instance.pk for instance in instances]
    decisions = Decision.objects.filter(question__instance__in=ids).order_by()
    for instance, study, state in decisions.values_list("question__instance_id", "study_id", "state"):
        states.setdefault((instance, study), set()).add(state)
    return {
        instance: [
            Standing(study, outcome(states[instance, study.pk])) for study in studies if (instance, study.pk) in states
        ]
        for instance in ids
    }


def outcome(states: set[str]) -> str:
    """Return what became of an instance whose questions in a study are in these states."""
    if Decision.State.REJECTED in states:
        return REJECTED
    return ACCEPTED if states == {Decision.State.ACCEPTED} else UNDECIDED


def asked_about(instance: Instance) -> QuerySet[Question]:
    return Question.objects.filter(instance=instance)
