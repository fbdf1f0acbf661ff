"""Accuracy of each person, by question and by instance: the input of human scores.

All answers of a person count: none is dropped because others differ, and adjudications do not enter.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analytics.outcomes import Progress, State, progress_of
from analytics.scores import Score
from results.reports.explorer_links import ALL
from results.reports.facts import ProjectFacts, QuestionFacts, StudyFacts
from results.reports.sections.funnel import Category
from studies.kinds import FINER_SCORES, get_kind, usual_ask
from studies.rules.votes import majority

I2T, T2I, GROUP = "I2T", "T2I", "Group"
# The finer scores of questions, as (kind, position), and the scores that combine all of one name.
FOUR: Mapping[tuple[str, int], str] = {
    (kind, get_kind(kind).variants(usual_ask(get_kind(kind))).index(variant)): score
    for score, (kind, variant) in FINER_SCORES.items()
}
OF_FOUR: Mapping[str, tuple[str, ...]] = {
    I2T: ("Ipos2T", "Ineg2T"),
    T2I: ("Tpos2I", "Tneg2I"),
    GROUP: ("Ipos2T", "Ineg2T", "Tpos2I", "Tneg2I"),
}
SCORES = (*OF_FOUR, *FOUR.values())


@dataclass(frozen=True, slots=True)
class UnitScore:
    """The score of one person, from 0 to 1, for a question or for all questions of an instance in a score."""

    person: int
    unit: int
    instance: int
    right: float


@dataclass(frozen=True)
class PeopleScores:
    """One score of a study: its name, and every scored unit, by person in order of answers.

    `unit`: "question" or "instance". `kind`: of the questions, "" if they are of several.
    """

    name: str
    unit: str
    judged: Sequence[UnitScore]
    kind: str = ""


def asks_the_four(study: StudyFacts) -> bool:
    """Whether a study asks all four questions of BiVLC, so that I2T, T2I and Group are defined."""
    return set(FOUR) <= {(question.kind, question.variant_index) for question in study.questions if question.right}


def baselines(project: ProjectFacts) -> list[StudyFacts]:
    """Return the studies that measure accuracy of people; each is reported on its own."""
    return [study for study in project.studies if study.purpose == "baseline" and study.knows_answers]


def score_people(study: StudyFacts) -> list[PeopleScores]:
    """Return the scores of a study with known right answers.

    With the four questions: I2T, T2I and Group, over the instances whose questions one person all answered, and the
    four finer scores. For every other kind: accuracy over the questions that a person answered, or the kind's own
    scores.
    """
    questions = {question.id: question for question in study.questions if question.knows_right}
    of_four = asks_the_four(study)
    by_name: dict[str, list[UnitScore]] = {}
    for answer in study.answers:
        question = questions.get(answer.question)
        if question is not None and not question.has_own_score:
            name = _name(question, of_four=of_four)
            right = answer.choice == question.right
            by_name.setdefault(name, []).append(UnitScore(answer.annotator, question.id, question.instance, right))
    for scored in study.scored:
        if (question := questions.get(scored.question)) is not None:
            name = _name(question, of_four=of_four)
            judged = UnitScore(scored.annotator, question.id, question.instance, scored.score)
            by_name.setdefault(name, []).append(judged)
    wholes = (
        [PeopleScores(name, "instance", _whole(by_name, parts)) for name, parts in OF_FOUR.items()] if of_four else []
    )
    kinds = {_name(question, of_four=of_four): question.kind for question in questions.values()}
    return wholes + [
        PeopleScores(name, "question", by_name.get(name, []), kinds[name]) for name in sorted(kinds, key=_in_order)
    ]


def _name(question: QuestionFacts, *, of_four: bool) -> str:
    name = FOUR.get((question.kind, question.variant_index)) if of_four else None
    return name or f"{'Score' if question.has_own_score else 'Right'} ({question.kind})"


def _in_order(name: str) -> tuple[int, str]:
    return (SCORES.index(name), "") if name in SCORES else (len(SCORES), name)


def _whole(by_name: Mapping[str, Sequence[UnitScore]], parts: Sequence[str]) -> list[UnitScore]:
    """Return per person and instance whether all of `parts` were right; only if the person answered all."""
    found: dict[tuple[int, int], list[float]] = {}
    for part in parts:
        for one in by_name.get(part, ()):
            found.setdefault((one.person, one.instance), []).append(one.right)
    return [
        UnitScore(person, instance, instance, all(rights))
        for (person, instance), rights in found.items()
        if len(rights) == len(parts)
    ]


def by_category(judged: Iterable[UnitScore], categories: Mapping[int, Category]) -> dict[Category, list[UnitScore]]:
    """Group scored units: all, then each type with its subtypes."""
    found: dict[Category, list[UnitScore]] = {(ALL, ALL): []}
    for one in judged:
        type, subtype = categories[one.instance]
        for category in ((ALL, ALL), (type, ALL), (type, subtype)):
            found.setdefault(category, []).append(one)
    return dict(sorted(found.items(), key=lambda item: in_category_order(item[0])))


def in_category_order(category: Category) -> tuple[bool, str, bool, str]:
    """Sort key: everything first, then by type, a type as a whole before its subtypes."""
    type, subtype = category
    return (type != ALL, type, subtype != ALL, subtype)


@dataclass(frozen=True)
class MajorityScores:
    """A score of the majority answer.

    `decided`: the instance of each unit with a majority, and whether it is right. `left_out`: units without a majority,
    by progress.
    """

    name: str
    unit: str
    decided: Sequence[tuple[int, bool]]
    left_out: Mapping[Progress, int]

    @property
    def found(self) -> Score:
        return Score(sum(right for _, right in self.decided), len(self.decided))


def majority_scores(study: StudyFacts) -> list[MajorityScores]:
    """Return the scores of the majority of counted answers to each question; adjudications do not count.

    Units with incomplete questions, and those without a majority, are left out and counted.
    """
    # A kind with its own score has partially right answers, which have no majority.
    counted = [question for question in study.questions if question.right and not question.has_own_score]
    choices: dict[int, list[str]] = {}
    for answer in study.answers:
        choices.setdefault(answer.question, []).append(answer.choice)
    of_four = asks_the_four(study)
    # Name -> instance -> answers, by question.
    said: dict[str, dict[int, list[bool | Progress]]] = {}
    for question in counted:
        of_name = said.setdefault(_name(question, of_four=of_four), {})
        of_name.setdefault(question.instance, []).append(_verdict(question, choices.get(question.id, ())))
    found = [
        _majority(name, "question", [(instance, [one]) for instance, of in each.items() for one in of])
        for name, each in said.items()
    ]
    for name, parts in OF_FOUR.items() if of_four else ():
        together = [said[part] for part in parts]
        common = [instance for instance in together[0] if all(instance in each for each in together)]
        units = [(key, [one for each in together for one in each[key]]) for key in common]
        found.append(_majority(name, "instance", units))
    return sorted(found, key=lambda each: _in_order(each.name))


def _verdict(question: QuestionFacts, choices: Sequence[str]) -> bool | Progress:
    """Return whether the majority is right or, without one, the progress."""
    progress = progress_of(len(choices), question.wanted)
    if progress is not Progress.COMPLETE:
        return progress
    verdict = majority(choices, question.wanted, rejecting=frozenset())
    return progress if verdict.state is State.UNDECIDED else verdict.winner == question.right


def _majority(name: str, unit: str, units: Sequence[tuple[int, Sequence[bool | Progress]]]) -> MajorityScores:
    decided: list[tuple[int, bool]] = []
    left_out = dict.fromkeys(Progress, 0)
    for instance, each in units:
        waiting = {one for one in each if isinstance(one, Progress)}
        if not waiting:
            decided.append((instance, all(each)))
        elif waiting == {Progress.COMPLETE}:
            left_out[Progress.COMPLETE] += 1
        else:
            left_out[Progress.UNANSWERED if set(each) == {Progress.UNANSWERED} else Progress.OPEN] += 1
    return MajorityScores(name, unit, decided, left_out)
