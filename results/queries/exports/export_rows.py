"""Rows for exports, streamed: constant memory at any size."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from django.db.models import (
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Window,
)
from django.db.models.functions import RowNumber

from analytics.outcomes import outcome_of_question, progress_of
from annotation.agreements import Agreement, agreements_of
from annotation.check_results import checked_answers
from annotation.models import Decision, Removal, Response, Session
from annotation.models.outcomes import accepted_decisions, accepted_items
from annotation.models.responses import RESPONSE, counts, took_ms
from annotation.simulation_ids import is_simulated
from predictions.models import Conditions, Prediction
from predictions.queries.contents import stale_predictions
from results.exporting.base import RowType
from results.exporting.rows import (
    DECLARED,
    MISMATCHED,
    SUPERSEDED,
    VERIFIED,
    AnsweredCheck,
    DecidedQuestion,
    GivenPrediction,
    GivenResponse,
    PredictionConditions,
    RatingSummary,
    moment,
)
from results.models import Pseudonym
from results.queries.exports.descriptions import Among, descriptions_of_studies
from results.queries.exports.soft_labels import posterior_columns, soft_labels
from results.queries.exports.task_names import task_name
from results.queries.instances.accepted_items import accepted_instances
from results.queries.reports.report_rows import study_facts
from results.queries.studies.events import events_about_data, noted_events
from results.queries.studies.simulated_answers import has_simulated_answer
from results.reports.sections.ratings import ratings_of
from studies.models import Check, Question, Study

M = TypeVar("M", bound=Model)
R = TypeVar("R", bound=QuerySet[Any, Any])
CHUNK = 1000


class Sitting(NamedTuple):
    """A session: its number among its annotator's sessions in the study, from 1, if it was simulated, its consents."""

    number: int
    simulated: bool
    consent_version: int | None
    consents: str


def count_rows(rows: RowType, study: Study, among: Among = None) -> int:
    """Return the number of rows of this type that `study` has."""
    counted: dict[RowType, Callable[[], QuerySet[Any]]] = {
        "instances": lambda: _about(accepted_items(study), "question__instance", among),
        "responses": lambda: _responses(study, among),
        "decisions": lambda: _decisions(study, among),
        "predictions": lambda: _predictions(study, among),
        "conditions": lambda: _conditions(study, among),
        "events": lambda: events_about_data(study.project, [study]),
    }
    return counted[rows]().count() if rows in counted else sum(1 for _ in exported_rows(rows, study, among))


def exported_rows(rows: RowType, study: Study, among: Among = None) -> Iterator[Any]:
    """Yield the rows of this type, as in `results.exporting.rows`."""
    sorts: dict[RowType, Callable[[], Iterator[Any]]] = {
        "instances": lambda: accepted_instances(study, among=among, with_posteriors=True),
        "responses": lambda: given_responses(study, among=among),
        "decisions": lambda: decided_questions(study, among=among),
        "checks": lambda: answered_checks(study, among=among),
        # Ratings and events concern the whole study, whichever instances are chosen.
        "ratings": lambda: rating_summaries(study),
        "predictions": lambda: given_predictions(study, among=among),
        "conditions": lambda: find_conditions(_conditions(study, among).values_list("digest", flat=True)),
        "events": lambda: noted_events(study.project, [study]),
        "descriptions": lambda: descriptions_of_studies([study], among=among),
    }
    return sorts[rows]()


def _about(rows: QuerySet[M], path: str, among: Among) -> QuerySet[M]:
    """Filter `rows` to those about the instances; `path` leads from a row to its instance."""
    return rows if among is None else rows.filter(**{f"{path}__in": among})


def _responses(study: Study, among: Among = None, *, checks: bool = False) -> QuerySet[Response]:
    """Return the answers of `study` to questions, or to checks of answers, without those of people who withdrew."""
    withdrawn = Removal.objects.filter(project=study.project_id, why=Removal.Why.WITHDRAWN)
    given = Response.objects.filter(study=study, is_check=checks).exclude(left_out=Removal.Why.WITHDRAWN)
    # An answer may have been in flight when the person withdrew.
    given = given.exclude(Exists(withdrawn.filter(annotator=OuterRef("annotator"))))
    return _about(given, "question__instance", among)


def given_responses(
    study: Study, workers: Mapping[int, str] | None = None, *, among: Among = None
) -> Iterator[GivenResponse]:
    """Yield every version of every answer of `study`, ordered by question and arrival.

    workers: annotator -> exported name; by default the pseudonyms in the project, which must exist
    (`results.actions.pseudonyms`). Leaves out annotators without a name, who came later, and people who withdrew;
    answers of excluded people are marked.
    """
    if workers is None:
        workers = _pseudonyms(study)
    sittings, findings = _sittings(study), retrievals_of(study)
    responses = _responses(study, among).order_by("question_id", "received_at", "id")
    for row in responses.values(*_RESPONSE_FIELDS, **_RENAMED).iterator(chunk_size=CHUNK):
        if row["session_id"] in sittings and row["annotator_id"] in workers:
            given = _given_response(row, study, workers, sittings)
            retrievers, found = findings.get(row["pk"], (None, None))
            yield replace(given, retrievers=retrievers, found=found)


def _pseudonyms(study: Study) -> dict[int, str]:
    return dict(Pseudonym.objects.filter(project=study.project_id).values_list("annotator_id", "name"))


def answered_checks(study: Study, *, among: Among = None) -> Iterator[AnsweredCheck]:
    """Yield the standing answers to the checks of `study`, ordered by question and arrival.

    Leaves out annotators without a name, and people who withdrew.
    """
    workers, sittings, given = _pseudonyms(study), _sittings(study), _responses(study, among, checks=True)
    checked = {each.response: each for each in checked_answers(given)}
    rows = (
        given.order_by("question_id", "received_at", "id").annotate(took=took_ms()).select_related("question__instance")
    )
    for row in rows.iterator(chunk_size=CHUNK):
        found, worker, question = checked.get(row.pk), workers.get(row.annotator_id), row.question
        if found is None or worker is None or row.session_id not in sittings:
            continue
        is_repeat = found.check == Check.REPEAT
        yield AnsweredCheck(
            task=task_name(study, question.instance.key, question.kind, question.variant),
            worker=worker,
            check=found.check,
            label=row.choice,
            answer="" if row.whole_answer == row.choice else json.dumps(row.whole_answer, ensure_ascii=False),
            right="" if is_repeat else _right_text(question.right, question.right_answer),
            passed=found.passed,
            seconds=None if row.took is None else row.took / 1000,
            session=f"{worker}-{sittings[row.session_id].number}",
            study=study.slug,
            kind=question.kind,
            key=question.instance.key,
            received_at=moment(row.received_at),
        )


# Columns of the same name in exports, and others by their name there.
_RESPONSE_FIELDS = (
    *("annotator_id", "session_id", "slot_id", "pk", "answer", "version", "is_current", "left_out", "shown_order"),
    *("received_at", "first_choice_ms", "send_ms", "hidden_ms", "changes_of_mind", "window_width", "window_height"),
    *("unmeasured", "writing", "possible_ms"),
)
_RENAMED = {
    "label": F("choice"),
    "key": F("question__instance__key"),
    "kind": F("question__kind"),
    "variant": F("question__variant"),
    "source_type": F("question__source_type"),
    "source_id": F("question__source_id"),
    "right": F("question__right"),
    "right_answer": F("question__right_answer"),
    "survey": F("slot__seat__survey__number"),
    "seat": F("slot__seat__number"),
}


def retrievals_of(study: Study) -> Mapping[int, tuple[int, int]]:
    """Return the id of each answer of `study` that others were asked to find -> their counted answers, and how many
    chose the right option. Includes all studies about the answers; checks are left out.
    """
    asked = Response.objects.counted().filter(
        question__source_type=RESPONSE, question__source_id__in=Response.objects.filter(study=study).values("pk")
    )
    known = asked.exclude(question__right="").order_by().values_list("question__source_id")
    counted = known.annotate(n=Count("pk"), found=Count("pk", filter=Q(choice=F("question__right"))))
    return {response: (retrievers, found) for response, retrievers, found in counted}


def counted_responses(study: Study, *, after: int | None, limit: int) -> list[tuple[int, GivenResponse]]:
    """Return up to `limit` counted answers of `study` after the one with the id `after`, each with its id.

    Contents and names as in `given_responses`.
    """
    rows = _after(_responses(study).filter(counts()), after)
    found = list(rows.values(*_RESPONSE_FIELDS, **_RENAMED)[:limit])
    people = {row["annotator_id"] for row in found}
    named = Pseudonym.objects.filter(project=study.project_id, annotator__in=people)
    workers = dict(named.values_list("annotator_id", "name"))
    sittings = _sittings(study)
    return [
        (row["pk"], _given_response(row, study, workers, sittings))
        for row in found
        if row["annotator_id"] in workers and row["session_id"] in sittings
    ]


def _after(rows: R, after: int | None) -> R:
    """Return `rows` by id, those after the one with the id `after`."""
    return rows.order_by("pk") if after is None else rows.filter(pk__gt=after).order_by("pk")


def _given_response(
    row: Mapping[str, Any], study: Study, workers: Mapping[int, str], sittings: Mapping[int, Sitting]
) -> GivenResponse:
    values = dict(row)
    worker, sitting = workers[values.pop("annotator_id")], sittings[values.pop("session_id")]
    source = (values.pop("source_type"), values.pop("source_id"))
    values |= _possible_times(values, values.pop("possible_ms"))
    answer = values.pop("answer")
    return GivenResponse(
        task=task_name(study, values["key"], values["kind"], values.pop("variant"), source),
        worker=worker,
        answer=None if answer == values["label"] else answer,
        # As `Response.is_counted` says.
        counted=values.pop("slot_id") is not None and values["is_current"] and not values["left_out"],
        simulated=sitting.simulated,
        session=f"{worker}-{sitting.number}",
        study=study.slug,
        right=_right_text(values.pop("right"), values.pop("right_answer")),
        response=f"{RESPONSE}-{values.pop('pk')}",
        consent_version=sitting.consent_version,
        consents=sitting.consents,
        **values,
    )


def _possible_times(claimed: Mapping[str, int | None], possible: int | None) -> dict[str, int]:
    """Cap the times of an answer at `possible`, the maximum by the server's clock."""
    if possible is None:
        return {}
    first = claimed["first_choice_ms"]
    return {"send_ms": possible, "hidden_ms": 0} | ({} if first is None else {"first_choice_ms": min(first, possible)})


def _right_text(option: str, answer: Any) -> str:
    """Return the right option, or any other right answer as JSON."""
    return option if answer is None else json.dumps(answer, ensure_ascii=False, sort_keys=True)


def _sittings(study: Study) -> dict[int, Sitting]:
    """Return each session of `study` by id."""
    number = Window(RowNumber(), partition_by=F("annotator_id"), order_by=("arrived_at", "id"))
    played = ExpressionWrapper(is_simulated(), output_field=BooleanField())
    sessions = Session.objects.filter(study=study).annotate(sitting=number, simulated=played)
    found = sessions.values_list("pk", "sitting", "simulated", "consent__number")
    agreed = agreements_of(Session.objects.filter(study=study))
    return {
        pk: Sitting(number, simulated, version, _consents_text(agreed.get(pk, ())))
        for pk, number, simulated, version in found
    }


def _consents_text(agreed: Sequence[Agreement]) -> str:
    return json.dumps({str(each.version): each.at.isoformat() for each in agreed}) if agreed else ""


def _decisions(study: Study, among: Among = None) -> QuerySet[Decision]:
    return _about(Decision.objects.filter(study=study), "question__instance", among)


_DECIDED_FIELDS = ("state", "rule", "winner", "answers", "votes", "decided_at", "simulated")
_DECIDED_RENAMED = {
    "key": F("question__instance__key"),
    "kind": F("question__kind"),
    "variant": F("question__variant"),
    "source_type": F("question__source_type"),
    "source_id": F("question__source_id"),
    "right": F("question__right"),
    "right_answer": F("question__right_answer"),
    "wanted": F("question__answers_wanted"),
    "undone_at": F("question__undone_at"),
    "settled": F("settled_choice"),
}


def _decided_values(study: Study, among: Among = None) -> QuerySet[Decision, dict[str, Any]]:
    simulated = has_simulated_answer([study], question=OuterRef("question"))
    decided: QuerySet[Any, Any] = _decisions(study, among).annotate(simulated=simulated)
    return decided.values("pk", "question_id", *_DECIDED_FIELDS, **_DECIDED_RENAMED)


def decided_questions(study: Study, *, among: Among = None) -> Iterator[DecidedQuestion]:
    """Yield every question of `study` with its outcome."""
    estimated = soft_labels(study)
    for row in _decided_values(study, among).order_by("question_id").iterator(chunk_size=CHUNK):
        yield replace(_decided_question(row, study), **posterior_columns(estimated.get(row["question_id"])))


def decisions_after(study: Study, *, after: int | None, limit: int) -> list[tuple[int, DecidedQuestion]]:
    """Return up to `limit` rows of `decided_questions` after the decision with the id `after`, each with its id.

    Without posteriors: these need all answers of the study.
    """
    return [(row["pk"], _decided_question(row, study)) for row in _after(_decided_values(study), after)[:limit]]


def _decided_question(row: Mapping[str, Any], study: Study) -> DecidedQuestion:
    values = {name: value for name, value in row.items() if name not in ("pk", "question_id")}
    source, undone = (values.pop("source_type"), values.pop("source_id")), values.pop("undone_at") is not None
    answers, wanted = values["answers"], values["wanted"]
    outcome = outcome_of_question(values["state"], answers=answers, wanted=wanted, accepts=study.accepts, undone=undone)
    return DecidedQuestion(
        task=task_name(study, values["key"], values["kind"], values.pop("variant"), source),
        study=study.slug,
        outcome=outcome.value,
        progress=progress_of(answers, wanted).value,
        right=_right_text(values.pop("right"), values.pop("right_answer")),
        settled=bool(values.pop("settled")),
        **values,
    )


def rating_summaries(study: Study) -> Iterator[RatingSummary]:
    """Yield the ratings of `study` by kind, image role and category, as in its results."""
    for each in ratings_of(study_facts(study)):
        mean, (type, subtype) = each.mean, each.category
        yield RatingSummary(
            study=each.study,
            kind=each.kind,
            role=each.role,
            asked=each.unit,
            type=type,
            subtype=subtype,
            answers=mean.n_answers,
            people=mean.n_people,
            instances=mean.n_instances,
            mean=mean.value,
            low=mean.low,
            high=mean.high,
            reason=mean.reason or "",
            sd=mean.sd,
            steps=dict(zip(each.steps, each.distribution.counts, strict=True)),
        )


def _predictions(study: Study, among: Among = None) -> QuerySet[Prediction]:
    asked = Question.objects.filter(study=study, instance=OuterRef("instance"))
    return _about(Prediction.objects.filter(Exists(asked)), "instance", among)


def given_predictions(study: Study, *, among: Among = None) -> Iterator[GivenPrediction]:
    """Yield the predictions about the instances of `study`."""
    return _prediction_rows(_predictions(study, among), stale_predictions(study.project))


def released_predictions(studies: Sequence[Study]) -> Iterator[GivenPrediction]:
    """Yield the predictions about the instances that `studies` accepted, as released.

    Leaves out predictions about contents that have since been replaced.
    """
    stale = stale_predictions(studies[0].project)
    about = Prediction.objects.filter(pk__in=[])
    for study in studies:
        accepted = accepted_decisions(study).filter(question__instance=OuterRef("instance"))
        about |= Prediction.objects.counted().filter(Exists(accepted))
    return (row for row in _prediction_rows(about, stale) if row.about != SUPERSEDED)


def predictions_after(
    predictions: QuerySet[Prediction], *, after: int | None, limit: int
) -> list[tuple[int, GivenPrediction]]:
    """Return up to `limit` of `predictions` after the one with the id `after`, each with its id.

    Leaves out `about`: whether people were asked the same contents needs all of the project.
    """
    rows = _after(predictions, after).values_list("pk", *_PREDICTION_FIELDS)[:limit]
    return [(pk, _given_prediction(*row, about="")) for pk, *row in rows]


# Ordered by what identifies models, not by row ids: another database may have other ids.
_MODEL_NAMES = ("model__name", "model__version", "model__weights")
_ASKED = ("kind", "variant", "caption_rule")
_PREDICTION_FIELDS = (
    *("instance__key", *_MODEL_NAMES, *_ASKED),
    *("is_right", "scores", "content_hash", "conditions__digest", "problem", "model__is_trained_here"),
)


def _prediction_rows(predictions: QuerySet[Prediction], stale: Set[int]) -> Iterator[GivenPrediction]:
    """Yield `predictions` as rows; the contents of those in `stale` differ from what people were asked."""
    found = predictions.order_by("instance_id", *_MODEL_NAMES, *_ASKED, "content_hash", "pk")
    for pk, *row in found.values_list("pk", *_PREDICTION_FIELDS).iterator(chunk_size=CHUNK):
        yield _given_prediction(*row, about=SUPERSEDED if pk in stale else VERIFIED)


def _given_prediction(key: str, name: str, version: str, weights: str, *rest: Any, about: str) -> GivenPrediction:
    kind, variant, caption_rule, is_right, scores, content_hash, conditions, problem, trained_here = rest
    if problem:
        about, is_right = MISMATCHED, None
    elif about == VERIFIED and not content_hash:
        about = DECLARED
    return GivenPrediction(
        task="/".join(filter(None, (key, kind, variant))),
        model=name,
        version=version,
        weights=weights,
        kind=kind,
        variant=variant,
        caption_rule=caption_rule,
        is_right=is_right,
        scores=scores,
        key=key,
        content_hash=content_hash,
        about=about,
        conditions=conditions or "",
        trained_here=trained_here,
    )


def _conditions(study: Study, among: Among = None) -> QuerySet[Conditions]:
    return Conditions.objects.filter(Exists(_predictions(study, among).filter(conditions=OuterRef("pk"))))


def find_conditions(digests: Iterable[str]) -> Iterator[PredictionConditions]:
    """Yield the conditions with these digests, in this order."""
    found = Conditions.objects.filter(digest__in=list(digests)).order_by("digest")
    for digest, details in found.values_list("digest", "details"):
        yield PredictionConditions(digest, dict(sorted(details.items())))
