"""Who has come to a study: under which name, with how many answers, and whether they count."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef

from annotation.models import Removal, Response, Session
from results.models import Pseudonym
from studies.models import Study

PER_PAGE = 50


@dataclass(frozen=True)
class PersonLine:
    """Somebody who has come to a study. answers: those that have a place in it, whether they count or not; counted:
    those that do. `removal` says why they do not."""

    name: str
    answers: int
    counted: int
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
    given = dict(mine.values_list("annotator_id").annotate(n=Count("pk")))
    counted = dict(mine.counted().values_list("annotator_id").annotate(n=Count("pk")))
    # The person's own wish stands before a researcher's.
    removals = Removal.objects.in_force().filter(project=study.project_id, annotator__in=people).order_by("why")
    why = {each.annotator_id: each for each in removals}
    return [
        PersonLine(
            each.name, given.get(each.annotator_id, 0), counted.get(each.annotator_id, 0), why.get(each.annotator_id)
        )
        for each in named
    ]
