"""Statistics of each instance in a study, from its decisions and counted answers."""

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
from results.queries.instances.human_model_disagreement import human_model_disagreements
from results.reports.facts import Way
from studies.models import Project, Question, Study

CHUNK = 2_000
# Who is right in a disagreement -> study name and instance.
Disagreements = Mapping[Way, Set[tuple[str, int]]]


@dataclass(frozen=True)
class Figures:
    """The fields of `InstanceFigures` for one instance in one study."""

    instance: int
    outcome: Outcome
    progress: Progress
    answers: int
    agreement: float | None
    seconds: float | None
    people_right: bool
    models_right: bool


def disagreements_in(project: Project) -> Disagreements:
    """Return the instances on which people and all models disagree, in all counted studies of the project."""
    found: dict[Way, set[tuple[str, int]]] = {way: set() for way in Way}
    for one in human_model_disagreements(project):
        found[one.way].add((one.study, one.instance))
    return found


def instances_asked(study: Study) -> Iterator[list[int]]:
    """Yield batches of some thousand instance ids that `study` asks about."""
    asked = Question.objects.filter(study=study).order_by("instance_id").values_list("instance_id", flat=True)
    last = 0
    while some := list(asked.filter(instance__gt=last).distinct()[:CHUNK]):
        yield some
        last = some[-1]


def figures_of(study: Study, instances: Sequence[int], disagreements: Disagreements) -> dict[int, Figures]:
    """Return the figures of `instances` (sorted) that `study` asks about; two queries."""
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
        undone = undone_at is not None
        outcome = outcome_of_question(state, answers=given, wanted=wanted, accepts=study.accepts, undone=undone)
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
            (study.slug, instance) in disagreements[Way.PEOPLE],
            (study.slug, instance) in disagreements[Way.MODELS],
        )
        for instance, of_questions in outcomes.items()
    }


def pairs_alike(votes: Iterable[Mapping[str, int]]) -> float | None:
    """Return the share of equal pairs among the pairs of answers to the same question, 0 to 1, over all questions.

    votes: for each question how often each label was given. None if no question has two answers. It is the observed
    agreement of one subject (Fleiss 1971, p. 379), pooled over its questions by their pairs.

    Example: two say A and one B: one of the three pairs is equal, 1/3.
    """
    alike = pairs = 0
    for of_one in votes:
        answers = sum(of_one.values())
        alike += sum(count * (count - 1) for count in of_one.values())
        pairs += answers * (answers - 1)
    return alike / pairs if pairs else None
