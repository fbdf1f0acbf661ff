"""Simulated answers among those of people, for warnings on pages."""

from collections.abc import Iterable, Sequence

from django.db.models import Count, Exists, OuterRef, QuerySet, Value
from django.db.models.expressions import Combinable

from annotation.models import Response, Session
from annotation.simulation_ids import is_simulated
from results.reports.facts import SimulatedStudy
from results.reports.simulated_answers import notice_of
from studies.actions.questions import upstream_studies
from studies.models import Project, Study


def answering_sessions() -> QuerySet[Session]:
    """Return the sessions with a counted answer, unordered."""
    return Session.objects.filter(Exists(Response.objects.counted().filter(session=OuterRef("pk")))).order_by()


def simulated_studies(studies: Iterable[Study]) -> list[SimulatedStudy]:
    """Return the number of simulated annotators of each study that has any, by name of the study."""
    # Most studies have no simulated session, and looking for the answers of each session takes long.
    played = Session.objects.filter(is_simulated(), study__in=studies).order_by().values("study")
    counted = answering_sessions().filter(study__in=played).values_list("study__slug")
    found = counted.annotate(
        simulated=Count("annotator", distinct=True, filter=is_simulated()),
        annotators=Count("annotator", distinct=True),
    )
    return [SimulatedStudy(*row) for row in found.filter(simulated__gt=0).order_by("study__slug")]


def simulated_in_study(study: Study) -> str:
    """Return the warning for a page about `study`, "" if people gave all answers behind it."""
    return notice_of(simulated_studies([study, *upstream_studies(study)]))


def simulated_in_project(project: Project) -> str:
    """Return the warning for a page about all studies of `project`."""
    return notice_of(simulated_studies(Study.objects.filter(project=project)))


def all_simulated(sessions: QuerySet[Session]) -> bool:
    """Whether all of `sessions` are simulated, so that nobody is really owed anything; False without any."""
    return sessions.filter(is_simulated()).exists() and not sessions.exclude(is_simulated()).exists()


def has_simulated_answer(studies: Sequence[Study], **about: OuterRef) -> Combinable:
    """Whether a program gave a counted answer in `studies`; about: lookup -> what it must be about."""
    if not Session.objects.filter(is_simulated(), study__in=studies).exists():
        return Value(False)
    answers = Response.objects.counted().filter(is_simulated("session__"), study__in=studies)
    return Exists(answers.order_by().filter(**about))
