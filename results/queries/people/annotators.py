"""Counted answers of a study with the name of each annotator."""

from collections.abc import Iterable, Mapping

from django.db.models import QuerySet

from analytics.outcomes import Outcome
from annotation.models import Decision, Response
from annotation.models.outcomes import question_is
from annotation.models.responses import RESPONSE, took_ms
from results.models import Pseudonym
from results.queries.reports.added_answers import planned_surveys
from results.queries.reports.answer_scores import answer_scores
from results.queries.reports.report_rows import CHUNK
from results.reports.facts import LabelSpace
from results.reports.sections.annotators import PersonsAnswer
from studies.kinds import get_kind
from studies.kinds.base import IN_ORDER
from studies.models import Study

_FIELDS = (
    *("pk", "annotator_id", "question_id", "question__instance_id", "question__kind", "choice", "question__right"),
    *("ms", "shown_order", f"question__content__{IN_ORDER}", "slot__seat__survey__number"),
)


def persons_answers(
    study: Study, kinds: Mapping[str, LabelSpace], *, beside: int | None = None
) -> Iterable[PersonsAnswer]:
    """Yield the counted answers of `study`, without people who withdrew. All annotators have names.

    kinds: kind -> its label space. beside: only the answers of this annotator, and those of others to the same
    questions.
    """
    names = dict(Pseudonym.objects.filter(project=study.project_id).values_list("annotator_id", "name"))
    last = {kind: label_space.last for kind, label_space in kinds.items()}
    answers = Response.objects.counted_in(study)
    if beside is not None:
        answers = answers.filter(question__in=answers.filter(annotator=beside).values("question"))
    asked = None if beside is None else answers.values("question")
    planned = planned_surveys(study, asked)
    units, became = _units(study, answers), answer_outcomes(study)
    scores = {(scored.question, scored.annotator): scored.score for scored in answer_scores(study, asked)}
    rows = answers.annotate(ms=took_ms()).values_list(*_FIELDS)
    for pk, annotator, question, instance, kind, choice, right, *measured, survey in rows.iterator(chunk_size=CHUNK):
        ms, order, in_order = measured
        yield PersonsAnswer(
            annotator=names[annotator],
            question=question,
            kind=kind,
            choice=choice,
            right=right,
            seconds=None if ms is None else ms / 1000,
            position=order.index(choice) if choice and not in_order and choice not in last[kind] else None,
            positions=0 if in_order else len(order) - len(last[kind]),
            added=planned.is_added(question, survey),
            instance=instance,
            units=units.get(pk, {}),
            became=became.get(pk, ""),
            score=scores.get((question, annotator)),
        )


def answer_outcomes(study: Study) -> Mapping[int, str]:
    """Return answer -> state, as decided by the accepting studies about answers of `study`; a rejection prevails."""
    asking = [feed for feed in study.feeds.all() if feed.accepts]
    if not asking:
        return {}
    is_decided = question_is(Outcome.ACCEPTED, accepts=True) | question_is(Outcome.REJECTED, accepts=True)
    decided = Decision.objects.filter(is_decided, study__in=asking, question__source_type=RESPONSE)
    # "accepted" sorts before "rejected".
    return dict(decided.order_by("state", "question_id").values_list("question__source_id", "state"))


def _units(study: Study, answers: QuerySet[Response]) -> Mapping[int, Mapping[str, str]]:
    """Return answer -> unit -> label, for those of `answers` without a single label."""
    if all(get_kind(part.kind).has_one_label for part in study.design.parts):
        return {}
    rows = (
        answers.filter(choice="")
        .values_list("pk", "question__kind", "question__content", "answer")
        .iterator(chunk_size=CHUNK)
    )
    return {pk: get_kind(kind).labels(content, "", answer) for pk, kind, content, answer in rows}
