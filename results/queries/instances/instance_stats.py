"""What a study has made of each instance, counted from its decisions and its counted answers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import median

from analytics.outcomes import (
    Outcome,
    Progress,
    outcome_of_instance,
    outcome_of_question,
    progress_of,
    progress_of_instance,
)
from annotation.models import Decision, Response
from annotation.models.responses import took_ms
from results.queries.instances.human_model_disagreement import parted_questions
from results.reports.facts import Way
from studies.models import Project, Question, Study

CHUNK = 2_000
# Who is right where people and all models part -> name of the study and instance.
Parting = Mapping[Way, Set[tuple[str, int]]]


@dataclass(frozen=True)
class Figures:
    """What `InstanceFigures` holds of one instance in one study; its fields say what each is."""

    instance: int
    outcome: Outcome
    progress: Progress
    answers: int
    agreement: float | None
    seconds: float | None
    people_right: bool
    models_right: bool


def parting_in(project: Project) -> Parting:
    """Return about which instances people and all models part, of all studies that the project counts."""
    found: dict[Way, set[tuple[str, int]]] = {way: set() for way in Way}
    for one in parted_questions(project):
        found[one.way].add((one.study, one.instance))
    return found


def instances_asked(study: Study) -> Iterator[list[int]]:
    """Yield the instances that `study` asks about, by their ids, some thousands at a time."""
    asked = Question.objects.filter(study=study).order_by("instance_id").values_list("instance_id", flat=True)
    last = 0
    while some := list(asked.filter(instance__gt=last).distinct()[:CHUNK]):
        yield some
        last = some[-1]


def figures_of(study: Study, instances: Sequence[int], parting: Parting) -> dict[int, Figures]:
    """Return the figures of those of `instances`, sorted, that `study` asks about; two queries."""
    among = {"question__instance__gte": instances[0], "question__instance__lte": instances[-1]}
    about = {"question__study": study, **among}
    outcomes: dict[int, list[tuple[str, Outcome]]] = defaultdict(list)
    progress: dict[int, list[Progress]] = defaultdict(list)
    votes: dict[int, list[Mapping[str, int]]] = defaultdict(list)
    answers: dict[int, int] = defaultdict(int)
    decisions = Decision.objects.filter(**about).order_by()
    columns = ("state", "answers", "question__answers_wanted", "question__undone_at", "votes")
    rows = decisions.values_list("question__instance_id", "question__item", *columns)
    for instance, item, state, given, wanted, undone_at, of_one in rows.iterator(chunk_size=CHUNK):
        outcome = outcome_of_question(
            state, answers=given, wanted=wanted, accepts=study.accepts, undone=undone_at is not None
        )
        outcomes[instance].append((item, outcome))
        progress[instance].append(progress_of(given, wanted))
        votes[instance].append(of_one)
        answers[instance] += given
    times: dict[int, list[float]] = defaultdict(list)
    timed = Response.objects.counted().filter(**about).annotate(ms=took_ms()).filter(ms__isnull=False).order_by()
    for instance, ms in timed.values_list("question__instance_id", "ms").iterator():
        times[instance].append(ms / 1000)
    return {
        instance: Figures(
            instance,
            outcome_of_instance(of_questions),
            progress_of_instance(progress[instance]),
            answers[instance],
            pairs_alike(votes[instance]),
            median(times[instance]) if instance in times else None,
            (study.slug, instance) in parting[Way.PEOPLE],
            (study.slug, instance) in parting[Way.MODELS],
        )
        for instance, of_questions in outcomes.items()
    }


def pairs_alike(votes: Iterable[Mapping[str, int]]) -> float | None:
    """Return the share of the pairs of answers to the same question that are the same, 0 to 1, over all questions.

    votes: for each question how often each label was given. None where no question has two of them: there is no pair.
    It is the observed agreement of one subject (Fleiss 1971, p. 379), pooled over its questions by their pairs.

    Example: two say A and one B: of the three pairs one is alike, 1/3.
    """
    alike = pairs = 0
    for of_one in votes:
        answers = sum(of_one.values())
        alike += sum(count * (count - 1) for count in of_one.values())
        pairs += answers * (answers - 1)
    return alike / pairs if pairs else None
