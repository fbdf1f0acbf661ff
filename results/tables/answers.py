"""The rows behind the results of a single study."""

from collections.abc import Iterable

from annotation.models import Response
from results.reports.answers import AnswerDetails
from results.reports.facts import ProjectFacts
from results.tables.reporting import model_facts, study_facts
from studies.kinds import get_kind
from studies.models import Instance, Study


def facts_alone(study: Study) -> ProjectFacts:
    """Return the project of `study` as if it had no other study, and no instances but those it asks about.

    Models stand beside people only where the right answers are known.
    """
    facts = study_facts(study)
    asked = {question.instance for question in facts.questions}
    rows = Instance.objects.filter(project=study.project_id).values_list("pk", "type", "subtype").order_by()
    return ProjectFacts(
        slug=study.project.slug,
        name=study.project.name,
        categories={pk: (type, subtype) for pk, type, subtype in rows.iterator() if pk in asked},
        studies=[facts],
        models=list(model_facts(study.project)) if facts.knows_answers else [],
    )


def answer_details(study: Study, alone: ProjectFacts) -> list[AnswerDetails]:
    """Return the counted answers of `study`, whose facts are `alone`, but those of people who withdrew."""
    counted = Response.objects.filter(study=study, is_current=True, slot__isnull=False, annotator__withdrawn_at=None)
    fields = ("question_id", "choice", "shown_order", "send_ms", "hidden_ms")
    return list(_details(counted.order_by("pk").values_list(*fields).iterator(), alone))


def _details(
    rows: Iterable[tuple[int, str, list[str], int | None, int | None]], alone: ProjectFacts
) -> Iterable[AnswerDetails]:
    questions = {question.id: question for question in alone.studies[0].questions}
    fixed = {kind: tuple(get_kind(kind).fixed_options({})) for kind in alone.studies[0].kinds}
    for pk, choice, order, send_ms, hidden_ms in rows:
        question = questions[pk]
        last = fixed[question.kind]
        yield AnswerDetails(
            kind=question.kind,
            category=alone.categories[question.instance],
            choice=choice,
            right=question.right,
            fixed=last,
            place=None if choice in last else order.index(choice),
            places=len(order) - len(last),
            seconds=None if send_ms is None else max(send_ms - (hidden_ms or 0), 0) / 1000,
        )
