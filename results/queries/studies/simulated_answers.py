"""Where answers of a program stand among those of people, for the pages that show what follows from them."""

from collections.abc import Iterable, Sequence

from django.db.models import Count, Exists, OuterRef, QuerySet

from annotation.models import Response, Session
from results.reports.facts import Played
from results.reports.simulated_answers import notice_of
from results.simulated import played_by_a_program
from studies.models import Project, Study


def answering() -> QuerySet[Session]:
    """Return the sessions with an answer that counts, in no order."""
    return Session.objects.filter(Exists(Response.objects.counted().filter(session=OuterRef("pk")))).order_by()


def above(study: Study) -> list[Study]:
    """Return the studies that feed `study`, directly or through others, the nearest first."""
    found = []
    while study.fed_by is not None:
        study = study.fed_by
        found.append(study)
    return found


def played_in(studies: Iterable[Study]) -> list[Played]:
    """Return how many of the annotators of each study are a program, where some are; in order of their names."""
    people = Count("annotator", distinct=True)
    counted = answering().filter(study__in=studies).values_list("study__slug")
    found = counted.annotate(
        simulated=Count("annotator", distinct=True, filter=played_by_a_program()), annotators=people
    )
    return [Played(*row) for row in found.filter(simulated__gt=0).order_by("study__slug")]


def simulated_in_study(study: Study) -> str:
    """Return the warning of a page about `study`, "" where people gave every answer that it rests on."""
    return notice_of(played_in([study, *above(study)]))


def simulated_in_project(project: Project) -> str:
    """Return the warning of a page about all studies of `project`."""
    return notice_of(played_in(Study.objects.filter(project=project)))


def simulated_answers(studies: Sequence[Study]) -> QuerySet[Response] | None:
    """Return the counted answers that a program gave in `studies`, None where only people answered."""
    if not Session.objects.filter(played_by_a_program(), study__in=studies).exists():
        return None
    return Response.objects.counted().filter(played_by_a_program("session__"), study__in=studies).order_by()
