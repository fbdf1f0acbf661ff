"""Who has come to a study: under which name, with how many answers, and whether they count."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q

from annotation.models import Removal, Response, Session
from annotation.models.responses import counts
from results.models import Pseudonym
from studies.models import Project, Study

PER_PAGE = 50


@dataclass(frozen=True)
class PersonLine:
    """Somebody who has come to a study. answers: those they gave, counted: those that count, slots: those that count no
    more and still have a slot. `removal` says why."""

    name: str
    answers: int
    counted: int
    slots: int
    removal: Removal | None


def people_lines(study: Study, *, who: str, page: Any) -> Page[PersonLine]:
    """Return one page of who has come to `study`, or only the one called `who`; those who do not count first.

    Everybody has a name already (see `results.actions.pseudonyms`).
    """
    named = Pseudonym.objects.filter(project=study.project_id)
    named = named.filter(Exists(Session.objects.filter(study=study, annotator=OuterRef("annotator_id"))))
    if who:
        named = named.filter(name=who)
    removed = Removal.objects.in_force().filter(project=study.project_id, annotator=OuterRef("annotator_id"))
    ordered = named.annotate(removed=Exists(removed)).order_by("-removed", "name")
    found: Page[Any] = Paginator(ordered, PER_PAGE).get_page(page)
    found.object_list = _lines(study, list(found.object_list))
    return found


def _lines(study: Study, named: Sequence[Pseudonym]) -> list[PersonLine]:
    people = [each.annotator_id for each in named]
    mine = Response.objects.filter(study=study, annotator__in=people, is_current=True).order_by()
    numbers = mine.values_list("annotator_id").annotate(
        answers=Count("pk"),
        counted=Count("pk", filter=counts()),
        left=Count("pk", filter=Q(slot__isnull=False) & ~Q(left_out="")),
    )
    given = {annotator: (answers, counted, left) for annotator, answers, counted, left in numbers}
    why = removals_of(people, project=study.project)
    lines = []
    for each in named:
        answers, counted, left = given.get(each.annotator_id, (0, 0, 0))
        lines.append(PersonLine(each.name, answers, counted, left, why.get(each.annotator_id)))
    return lines


def removals_of(people: Collection[int], *, project: Project) -> dict[int, Removal]:
    """Return of each of these annotators whose answers count nowhere in `project` why that is."""
    # The person's own wish stands before a researcher's.
    removals = Removal.objects.in_force().filter(project=project, annotator__in=people).order_by("why")
    return {each.annotator_id: each for each in removals}
