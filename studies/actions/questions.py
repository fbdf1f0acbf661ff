"""Make questions from instances: the current facts of an instance, and the questions of a study's parts."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from django.db.models import Prefetch, QuerySet

from studies.batches import Progress, create_in_batches, ignore_progress
from studies.descriptions import DESCRIPTION, descriptions_of
from studies.errors import StudyError
from studies.kinds import CannotAsk, ImageFacts, InstanceFacts, Kind, NewQuestion, get_kind, usual_ask
from studies.models import Check, Instance, InstanceImage, PracticeQuestion, Question, Study, Tag

BATCH = 500
# Longer lists show the first instances and the count.
PROBLEMS_SHOWN = 20
# A preview skips instances that cannot be asked about yet, but at most this many.
SAMPLED_PER_QUESTION = 20
# Placeholder for a missing image: the SHA-256 of no bytes.
PLACEHOLDER = hashlib.sha256().hexdigest()


@dataclass(frozen=True)
class Origin:
    """Origin of an instance from an upstream study: the accepted question, and what acceptance has added so far.

    Added: role -> image (with width and height) or text.
    """

    question: Question
    won: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Source:
    """Source of a question besides its instance: an opaque type and id, and its frozen content."""

    type: str
    id: int
    content: Mapping[str, Any] = field(hash=False, default_factory=dict)


@dataclass(frozen=True)
class About:
    """What a study asks about: an instance (id), its origin, and the source if there is one."""

    instance: int
    origin: Origin | None = field(default=None, hash=False)
    source: Source | None = None


def selected_instances(study: Study) -> QuerySet[Instance]:
    """Return the instances that the study file selects, without those of practice and of gold questions."""
    selection = study.design.instances
    chosen = Instance.objects.filter(project=study.project_id)
    picked = {"type": selection.type, "subtype": selection.subtype, "split": selection.split, "key": selection.keys}
    for column, wanted in picked.items():
        if wanted:
            chosen = chosen.filter(**{f"{column}__in": wanted})
    if selection.tags:
        # Not a join, which would repeat an instance that has two of the tags.
        tagged = Tag.instances.through.objects.filter(tag__project=study.project_id, tag__name__in=selection.tags)
        chosen = chosen.filter(pk__in=tagged.values("instance"))
    practised = [question.instance for question in study.design.practice.questions]
    chosen = chosen.exclude(key__in=practised)
    if study.design.checks is not None and study.design.checks.gold is not None:
        # Listed in the study file, or chosen at the launch.
        listed = [each.instance for each in study.design.checks.gold.questions]
        made = Question.with_checks.filter(study=study.pk, check_type=Check.GOLD)
        chosen = chosen.exclude(key__in=listed).exclude(pk__in=made.values("instance"))
    return chosen.order_by("id")


def upstream_studies(study: Study) -> Iterator[Study]:
    """Yield the study that feeds `study`, the one that feeds that, and so on."""
    while study.fed_by is not None:
        study = study.fed_by
        yield study


def reachable_instances(study: Study) -> QuerySet[Instance]:
    """Return the instances that can reach `study`: those selected by it and by all upstream studies."""
    chosen = selected_instances(study).order_by()
    for above in upstream_studies(study):
        chosen &= selected_instances(above).order_by()
    return chosen


def imported_answers(instances: QuerySet[Instance]) -> Iterator[About]:
    """Yield the imported descriptions of `instances` with a known target, as sources of questions."""
    rows = instances.values_list("pk", "captions", "reference").order_by("pk")
    for pk, captions, reference in rows.iterator(chunk_size=BATCH):
        for each in descriptions_of(captions, reference):
            if each.target is not None:
                said = {"text": each.text, "target": each.target}
                yield About(pk, source=Source(DESCRIPTION, each.number, said))


def items_to_ask(study: Study) -> Iterator[About]:
    """Yield what a study without an upstream study asks about: its instances or their imported descriptions."""
    if study.design.asks_about_answers:
        return imported_answers(selected_instances(study))
    return map(About, selected_instances(study).values_list("pk", flat=True))


def roles_asked(study: Study) -> set[str]:
    """Return the caption and image roles that the study's parts show."""
    asked = (get_kind(part.kind).roles(part.ask) for part in study.design.parts)
    return set().union(*(roles.all() for roles in asked))


def images_asked(study: Study) -> QuerySet[InstanceImage]:
    """Return the images, also missing ones, that `study` would show of the instances that its study file selects."""
    return InstanceImage.objects.filter(instance__in=selected_instances(study), role__in=roles_asked(study))


def origin_of(accepted: Sequence[tuple[Question, str]]) -> Origin:
    """Return the origin of an accepted instance. accepted: each question about it with its winner, at least one."""
    won: dict[str, Mapping[str, Any]] = {}
    for question, winner in accepted:
        won |= question.won
        won |= get_kind(question.kind).adds(question.content, winner)
    return Origin(question=accepted[-1][0], won=won)


def build_questions(
    study: Study, asked: Sequence[About], progress: Progress = ignore_progress
) -> dict[About, list[Question]]:
    """Return all unsaved questions about each item, in the order of the parts. Raises StudyError with all problems."""
    problems: list[str] = []
    built: dict[About, list[Question]] = {}
    each, total = study.design.questions_per_instance, len(asked) * study.design.questions_per_instance
    for done, (about, questions) in enumerate(unsaved_questions(study, asked), start=1):
        progress("Building questions", done * each, total)
        if isinstance(questions, CannotAsk):
            problems.append(str(questions))
        else:
            built[about] = questions
    refuse_unaskable(problems)
    return built


def refuse_unaskable(problems: Sequence[str]) -> None:
    """Raise StudyError with `problems`, of which each is why an instance cannot be asked about, if there are any."""
    if problems:
        more = len(problems) - PROBLEMS_SHOWN
        tail = [f"... and {more} more instances cannot be asked about."] if more > 0 else []
        tail.append("Correct these, or choose other instances by type, subtype, split, tag or key.")
        raise StudyError(*problems[:PROBLEMS_SHOWN], *tail)


def save_questions(
    built: Mapping[About, list[Question]], wanted: Mapping[About, int], progress: Progress = ignore_progress
) -> None:
    """Save the questions about each item in `wanted`. `wanted`: answers wanted per question of the item."""
    asked = [
        (question, wanted[about]) for about, questions in built.items() if about in wanted for question in questions
    ]
    for question, answers in asked:
        question.answers_wanted = answers
    create_in_batches(
        Question.objects.all(),
        (question for question, _ in asked),
        size=BATCH,
        stage="Creating questions",
        total=len(asked),
        progress=progress,
    )


def unsaved_questions(study: Study, asked: Sequence[About]) -> Iterator[tuple[About, list[Question] | CannotAsk]]:
    """Yield the unsaved questions about each item, or why it cannot be asked about, in the order of instance ids."""
    for about, instance, facts in _with_facts(asked):
        origin, source = about.origin, about.source
        try:
            yield (
                about,
                [
                    Question(
                        study=study,
                        instance=instance,
                        drawn_from=origin.question if origin else None,
                        won=dict(origin.won) if origin else {},
                        source_type=source.type if source else "",
                        source_id=source.id if source else 0,
                        source=dict(source.content) if source else None,
                        **fields,
                    )
                    for fields in _questions_about(study, facts, source)
                ],
            )
        except CannotAsk as error:
            yield about, error


def _questions_about(study: Study, facts: InstanceFacts, source: Source | None = None) -> Iterator[dict[str, Any]]:
    for number, part in enumerate(study.design.parts):
        kind = get_kind(part.kind)
        seed = "|".join([study.secret_seed, facts.key, str(number), *([source.type, str(source.id)] if source else [])])
        for built in kind.questions(facts, part.ask, seed=seed):
            yield {
                "kind": kind.name,
                "variant": built.variant,
                "part": number,
                "content": built.content,
                **right_columns(built.right),
                "item": built.item,
            }


def right_columns(right: Any) -> dict[str, Any]:
    """Return the columns of a right answer: one for a label, the other for any other JSON."""
    return {"right": right} if isinstance(right, str) else {"right": "", "right_answer": right}


def _with_facts(asked: Sequence[About]) -> Iterator[tuple[About, Instance, InstanceFacts]]:
    """Yield each item with its instance and the facts for kinds, in the order of instance ids."""
    by_instance: dict[int, list[About]] = {}
    for about in asked:
        by_instance.setdefault(about.instance, []).append(about)
    ids = list(by_instance)
    for start in range(0, len(ids), BATCH):
        # A join, because a prefetch would need more SQL variables than SQLite allows.
        images_of = Prefetch("images", InstanceImage.objects.select_related("image"))
        batch = Instance.objects.filter(pk__in=ids[start : start + BATCH]).order_by("id")
        for instance in batch.prefetch_related(images_of):
            for about in by_instance[instance.pk]:
                yield about, instance, _facts(instance, about.origin, about.source)


def facts_about(asked: Sequence[About]) -> list[InstanceFacts]:
    """Return the facts of each item for kinds, in the order of instance ids."""
    return [facts for _, _, facts in _with_facts(asked)]


def _facts(instance: Instance, origin: Origin | None, source: Source | None) -> InstanceFacts:
    uses = instance.images.all()
    # Roles in the order of the imported file.
    images: dict[str, list[ImageFacts]] = {use.role: [] for use in sorted(uses, key=lambda use: use.pk)}
    for use in uses:
        stored = use.image
        images[use.role].append(
            ImageFacts(
                sha256=stored.sha256 if stored else None,
                width=stored.width if stored else 0,
                height=stored.height if stored else 0,
                filename=use.filename,
            )
        )
    captions = dict(instance.captions)
    for role, won in origin.won.items() if origin else ():
        if "text" in won:
            captions[role] = won["text"]
        else:
            images[role] = [ImageFacts(sha256=won["image"], width=won["width"], height=won["height"])]
    said = source.content if source else {}
    return InstanceFacts(
        key=instance.key,
        captions=captions,
        images=images,
        source=said,
        type=instance.type,
        reference=instance.reference,
    )


def asked_by_kind(
    kind: Kind, instances: QuerySet[Instance], *, ask: Mapping[str, Any] | None = None, with_files: bool = True
) -> Iterator[tuple[Instance, NewQuestion | CannotAsk]]:
    """Yield the questions of `kind` about each of `instances` without a study, or why it cannot ask.

    A kind that asks about answers asks about imported descriptions. `ask`: its part of a design, by default
    `usual_ask`. Without `with_files` all images are treated as imported.
    """
    ask = usual_ask(kind) if ask is None else ask
    asked = (
        imported_answers(instances) if kind.asks_about_answers else map(About, instances.values_list("pk", flat=True))
    )
    for _, instance, facts in _with_facts(list(asked)):
        try:
            built = kind.questions(facts, ask, seed=facts.key) if with_files else _without_files(kind, ask, facts)
        except CannotAsk as error:
            yield instance, error
        else:
            yield from ((instance, each) for each in built)


def _without_files(kind: Kind, ask: Mapping[str, Any], facts: InstanceFacts) -> Sequence[NewQuestion]:
    """Return the questions of `kind` as if all missing images were imported. Raises CannotAsk.

    If that is not enough, also as if each empty role had one image.
    """
    filled = with_placeholders(facts)
    try:
        return kind.questions(filled, ask, seed=facts.key)
    except CannotAsk as error:
        there = filled.images
        added = {role: [ImageFacts(PLACEHOLDER, 1, 1)] for role in kind.roles(ask).images if not there.get(role)}
        try:
            return kind.questions(replace(filled, images={**there, **added}), ask, seed=facts.key)
        except CannotAsk:
            raise error from None


def with_placeholders(facts: InstanceFacts) -> InstanceFacts:
    """Return the facts of an instance as if the files of all its images were there."""
    there = {
        role: [image if image.sha256 else replace(image, sha256=PLACEHOLDER) for image in images]
        for role, images in facts.images.items()
    }
    return replace(facts, images=there)


def sample_questions(study: Study, *, per_part: int) -> list[dict[str, Any]]:
    """Return the first questions of each part that a launch would make (kind, part, content, ...), unsaved."""
    sampled: dict[int, list[dict[str, Any]]] = {number: [] for number in range(len(study.design.parts))}
    some = islice(items_to_ask(study), SAMPLED_PER_QUESTION * per_part)
    for about, _, facts in _with_facts(list(some)):
        try:
            for fields in _questions_about(study, facts, about.source):
                sampled[fields["part"]].append(fields)
        except CannotAsk:
            continue
    return [fields for part in sampled.values() for fields in part[:per_part]]


def make_practice(study: Study) -> None:
    """Make the practice questions of a study. Raises StudyError."""
    for fields in practice_questions(study):
        PracticeQuestion.objects.create(study=study, **fields)


def practice_questions(study: Study) -> Iterator[dict[str, Any]]:
    """Yield the unsaved practice questions of a study (position, kind, content, right, feedback).

    They use the `ask` of its first part. Raises StudyError for one that cannot be asked.
    """
    asked = study.design.practice.questions
    found = Instance.objects.filter(project=study.project_id, key__in=[entry.instance for entry in asked])
    facts = _facts_for_practice(study, found)
    for position, entry in enumerate(asked):
        which = f"Practice question {position + 1}"
        if entry.instance not in facts:
            raise StudyError(f"{which} names instance {entry.instance}, which the study cannot ask about.")
        try:
            kind, built = _practice_question(study, facts[entry.instance], position)
        except CannotAsk as error:
            raise StudyError(f"{which}: {error}") from error
        options = [option.key for option in kind.options(built.content)]
        if entry.right not in options:
            raise StudyError(f"{which} says {entry.right} is right; its options are {', '.join(options)}.")
        yield {
            "position": position,
            "kind": kind.name,
            "content": built.content,
            "right": entry.right,
            "feedback": entry.feedback,
        }


def practice_about(study: Study, instance: Instance) -> tuple[Kind, NewQuestion]:
    """Return the question about `instance` as the next practice question of a draft, and its kind.

    `NewQuestion.right` is the right option if the kind knows it. Raises CannotAsk.
    """
    facts = _facts_for_practice(study, Instance.objects.filter(pk=instance.pk))
    if instance.key not in facts:
        raise CannotAsk(f"instance {instance.key} has no description to ask about.")
    return _practice_question(study, facts[instance.key], len(study.design.practice.questions))


def _practice_question(study: Study, facts: InstanceFacts, position: int) -> tuple[Kind, NewQuestion]:
    part = study.design.parts[0]
    kind = get_kind(part.kind)
    return kind, kind.questions(facts, part.ask, seed=f"{study.secret_seed}|practice|{position}")[0]


def _facts_for_practice(study: Study, instances: QuerySet[Instance]) -> dict[str, InstanceFacts]:
    practised = [About(instance) for instance in instances.values_list("pk", flat=True)]
    if get_kind(study.design.parts[0].kind).asks_about_answers:
        # The first description of each instance.
        practised = list({about.instance: about for about in reversed(list(imported_answers(instances)))}.values())
    return {instance.key: known for _, instance, known in _with_facts(practised)}
