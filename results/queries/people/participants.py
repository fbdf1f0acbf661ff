"""Participants of a study or of a whole project: name, number of answers, and whether they count."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Removal, Response, Session
from annotation.models.responses import counts
from results.models import Pseudonym
from studies.models import Project, Study

PER_PAGE = 50


@dataclass(frozen=True)
class PersonLine:
    """A participant.

    answers: given; counted: those that count; slots: those that no longer count and still have a slot. `removal`: why.
    `studies`: the studies of their sessions, in order of arrival.
    """

    name: str
    answers: int
    counted: int
    slots: int
    removal: Removal | None
    studies: Sequence[str]


def people_lines(project: Project, *, study: Study | None = None, who: str, page: Any) -> Page[PersonLine]:
    """Return one page of the participants of `project` or of one `study`, or only the one called `who`.

    People whose answers do not count come first. All have names (`results.actions.pseudonyms`).
    """
    studies = Study.objects.filter(project=project) if study is None else Study.objects.filter(pk=study.pk)
    named = Pseudonym.objects.filter(project=project)
    named = named.filter(Exists(Session.objects.filter(study__in=studies, annotator=OuterRef("annotator_id"))))
    if who:
        named = named.filter(name=who)
    removed = Removal.objects.in_force().filter(project=project, annotator=OuterRef("annotator_id"))
    ordered = named.annotate(removed=Exists(removed)).order_by("-removed", "name")
    found: Page[Any] = Paginator(ordered, PER_PAGE).get_page(page)
    found.object_list = _lines(project, studies, list(found.object_list))
    return found


def _lines(project: Project, studies: QuerySet[Study], named: Sequence[Pseudonym]) -> list[PersonLine]:
    people = [each.annotator_id for each in named]
    mine = Response.objects.filter(study__in=studies, annotator__in=people, is_current=True).order_by()
    numbers = mine.values_list("annotator_id").annotate(
        answers=Count("pk"),
        counted=Count("pk", filter=counts()),
        left=Count("pk", filter=Q(slot__isnull=False) & ~Q(left_out="")),
    )
    given = {annotator: (answers, counted, left) for annotator, answers, counted, left in numbers}
    took_part: dict[int, dict[str, None]] = {}
    sessions = Session.objects.filter(study__in=studies, annotator__in=people).order_by("arrived_at", "pk")
    for annotator, slug in sessions.values_list("annotator_id", "study__slug"):
        took_part.setdefault(annotator, {})[slug] = None
    why = removals_of(people, project=project)
    return [
        PersonLine(
            each.name,
            *given.get(each.annotator_id, (0, 0, 0)),
            why.get(each.annotator_id),
            list(took_part.get(each.annotator_id, ())),
        )
        for each in named
    ]


def removals_of(people: Collection[int], *, project: Project) -> dict[int, Removal]:
    """Return for each of these annotators whose answers do not count in `project` the reason."""
    # The person's own wish takes precedence over a researcher's.
    removals = Removal.objects.in_force().filter(project=project, annotator__in=people).order_by("why")
    return {each.annotator_id: each for each in removals}
