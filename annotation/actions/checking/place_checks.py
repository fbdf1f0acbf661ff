"""Give each new place its checks: which, and where among the questions."""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Count
from django.utils import translation
from django.utils.translation import gettext

from annotation.language import interface_language, translate
from annotation.models import Seat, Slot
from studies.actions.questions import right_columns
from studies.check_positions import Repeat, place_checks
from studies.design.quality_checks import MOST_CHECKS
from studies.kinds import Option, get_kind
from studies.models import Check, Question, Study, Survey

BATCH = 500


class Place(NamedTuple):
    """A question (id) at its place in a seat, and how many answers it wants."""

    question: int
    part: int
    wanted: int
    is_check: bool = False


def order_of_seats(
    *, study: Study, surveys: Sequence[Survey], seats: Sequence[Seat], planned: Mapping[int, Sequence[Place]]
) -> dict[int, list[Place]]:
    """Return the id of each of `seats` -> its questions and checks in order; {} if `study` has no checks.

    planned: the questions of each survey, by its id. Each person gets them in an order of their own, so that people who
    compare their pages cannot tell what stands elsewhere. Makes the questions of instruction checks and of repeats.
    """
    design = study.design.checks
    if design is None:
        return {}
    gold = _GoldPool(study, 0 if design.gold is None else design.gold.per_survey)
    instructions = _Instructions(study, planned, 0 if design.instruction is None else design.instruction.per_survey)
    placed: dict[int, list[Place | Repeat[Place]]] = {}
    by_survey: dict[int, list[Seat]] = {}
    for seat in seats:
        by_survey.setdefault(seat.survey_id, []).append(seat)
    for survey in surveys:
        ordinary = list(planned.get(survey.pk, ()))
        room = len(ordinary) // MOST_CHECKS
        # Of questions that want more answers, more are read before the next one is stored, which takes another time.
        wanted = max((place.wanted for place in ordinary), default=survey.seats_planned)
        known = gold.take(survey, room, wanted)
        attention = instructions.take(survey, room - len(known), wanted)
        left = room - len(known) - len(attention)
        repeats = min(0 if design.repeat is None else design.repeat.per_survey, left)
        for seat in by_survey.get(survey.pk, ()):
            seed = f"{study.secret_seed}|checks|{survey.number}|{seat.number}"
            placed[seat.pk] = place_checks(ordinary, known, attention, repeats=repeats, seed=seed)
    repeated = {each.of.question for some in placed.values() for each in some if isinstance(each, Repeat)}
    copies = _repeats_of(study, repeated)
    return {seat: [_with_copy(each, copies) for each in places] for seat, places in placed.items()}


def _with_copy(each: Place | Repeat[Place], copies: Mapping[int, int]) -> Place:
    return each.of._replace(question=copies[each.of.question], is_check=True) if isinstance(each, Repeat) else each


class _GoldPool:
    """The gold instances of a study, those that fewest people have seen first.

    As long as there are enough, a gold question is asked of as many people as the others: its number of appearances
    tells nothing.
    """

    def __init__(self, study: Study, per_survey: int) -> None:
        self._per_survey, self._secret = per_survey, study.secret_seed
        rows = Question.with_checks.filter(study=study, check_type=Check.GOLD, undone_at=None).order_by("pk")
        self._places: dict[int, list[Place]] = {}
        self._wanted: dict[int, int] = {}
        for pk, instance, part, wanted in rows.values_list("pk", "instance_id", "part", "answers_wanted"):
            self._places.setdefault(instance, []).append(Place(pk, part, wanted, True))
            self._wanted[instance] = wanted
        used = Slot.objects.filter(question__in=rows.order_by()).order_by().values_list("question__instance")
        self._seen: dict[int, int] = dict.fromkeys(self._places, 0) | dict(used.annotate(n=Count("pk")))

    def take(self, survey: Survey, room: int, wanted: int) -> list[Place]:
        """Return the gold questions of `survey`, at most `room`; its other questions want `wanted` answers."""
        dice = random.Random(f"{self._secret}|gold|{survey.number}")  # noqa: S311 (the seed is secret)
        shuffled = dice.sample(sorted(self._places), len(self._places))
        shuffled.sort(key=lambda each: (self._seen[each], self._wanted[each] != wanted))
        found: list[Place] = []
        for instance in shuffled[: self._per_survey]:
            places = self._places[instance]
            if len(found) + len(places) > room:
                break
            if not self._seen[instance] and self._wanted[instance] != wanted:
                asked = Question.with_checks.filter(pk__in=[place.question for place in places])
                asked.update(answers_wanted=wanted)
                self._wanted[instance] = wanted
            found += places
            self._seen[instance] += survey.seats_planned
        return found


class _Instructions:
    """Makes instruction checks from questions of other surveys, whose images the same person does not see again."""

    def __init__(self, study: Study, planned: Mapping[int, Sequence[Place]], per_survey: int) -> None:
        self._study, self._planned, self._per_survey = study, planned, per_survey
        self._parts = [n for n, part in enumerate(study.design.parts) if get_kind(part.kind).can_instruct(part.ask)]
        self._asked: list[int] = []
        self._made: dict[int, Place] = {}
        if per_survey:
            asked = study.questions.filter(part__in=self._parts, undone_at=None).order_by("pk")
            self._asked = list(asked.values_list("pk", flat=True))
            made = Question.with_checks.filter(study=study, check_type=Check.INSTRUCTION, undone_at=None).order_by("pk")
            for original, pk, part, wanted in made.values_list("source_id", "pk", "part", "answers_wanted"):
                self._made[original] = Place(pk, part, wanted, True)

    def take(self, survey: Survey, room: int, wanted: int) -> list[Place]:
        """Return the instruction checks of `survey`, at most `room`; its other questions want `wanted` answers."""
        number = min(self._per_survey, room)
        if number <= 0:
            return []
        own = {place.question for place in self._planned.get(survey.pk, ())}
        dice = random.Random(f"{self._study.secret_seed}|instruction|{survey.number}")  # noqa: S311 (secret)
        shuffled = dice.sample(self._asked, len(self._asked))
        shuffled.sort(key=lambda each: (each in self._made, each in own))
        chosen = shuffled[:number]
        fresh = Question.objects.filter(pk__in=[each for each in chosen if each not in self._made]).order_by("pk")
        made = [_instruction(each, dice.randrange(1000), self._study, wanted) for each in fresh]
        for each in Question.with_checks.bulk_create(made):
            self._made[each.source_id] = Place(each.pk, each.part, wanted, True)
        return [self._made[each] for each in chosen]


def _instruction(asked: Question, number: int, study: Study, wanted: int) -> Question:
    def say(option: Option) -> str:
        label = option.label if option.is_own_words else translate(option.label)
        return gettext("This question is an attention check. Whatever the images show, choose “%(option)s”.") % {
            "option": label
        }

    with translation.override(interface_language(study.design.language or "en")):
        content, right = get_kind(asked.kind).instruction_check(asked.content, number, say)
    return Question(
        study=study,
        instance_id=asked.instance_id,
        kind=asked.kind,
        variant=asked.variant,
        part=asked.part,
        content=dict(content),
        item=asked.item,
        answers_wanted=wanted,
        check_type=Check.INSTRUCTION,
        source_type=Check.INSTRUCTION,
        source_id=asked.pk,
        **right_columns(right),
    )


def _repeats_of(study: Study, questions: Iterable[int]) -> dict[int, int]:
    """Return each of `questions` -> its repeat, made if there is none."""
    wanted = sorted(questions)
    found: dict[int, int] = {}
    for start in range(0, len(wanted), BATCH):
        batch = wanted[start : start + BATCH]
        known = Question.with_checks.filter(check_type=Check.REPEAT, source_type=Check.REPEAT, source_id__in=batch)
        found |= dict(known.values_list("source_id", "pk"))
        asked = Question.with_checks.filter(pk__in=[each for each in batch if each not in found]).order_by("pk")
        made = Question.with_checks.bulk_create([_repeat(each, study) for each in asked])
        found |= {each.source_id: each.pk for each in made}
    return found


def _repeat(asked: Question, study: Study) -> Question:
    return Question(
        study=study,
        instance_id=asked.instance_id,
        kind=asked.kind,
        variant=asked.variant,
        part=asked.part,
        content=asked.content,
        right=asked.right,
        right_answer=asked.right_answer,
        item=asked.item,
        answers_wanted=asked.answers_wanted,
        check_type=Check.REPEAT,
        source_type=Check.REPEAT,
        source_id=asked.pk,
    )
