"""The rows that leave in exports, streamed: memory stays flat whatever the size."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import F, Prefetch, QuerySet, Window
from django.db.models.functions import RowNumber

from annotation.models import Decision, Response, Session
from results.exporting import Writer
from results.exporting.rows import AcceptedInstance, ExportedImage, GivenResponse
from results.models import Pseudonym
from studies.actions.asking import origin_of
from studies.models import Image, InstanceImage, Question, Study

CHUNK = 1000


def count_rows(writer: Writer, study: Study) -> int:
    """Return how many rows `writer` will get of `study`."""
    return _accepted(study).count() if writer.rows == "instances" else _given(study).count()


def exported_rows(writer: Writer, study: Study) -> Iterator[AcceptedInstance] | Iterator[GivenResponse]:
    return accepted_instances(study) if writer.rows == "instances" else given_responses(study)


def _accepted(study: Study) -> QuerySet[Decision]:
    return Decision.objects.filter(study=study, state=Decision.State.ACCEPTED)


def accepted_instances(study: Study) -> Iterator[AcceptedInstance]:
    """Yield what `study` accepted, in the order of its questions."""
    images = Prefetch("question__instance__images", InstanceImage.objects.select_related("image"))
    decisions = _accepted(study).select_related("question__instance").prefetch_related(images).order_by("question_id")
    for decision in decisions.iterator(chunk_size=CHUNK):
        question = decision.question
        instance = question.instance
        yield AcceptedInstance(
            key=instance.key,
            type=instance.type,
            subtype=instance.subtype,
            split=instance.split,
            captions=instance.captions,
            original_captions=instance.original_captions,
            caption_rule=instance.caption_rule,
            images=_images(question, list(instance.images.all()), decision.winner),
            study=study.slug,
            kind=question.kind,
            decision=decision.state,
            rule=decision.rule,
            winner=decision.winner,
            answers=decision.answers,
            votes=decision.votes,
            source_file=instance.source_file,
            source_row=instance.source_row,
        )


def _images(question: Question, places: Sequence[InstanceImage], winner: str) -> list[ExportedImage]:
    """Return the images of an instance, and first those in the roles that the decision gave them."""
    gained = origin_of(question, winner).won
    taken = [_image(role, 0, *_find(places, image["image"], winner)) for role, image in gained.items()]
    return taken + [
        _image(place.role, place.position, place.filename, place.image_id, place.image)
        for place in places
        if (place.role, place.position) not in {(role, 0) for role in gained}
    ]


def _find(places: Sequence[InstanceImage], sha256: str, winner: str) -> tuple[str, str, Image | None]:
    # Two candidates may be the same picture: the one in the winner's own place is the one that was chosen.
    same = [place for place in places if place.image_id == sha256]
    same.sort(key=lambda place: f"{place.role}-{place.position}" != winner)
    return (same[0].filename, sha256, same[0].image) if same else ("", sha256, None)


def _image(role: str, position: int, filename: str, sha256: str | None, image: Image | None) -> ExportedImage:
    if image is None:
        return ExportedImage(role, position, filename, sha256)
    return ExportedImage(
        role=role,
        position=position,
        filename=filename,
        sha256=sha256,
        width=image.width,
        height=image.height,
        source=image.source,
        licence=image.licence,
        generator=image.generator,
    )


def _given(study: Study) -> QuerySet[Response]:
    return Response.objects.filter(study=study)


def given_responses(study: Study) -> Iterator[GivenResponse]:
    """Yield every version of every answer of `study`, in the order of questions and arrival.

    Every annotator must have a pseudonym already (see `results.actions.pseudonyms`); without one this raises
    KeyError rather than let an id of a provider out.
    """
    workers = dict(Pseudonym.objects.filter(project=study.project_id).values_list("annotator_id", "name"))
    sittings = _sittings(study)
    responses = _given(study).order_by("question_id", "received_at", "id")
    for row in responses.values_list(*_RESPONSE_FIELDS).iterator(chunk_size=CHUNK):
        yield _given_response(row, study, workers, sittings)


_RESPONSE_FIELDS = (
    "question__instance__key",
    "annotator_id",
    "choice",
    "version",
    "is_current",
    "slot_id",
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
    "question__kind",
)


def _given_response(
    row: tuple[Any, ...], study: Study, workers: dict[int, str], sittings: dict[int, int]
) -> GivenResponse:
    values = dict(zip(_RESPONSE_FIELDS, row, strict=True))
    worker = workers[values.pop("annotator_id")]
    return GivenResponse(
        task=values.pop("question__instance__key"),
        worker=worker,
        label=values.pop("choice"),
        counted=values.pop("slot_id") is not None and values["is_current"],
        survey=values.pop("slot__seat__survey__number"),
        seat=values.pop("slot__seat__number"),
        session=f"{worker}-{sittings[values.pop('session_id')]}",
        study=study.slug,
        kind=values.pop("question__kind"),
        **values,
    )


def _sittings(study: Study) -> dict[int, int]:
    """Return for each session of `study` the how-manieth of its annotator it is, from 1."""
    number = Window(RowNumber(), partition_by=F("annotator_id"), order_by=("arrived_at", "id"))
    return dict(Session.objects.filter(study=study).annotate(sitting=number).values_list("pk", "sitting"))
