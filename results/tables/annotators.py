"""The counted answers of a study, each with the name of who gave it."""

from collections.abc import Iterable

from annotation.models import Response
from results.models import Pseudonym
from results.reports.annotators import PersonsAnswer
from studies.kinds import get_kind
from studies.models import Study

_FIELDS = ("annotator_id", "question_id", "question__kind", "choice", "question__right", "send_ms", "hidden_ms")


def persons_answers(study: Study) -> Iterable[PersonsAnswer]:
    """Yield the counted answers of `study`, whose annotators are all named, but those of people who withdrew."""
    names = dict(Pseudonym.objects.filter(project=study.project_id).values_list("annotator_id", "name"))
    fixed = {part["kind"]: tuple(get_kind(part["kind"]).fixed_options({})) for part in study.design["parts"]}
    counted = Response.objects.filter(study=study, is_current=True, slot__isnull=False, annotator__withdrawn_at=None)
    for annotator, question, kind, choice, right, send_ms, hidden_ms in counted.values_list(*_FIELDS).iterator():
        yield PersonsAnswer(
            annotator=names[annotator],
            question=question,
            kind=kind,
            choice=choice,
            right=right,
            fixed=fixed[kind],
            seconds=None if send_ms is None else max(send_ms - (hidden_ms or 0), 0) / 1000,
        )
