"""Participants of a study: name, number of answers, and whether they count."""

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
    """A participant of a study.

    answers: given; counted: those that count; slots: those that no longer count and still have a slot. `removal`: why.
    """

    name: str
    answers: int
    counted: int
    slots: int
    removal: Removal | None


def people_lines(study: Study, *, who: str, page: Any) -> Page[PersonLine]:
    """Return one page of the participants of `study`, or only the one called `who`; uncounted people first.

    All have names (`results.actions.pseudonyms`).
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
    """Return for each of these annotators whose answers do not count in `project` the reason."""
    # The person's own wish takes precedence over a researcher's.
    removals = Removal.objects.in_force().filter(project=project, annotator__in=people).order_by("why")
    return {each.annotator_id: each for each in removals}
