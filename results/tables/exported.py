"""The rows that leave in exports, streamed: memory stays flat whatever the size."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet, Window
from django.db.models.functions import RowNumber

from annotation.models import Decision, Removal, Response, Session
from annotation.models.outcomes import accepted_decisions
from predictions.models import Prediction
from results.exporting.base import Rows
from results.exporting.rows import AcceptedInstance, DecidedQuestion, ExportedImage, GivenPrediction, GivenResponse
from results.models import Pseudonym
from studies.kinds import get_kind
from studies.models import InstanceImage, Question, Study

CHUNK = 1000


def count_rows(rows: Rows, study: Study) -> int:
    """Return how many rows of that sort `study` has."""
    counted: dict[Rows, Callable[[Study], QuerySet[Any]]] = {
        "instances": _accepted,
        "responses": _given,
        "decisions": _decided,
        "predictions": _predicted,
    }
    return counted[rows](study).count()


def exported_rows(rows: Rows, study: Study) -> Iterator[Any]:
    """Yield the rows of that sort, as `results.exporting.rows` has them."""
    sorts: dict[Rows, Callable[[Study], Iterator[Any]]] = {
        "instances": accepted_instances,
        "responses": given_responses,
        "decisions": decided_questions,
        "predictions": given_predictions,
    }
    return sorts[rows](study)


def _accepted(study: Study) -> QuerySet[Decision]:
    return accepted_decisions(study)


_DECISION_FIELDS = (
    "question__instance_id",
    "question__content",
    "question__won",
    "question__kind",
    "question__variant",
    "state",
    "rule",
    "winner",
    "answers",
    "votes",
    "settled_choice",
    "question__instance__key",
    "question__instance__type",
    "question__instance__subtype",
    "question__instance__split",
    "question__instance__captions",
    "question__instance__original_captions",
    "question__instance__caption_rule",
    "question__instance__source_file",
    "question__instance__source_row",
)


def accepted_instances(study: Study) -> Iterator[AcceptedInstance]:
    """Yield what `study` accepted, in the order of its questions."""
    decisions = _accepted(study).order_by("question_id").values_list(*_DECISION_FIELDS)
    for chunk in _chunks(decisions.iterator(chunk_size=CHUNK)):
        images = _images_of([row[0] for row in chunk])
        for row in chunk:
            yield _accepted_instance(row, study, images[row[0]])


def _chunks(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    while chunk := list(islice(rows, CHUNK)):
        yield chunk


def _accepted_instance(row: tuple[Any, ...], study: Study, places: Sequence[ExportedImage]) -> AcceptedInstance:
    values = {name.rpartition("__")[2]: value for name, value in zip(_DECISION_FIELDS, row, strict=True)}
    del values["instance_id"]
    winner, kind = values["winner"], values["kind"]
    gained = values.pop("won") | get_kind(kind).accepted_images(values.pop("content"), winner)
    return AcceptedInstance(
        task=task_name(study, values["key"], kind, values.pop("variant")),
        study=study.slug,
        decision=values.pop("state"),
        settled=bool(values.pop("settled_choice")),
        images=_with_gained(places, {role: image["image"] for role, image in gained.items()}, winner),
        **values,
    )


def task_name(study: Study, key: str, kind: str, variant: str) -> str:
    """Return what names a question within its study: the instance, and where several are asked about it, which."""
    several = len(study.design["parts"]) > 1 or variant
    return "/".join(filter(None, (key, kind, variant))) if several else key


_IMAGE_FIELDS = (
    "instance_id",
    "role",
    "position",
    "filename",
    "image_id",
    "image__width",
    "image__height",
    "source",
    "licence",
    "generator",
)


def _images_of(instances: Sequence[int]) -> dict[int, list[ExportedImage]]:
    """Return the images of each instance, in the order of roles and positions."""
    places = InstanceImage.objects.filter(instance__in=instances).order_by("instance_id", "role", "position")
    images: dict[int, list[ExportedImage]] = {instance: [] for instance in instances}
    for instance, *place in places.values_list(*_IMAGE_FIELDS).iterator(chunk_size=CHUNK):
        images[instance].append(ExportedImage(*place))
    return images


def _with_gained(places: Sequence[ExportedImage], gained: Mapping[str, str], winner: str) -> list[ExportedImage]:
    """Return the images of an instance, first those in the roles that the decision gave them."""
    first = [_find(places, role, sha256, winner) for role, sha256 in gained.items()]
    return first + [image for image in places if image.position or image.role not in gained]


def _find(places: Sequence[ExportedImage], role: str, sha256: str, winner: str) -> ExportedImage:
    # Two candidates may be the same picture: the one in the winner's own place is the one that was chosen.
    same = [image for image in places if image.sha256 == sha256]
    same.sort(key=lambda image: f"{image.role}-{image.position}" != winner)
    # An instance may have lost the picture since it was asked about; what was asked stands.
    found = same[0] if same else ExportedImage(role, 0, "", sha256)
    return replace(found, role=role, position=0)


def _given(study: Study) -> QuerySet[Response]:
    return Response.objects.filter(study=study).exclude(left_out=Removal.Why.WITHDRAWN)


def question_name(question: Question) -> str:
    """Return what names `question`, read with its study and instance, in rows that leave."""
    return task_name(question.study, question.instance.key, question.kind, question.variant)


def given_responses(study: Study, workers: Mapping[int, str] | None = None) -> Iterator[GivenResponse]:
    """Yield every version of every answer of `study`, in the order of questions and arrival.

    workers: annotator -> the name to leave under; by default the pseudonyms in the project, given beforehand (see
    `results.actions.pseudonyms`). Answers of others, who came since, are left out, as are people who withdrew; those of
    people whom a researcher excluded are not counted.
    """
    if workers is None:
        workers = dict(Pseudonym.objects.filter(project=study.project_id).values_list("annotator_id", "name"))
    sittings = _sittings(study)
    responses = _given(study).order_by("question_id", "received_at", "id")
    for row in responses.values_list(*_RESPONSE_FIELDS).iterator(chunk_size=CHUNK):
        annotator, session = row[_ANNOTATOR], row[_SESSION]
        if session in sittings and annotator in workers:
            yield _given_response(row, study, workers, sittings)


_RESPONSE_FIELDS = (
    "question__instance__key",
    "question__kind",
    "question__variant",
    "question__right",
    "annotator_id",
    "choice",
    "version",
    "is_current",
    "slot_id",
    "left_out",
    "shown_order",
    "received_at",
    "first_choice_ms",
    "send_ms",
    "hidden_ms",
    "changes_of_mind",
    "window_width",
    "window_height",
    "slot__seat__survey__number",
    "slot__seat__number",
    "session_id",
)


_ANNOTATOR, _SESSION = (_RESPONSE_FIELDS.index(name) for name in ("annotator_id", "session_id"))


def _given_response(
    row: tuple[Any, ...], study: Study, workers: Mapping[int, str], sittings: dict[int, int]
) -> GivenResponse:
    values = dict(zip(_RESPONSE_FIELDS, row, strict=True))
    worker, kind = workers[values.pop("annotator_id")], values.pop("question__kind")
    return GivenResponse(
        task=task_name(study, values.pop("question__instance__key"), kind, values.pop("question__variant")),
        worker=worker,
        label=values.pop("choice"),
        # As `Response.is_counted`. All in one go: each takes its column out.
        counted=(values.pop("slot_id") is not None) & (values.pop("left_out") == "") & values["is_current"],
        survey=values.pop("slot__seat__survey__number"),
        seat=values.pop("slot__seat__number"),
        session=f"{worker}-{sittings[values.pop('session_id')]}",
        study=study.slug,
        kind=kind,
        right=values.pop("question__right"),
        **values,
    )


def _sittings(study: Study) -> dict[int, int]:
    """Return for each session of `study` the how-manieth of its annotator it is, from 1."""
    number = Window(RowNumber(), partition_by=F("annotator_id"), order_by=("arrived_at", "id"))
    return dict(Session.objects.filter(study=study).annotate(sitting=number).values_list("pk", "sitting"))


def _decided(study: Study) -> QuerySet[Decision]:
    return Decision.objects.filter(study=study)


def decided_questions(study: Study) -> Iterator[DecidedQuestion]:
    """Yield every question of `study` with what followed from its answers."""
    about = ("question__instance__key", "question__kind", "question__variant", "question__right")
    rows = (
        _decided(study)
        .order_by("question_id")
        .values_list(*about, "state", "rule", "winner", "answers", "votes", "settled_choice", "decided_at")
    )
    for key, kind, variant, right, state, rule, winner, answers, votes, settled, at in rows.iterator(chunk_size=CHUNK):
        yield DecidedQuestion(
            task=task_name(study, key, kind, variant),
            study=study.slug,
            kind=kind,
            state=state,
            rule=rule,
            winner=winner,
            right=right,
            answers=answers,
            votes=votes,
            settled=bool(settled),
            decided_at=at,
        )


def _predicted(study: Study) -> QuerySet[Prediction]:
    asked = Question.objects.filter(study=study, instance=OuterRef("instance"))
    return Prediction.objects.filter(Exists(asked))


def given_predictions(study: Study) -> Iterator[GivenPrediction]:
    """Yield what models said about the instances that `study` asks about."""
    rows = (
        _predicted(study)
        .order_by("instance_id", "model_id", "kind", "variant", "caption_rule")
        .values_list(
            *("instance__key", "model__name", "model__version", "model__weights"),
            *("kind", "variant", "caption_rule", "is_right", "scores"),
        )
    )
    for key, name, version, weights, kind, variant, caption_rule, is_right, scores in rows.iterator(chunk_size=CHUNK):
        task = "/".join(filter(None, (key, kind, variant)))
        yield GivenPrediction(task, name, version, weights, kind, variant, caption_rule, is_right, scores)
