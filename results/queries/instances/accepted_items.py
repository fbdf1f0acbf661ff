"""Accepted items of a study for exports, streamed. Only soft labels are held in memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from django.db.models import F, OuterRef

from analytics.outcomes import WHOLE
from annotation.models import Decision
from annotation.models.outcomes import accepted_items
from results.exporting.pair_roles import resolve_pair
from results.exporting.rows import AcceptedInstance, AcceptedQuestion, ExportedImage, target_text
from results.queries.exports.descriptions import Among, Text, texts_of
from results.queries.exports.soft_labels import posterior_columns, soft_labels
from results.queries.exports.task_names import task_name
from results.queries.studies.simulated_answers import has_simulated_answer
from studies.actions.questions import origin_of, upstream_studies
from studies.kinds import PairRoles, get_kind
from studies.models import InstanceImage, Study

CHUNK = 1000
# The exported roles of the image and the description of a part.
IMAGE, CAPTION = "image", "caption"


def accepted_instances(
    study: Study,
    *,
    among: Among = None,
    except_in: Sequence[Study] = (),
    with_posteriors: bool = False,
    at_most: int | None = None,
) -> Iterator[AcceptedInstance]:
    """Yield the accepted items of `study`, in the order of its questions.

    among: only these instances. except_in: leave out items that one of these studies also accepted. with_posteriors:
    with what a model of the annotators makes of their answers, which takes seconds for a large study. at_most: only the
    first so many.
    """
    items = accepted_items(study, except_in=except_in)
    items = items if among is None else items.filter(question__instance__in=among)
    # Whether a program gave a counted answer about the instance, here or upstream.
    about = OuterRef("question__instance")
    simulated = has_simulated_answer([study, *upstream_studies(study)], question__instance=about)
    reference = "question__instance__reference"
    items = items.annotate(simulated=simulated, target=F(f"{reference}__right"), fields=F(f"{reference}__other"))
    items = items.order_by("question_id")
    items = items.select_related("question__instance")
    if not study.design.asks_about_parts:
        # Only descriptions need these columns, which are slow to read.
        items = items.defer("question__source", "question__right_answer", reference)
    claims, estimated = pair_claims(study), soft_labels(study) if with_posteriors else {}
    rows = items[:at_most].iterator(chunk_size=CHUNK)
    while chunk := list(islice(rows, CHUNK)):
        instances = [decision.question.instance_id for decision in chunk]
        images, others = _images_of(instances), _others_of(study, chunk)
        texts = texts_of(chunk) if study.design.asks_about_parts else {}
        for decision in chunk:
            instance = decision.question.instance_id
            of_item = [decision, *others.get(instance, ())] if decision.question.item == WHOLE else [decision]
            made = _accepted_instance(study, of_item, images[instance], texts.get(decision.question_id), claims)
            label = estimated.get(decision.question_id) if len(of_item) == 1 else None
            yield replace(made, **posterior_columns(label))


def pair_claims(study: Study) -> list[PairRoles]:
    """Return what the designs of `study` and its upstream studies say about the roles of a pair, the nearest first."""
    designs = [each.design for each in (study, *upstream_studies(study))]
    return [get_kind(part.kind).pair_roles(part.ask) for design in designs for part in design.parts]


def instances_of_studies(
    studies: Sequence[Study], *, with_posteriors: bool = False, at_most: int | None = None
) -> Iterator[AcceptedInstance]:
    """Yield the accepted items of `studies`, study by study; each item once, from the first study that accepted it.

    at_most: only the first so many of each study.
    """
    for number, study in enumerate(studies):
        before = studies[:number]
        yield from accepted_instances(study, except_in=before, with_posteriors=with_posteriors, at_most=at_most)


def _others_of(study: Study, items: Sequence[Decision]) -> dict[int, list[Decision]]:
    """Return the accepted decisions on the other questions about whole instances, by instance."""
    if not study.design.asks_several:
        return {}
    whole = {decision.question.instance_id: decision.pk for decision in items if decision.question.item == WHOLE}
    found: dict[int, list[Decision]] = {}
    others = Decision.objects.filter(study=study, question__instance__in=whole, question__item=WHOLE)
    others = others.exclude(pk__in=whole.values()).select_related("question").order_by("question_id")
    for decision in others:
        found.setdefault(decision.question.instance_id, []).append(decision)
    return found


def _accepted_instance(
    study: Study,
    of_item: Sequence[Decision],
    images: Sequence[ExportedImage],
    text: Text | None,
    claims: Sequence[PairRoles],
) -> AcceptedInstance:
    first, instance = of_item[0], of_item[0].question.instance
    questions = tuple(_question(study, instance.key, decision) for decision in of_item)
    only = questions[0] if len(questions) == 1 else None
    gained = origin_of([(decision.question, decision.winner) for decision in of_item]).won
    captions = dict(instance.captions) | {role: won["text"] for role, won in gained.items() if "text" in won}
    pictures = {role: won["image"] for role, won in gained.items() if "image" in won}
    if text is not None:
        captions.setdefault(CAPTION, text.text)
    if first.question.item != WHOLE and all(image.role != IMAGE for image in images):
        picture = get_kind(first.question.kind).picture_of(first.question.content, first.question.item)
        pictures |= {} if picture is None else {IMAGE: picture.sha256}
    # Those in roles that the decision assigned come first.
    images = [
        *(_find(images, role, sha256, first.winner) for role, sha256 in pictures.items()),
        *(image for image in images if image.position or image.role not in pictures),
    ]
    is_whole = first.question.item == WHOLE
    return AcceptedInstance(
        task=only.task if only else instance.key,
        key=instance.key,
        type=instance.type,
        subtype=instance.subtype,
        split=instance.split,
        captions=captions,
        original_captions=instance.original_captions,
        caption_rule=instance.caption_rule,
        images=images,
        study=study.slug,
        kind=_join_names(question.kind for question in questions),
        decision=first.state,
        rule=_join_names(question.rule for question in questions),
        winner=only.winner if only else "",
        settled=any(question.settled for question in questions),
        answers=sum(question.answers for question in questions),
        votes=only.votes if only else {},
        source_file=instance.source_file,
        source_row=instance.source_row,
        simulated=bool(vars(first)["simulated"]),
        item=first.question.item,
        questions=questions,
        # A part is an image and its description, in the roles of these names.
        pair=resolve_pair(claims, captions=captions, images={image.role for image in images}) if is_whole else {},
        target=target_text(vars(first)["target"]),
        fields=target_text(vars(first)["fields"]),
    )


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _question(study: Study, key: str, decision: Decision) -> AcceptedQuestion:
    asked = decision.question
    return AcceptedQuestion(
        task=task_name(study, key, asked.kind, asked.variant, (asked.source_type, asked.source_id)),
        kind=asked.kind,
        variant=asked.variant,
        rule=decision.rule,
        winner=decision.winner,
        settled=bool(decision.settled_choice),
        answers=decision.answers,
        votes=decision.votes,
    )


_IMAGE_FIELDS = (
    *("instance_id", "role", "position", "filename", "image_id", "image__width", "image__height"),
    *("source", "licence", "generator"),
)


def _images_of(instances: Sequence[int]) -> dict[int, list[ExportedImage]]:
    """Return the images of each instance, ordered by role and position."""
    uses = InstanceImage.objects.filter(instance__in=instances).order_by("instance_id", "role", "position")
    images: dict[int, list[ExportedImage]] = {instance: [] for instance in instances}
    for instance, *use in uses.values_list(*_IMAGE_FIELDS).iterator(chunk_size=CHUNK):
        images[instance].append(ExportedImage(*use))
    return images


def _find(images_used: Sequence[ExportedImage], role: str, sha256: str, winner: str) -> ExportedImage:
    # Two candidates may be the same picture: the chosen one is in the winner's own position.
    same = [image for image in images_used if image.sha256 == sha256]
    same.sort(key=lambda image: f"{image.role}-{image.position}" != winner)
    # An instance may have lost the picture since the question was asked; the question keeps it.
    found = same[0] if same else ExportedImage(role, 0, "", sha256)
    return replace(found, role=role, position=0)
