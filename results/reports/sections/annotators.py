"""How carefully each annotator answered, as far as answers show it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from analytics.aggregation import (
    LEAST_PER_TASK,
    Answer,
    agreement_with_others,
    dawid_skene,
    glad,
    mace,
    with_enough_answers,
)
from analytics.outcomes import State
from analytics.position_bias import own_positions, position_bias
from analytics.scales import Use, use_of_scale
from analytics.scores import Score, score, sum_of_scores
from analytics.work.pay import percentile
from results.reports.base import (
    SEED,
    AnnotatorName,
    Bar,
    Cell,
    Chart,
    Column,
    LinkedCount,
    Point,
    Positions,
    Range,
    Series,
    Table,
    Undefined,
)
from results.reports.cells import range_over_instances, value_or_reason
from results.reports.explorer_links import ALL, list_query
from results.reports.facts import LabelSpace
from results.reports.labels import AgreementLabels, rule_labels
from results.reports.sections.answers import NOBODY_TIMED
from results.reports.text import p_text
from studies.wording import format_count

RIGHT_RANGE = "Right, 95 % interval"
# The models iterate hundreds of times over all answers: this many take about a second.
MOST_MODELLED = 10_000
ALONE = "Nobody else answered this annotator's questions."
ONLY_ADDED = "Asked only where other answers differed, so agreement cannot be measured."
TOO_FEW = f"Needs a question with at least {LEAST_PER_TASK} answers; this annotator has none."
TOO_MANY = f"More than {MOST_MODELLED:,} answers can be compared with others; run the models on the exported responses."


@dataclass(frozen=True, slots=True)
class PersonsAnswer:
    """A counted answer. `right`: the right option, "" if unknown.

    `seconds`: with the page in view, by the browser. `position`: of the chosen option among the `positions` shuffled
    ones, from 0; None for a fixed last one. `added`: requested because the first answers differed. `instance`: id of
    its subject. `units`: unit -> label, of an answer without a single label. `became`: its state in studies about this
    answer (`State`), "" if none has decided. `score`: from 0 to 1, if its kind scores answers itself; else None.
    """

    annotator: str
    question: int
    kind: str
    choice: str
    right: str
    seconds: float | None
    position: int | None = None
    positions: int = 0
    added: bool = False
    instance: int = 0
    units: Mapping[str, str] = field(default_factory=dict)
    became: str = ""
    score: float | None = None

    @property
    def credit(self) -> float | None:
        """Score from 0 to 1; None if unknown."""
        if self.score is not None:
            return self.score
        return float(self.choice == self.right) if self.right else None

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels compared with the answers of others: unit -> label; nothing for a free text."""
        return {"": self.choice} if self.choice else self.units


@dataclass(frozen=True)
class _ModelSkills:
    """The accuracy of each annotator by each of `MODELS` for one set of labels, or why it was not estimated."""

    by_model: Sequence[Mapping[str, float]]
    reason: str


MODELS = ("MACE", "Dawid-Skene", "GLAD")
_NOT_MODELLED: Sequence[Mapping[str, float]] = ({},) * len(MODELS)


# The columns of a row about one person's answers of one kind, in order; the models' columns follow.
_FLAGS, _KIND, _ANSWERS, _SECONDS = 1, 4, 5, 8


def annotators_table(
    answers: Sequence[PersonsAnswer],
    kinds: Mapping[str, LabelSpace],
    *,
    study: str = "",
    flags: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Table:
    """Return a row per annotator and kind, lowest agreement with others first.

    Leaves out columns that apply to nobody, and the kind if there is only one. kinds: kind -> its label space. study:
    its name in addresses, for links to the instances. flags: name -> what is unusual about their sessions.
    """
    asked = list(dict.fromkeys(one.kind for one in answers))
    compared = list(dict.fromkeys(labels.title for kind in asked for labels in rule_labels(kind, kinds[kind])))
    found = [row for kind in asked for row in _rows_of(kind, kinds[kind], answers, compared)]
    rows = [row for _, row in sorted(found, key=lambda each: each[0])]
    listed = _answer_counts(study, answers) if study else {}
    slowest = max((cell.high or 0 for row in rows if isinstance(cell := row[_SECONDS], Bar)), default=0)
    rows = [_finish_row(row, listed.get((row[0], row[_KIND])), flags.get(str(row[0]), ()), slowest) for row in rows]
    columns = _columns("Annotator", _always(kinds[kind] for kind in asked))
    columns += [Column(f"{model}: {title}", "percent") for title in compared for model in MODELS]
    notes = [*_notes(_several([one for one in answers if not one.added])), *_habits(answers)]
    notes += _notes_on_measures(answers, [kinds[kind] for kind in asked])
    one_kind = len(asked) == 1
    title = "How each annotator answered" + ", by kind of question" * (not one_kind)
    return _without_empty(Table("annotators", title, columns, rows, notes), one_kind=one_kind)


@dataclass(frozen=True)
class PersonInStudy:
    """What the statistics of one person in one study rest on.

    answers: theirs, and those of others to the same questions. flags: what is unusual about their sessions.
    """

    study: str
    answers: Sequence[PersonsAnswer]
    kinds: Mapping[str, LabelSpace]
    flags: Sequence[str] = ()


def person_table(name: str, studies: Sequence[PersonInStudy]) -> Table:
    """Return a row per study and kind about the annotator called `name`, with the numbers of `annotators_table`.

    Leaves out the models of annotators, which need all answers of a study.
    """
    rows: list[tuple[Cell, ...]] = []
    for each in studies:
        listed = _answer_counts(each.study, each.answers)
        for kind in _kinds_of(each, name):
            ((_, row),) = _rows_of(kind, each.kinds[kind], each.answers, (), only=name)
            rows.append((each.study, *_finish_row(row, listed.get((name, kind)), each.flags, 0)[1:]))
    mine = [one for each in studies for one in each.answers if one.annotator == name]
    spaces = [each.kinds[kind] for each in studies for kind in _kinds_of(each, name)]
    notes = [ABOUT_NUMBERS, *_notes_on_measures(mine, spaces)]
    table = Table("answers-by-study", "Answers by study", _columns("Study", _always(spaces)), rows, notes)
    return _without_empty(table, one_kind=len({row[_KIND] for row in rows}) == 1)


def _kinds_of(study: PersonInStudy, name: str) -> Iterable[str]:
    """Return the kinds of the questions that the annotator called `name` answered."""
    return dict.fromkeys(one.kind for one in study.answers if one.annotator == name)


def _columns(first: str, always: str) -> list[Column]:
    return [
        *(Column(first), Column("Flags")),
        *(Column("Agreement with others", "percent"), Column("Agreement, 95 % interval", "percent")),
        *(Column("Kind"), Column("Answers", "count")),
        *(Column("Compared with"), Column("Shared questions", "count"), Column("Median seconds", "coefficient")),
        *(Column("Seconds, middle half", "coefficient"), Column("Position bias, p", "p")),
        *(Column(always, "percent"), Column("Right", "percent"), Column(RIGHT_RANGE, "percent")),
        *(Column("Decided by others", "count"), Column("Accepted by others", "percent")),
        *(Column("Accepted, 95 % interval", "percent"), Column("Mean rating", "coefficient")),
        *(Column("Spread (SD)", "coefficient"), Column("Steps used", "count")),
        *(Column("Most used step", "percent"), Column("Lean", "coefficient")),
    ]


def _finish_row(
    row: tuple[Cell, ...], listed: LinkedCount | None, flags: Sequence[str], slowest: float
) -> tuple[Cell, ...]:
    """Return `row` with a link, its flags in words, and its time on a scale up to `slowest` seconds."""
    cells = list(row)
    cells[_ANSWERS] = cells[_ANSWERS] if listed is None else listed
    seconds = cells[_SECONDS]
    if isinstance(seconds, Bar):
        cells[_SECONDS] = Bar(seconds, low=seconds.low, high=seconds.high, most=slowest)
    cells[_FLAGS] = ", ".join(flags) or None
    return tuple(cells)


def _without_empty(table: Table, *, one_kind: bool) -> Table:
    """Return `table` without the columns that apply to no row, and without the kind if there is only one."""
    applies = [index for index in range(len(table.columns)) if any(row[index] is not None for row in table.rows)]
    if one_kind:
        applies.remove(_KIND)
    columns = [table.columns[index] for index in applies]
    return replace(table, columns=columns, rows=[tuple(row[index] for index in applies) for row in table.rows])


def _notes_on_measures(answers: Sequence[PersonsAnswer], kinds: Sequence[LabelSpace]) -> Iterable[str]:
    """Yield the notes on columns that not every table has."""
    if any(kind.is_scale for kind in kinds):
        yield (
            "On a scale: mean and spread in its steps, the share of the step that somebody chose most often, and how "
            "far their ratings lie above (below: negative) the mean of the others' ratings of the same question."
        )
    if any(one.score is not None for one in answers):
        yield "Right: the mean score where answers can be partly right."
    if any(one.credit is not None or one.became for one in answers):
        yield "Annotators who answer more of the disputed questions get harder questions, so their scores can be lower."
    if any(one.became for one in answers):
        yield "Decided by others: answers that other people have finished judging, each counted once."


def _answer_counts(study: str, answers: Iterable[PersonsAnswer]) -> Mapping[tuple[Cell, Cell], LinkedCount]:
    """Return (annotator, kind) -> number of answers.

    Linked to their instances if these are all that the annotator answered about.
    """
    given: Counter[tuple[str, str]] = Counter()
    about: dict[tuple[str, str], set[int]] = defaultdict(set)
    for one in answers:
        given[one.annotator, one.kind] += 1
        for kind in (one.kind, ALL):
            about[one.annotator, kind].add(one.instance)
    return {
        (name, kind): LinkedCount(
            n, list_query(study=study, person=name), unit="answers", instances=len(about[name, kind])
        )
        for (name, kind), n in given.items()
        if about[name, kind] == about[name, ALL]
    }


def _always(kinds: Iterable[LabelSpace]) -> str:
    """Return the names of the options that are always offered."""
    called = dict.fromkeys(kind.name(option) for kind in kinds for option in kind.beside)
    return " or ".join(called) or "Always offered"


def _rows_of(
    kind: str, label_space: LabelSpace, every: Sequence[PersonsAnswer], compared: Sequence[str], *, only: str = ""
) -> Iterable[tuple[tuple[float, str, str], tuple[Cell, ...]]]:
    """Yield the row of each annotator with answers of one kind, with its sort key.

    compared: titles of the label sets that have columns. only: the one annotator whose row is wanted.
    """
    answers = [one for one in every if one.kind == kind]
    # People who are asked because others differ are bound to differ from some of them.
    first = [one for one in answers if not one.added]
    with_others = same_as_others(first)
    several = _several(first)
    shared = Counter(one.annotator for one in several)
    labelled = (labels for labels in rule_labels(kind, label_space) if labels.title in compared)
    modelled = {labels.title: _fit_models(several, labels) for labels in labelled}
    uses = _uses(first, label_space)
    subjects = {one.question: one.instance for one in answers}
    by_annotator: dict[str, list[PersonsAnswer]] = {}
    for one in answers:
        by_annotator.setdefault(one.annotator, []).append(one)
    wanted = {only: by_annotator[only]} if only else by_annotator
    for name, mine in wanted.items():
        alone = ONLY_ADDED if all(one.added for one in mine) else ALONE
        beside = with_others.get(name, {})
        agreement = _agreement(beside, subjects, alone)
        skills = [cell for title in compared for cell in _skills(modelled.get(title), name, shared[name], alone)]
        # Free texts are never equal.
        if not any(one.labels for one in mine):
            agreement, skills = (None, None), [None] * len(skills)
        compared_with = _compared_with(beside)
        row = (
            *(AnnotatorName(name), None, *agreement, kind, len(mine), compared_with, shared[name]),
            *(*_seconds(mine), position_habit(mine), *_shares(mine, label_space), *_accepted_share(mine)),
            *(*_on_scale(uses.get(name), alone), *skills),
        )
        yield (*_by_agreement(name, beside), kind), row


def _agreement(beside: Mapping[tuple[int, str], Score], subjects: Mapping[int, int], alone: str) -> tuple[Cell, Cell]:
    """Return the share of answers of others that are the same, with its interval for other instances.

    beside: question and unit -> same answers of others. subjects: question -> id of its instance.
    """
    share, interval = with_range(same_answers(beside, subjects))
    if interval is None:
        return Undefined(alone), Undefined(alone)
    limits = (interval.low, interval.high) if isinstance(interval, Range) else (None, None)
    return Bar(cast(float, share), low=limits[0], high=limits[1]), interval


def _compared_with(beside: Mapping[tuple[int, str], Score]) -> str | None:
    """Return how many answers of others an agreement counts, or how many parts of answers that have several."""
    n = sum(found.n for found in beside.values())
    unit = "part" if any(unit for _, unit in beside) else "answer"
    return f"{format_count(n, unit)} of others" if n else None


def same_as_others(first: Iterable[PersonsAnswer]) -> Mapping[str, Mapping[tuple[int, str], Score]]:
    """Return annotator -> question and unit -> how many answers of others are the same.

    first: answers without those that were added because others differed: they are bound to differ from some.
    """
    return agreement_with_others(
        ((one.question, unit), one.annotator, label) for one in first for unit, label in one.labels.items()
    )


def same_answers(beside: Mapping[tuple[int, str], Score], subjects: Mapping[int, int]) -> Sequence[tuple[float, int]]:
    """Return for each answer of others 1 if it is the same, else 0, with the id of its instance."""
    return [
        (float(place < found.count), subjects[question])
        for (question, _), found in beside.items()
        for place in range(found.n)
    ]


def position_habit(mine: Iterable[PersonsAnswer]) -> Cell:
    """Return the p-value of an annotator's positions under equal chances; None without positions."""
    positioned = [(one.position, one.positions) for one in mine if one.position is not None]
    if not positioned:
        return None
    found = position_bias([position for position, _ in positioned], [of for _, of in positioned])
    return Undefined(found.reason or "") if found.p is None else Positions(found.p, found.counts)


def _habits(answers: Sequence[PersonsAnswer]) -> Iterable[str]:
    """Yield for each kind a combined test of the position habits of all annotators."""
    kinds = list(dict.fromkeys(one.kind for one in answers))
    for kind in kinds:
        positioned = [
            (one.position, one.positions, one.annotator)
            for one in answers
            if one.kind == kind and one.position is not None
        ]
        chosen, shown, who = ([each[column] for each in positioned] for column in range(3))
        found = own_positions([int(position) for position in chosen], [int(of) for of in shown], who)
        if found.p is not None:
            of_kind = f" ({kind})" if len(kinds) > 1 else ""
            yield f"Position bias, combined test of each annotator's own positions{of_kind}: {p_text(found.p)}."


def _by_agreement(name: str, beside: Mapping[Any, Score]) -> tuple[float, str]:
    others = sum(found.n for found in beside.values())
    return (sum(found.count for found in beside.values()) / others if others else 2.0, name)


def _several(answers: Sequence[PersonsAnswer]) -> list[PersonsAnswer]:
    times = Counter(one.question for one in answers)
    return [one for one in answers if times[one.question] > 1]


def _seconds(mine: Iterable[PersonsAnswer]) -> tuple[Cell, Cell]:
    """Return the median time, and the range of the middle half."""
    seconds = [one.seconds for one in mine if one.seconds is not None]
    if not seconds:
        return Undefined(NOBODY_TIMED), Undefined(NOBODY_TIMED)
    low, median, high = (percentile(seconds, Fraction(quarter, 4)) for quarter in (1, 2, 3))
    return Bar(median, low=low, high=high, most=0), Range(low, high)


def _shares(mine: Sequence[PersonsAnswer], label_space: LabelSpace) -> tuple[Cell, ...]:
    """Return how often an option beside those of the instance, and the right option, was chosen, with its interval.

    None if there is none.
    """
    always = score([one.choice in label_space.beside for one in mine if label_space.beside])
    return always.share, *with_range([(one.credit, one.instance) for one in mine if one.credit is not None])


def _accepted_share(mine: Sequence[PersonsAnswer]) -> tuple[Cell, ...]:
    """Return the number of answers that others decided about, and the share they accepted, with its interval.

    None if nobody was asked.
    """
    found = [(float(one.became == State.ACCEPTED), one.instance) for one in mine if one.became]
    return (len(found) or None, *with_range(found))


def with_range(found: Sequence[tuple[float, int]]) -> tuple[Cell, Cell]:
    """Return the mean score with its interval. found: score of each answer and id of its instance."""
    rights, instances = [right for right, _ in found], [instance for _, instance in found]
    return sum_of_scores(rights).share, range_over_instances(rights, instances) if found else None


def _uses(answers: Iterable[PersonsAnswer], label_space: LabelSpace) -> Mapping[str, Use]:
    """Return how each annotator uses the scale, over all units on it; nothing without a scale."""
    if not label_space.is_scale:
        return {}
    ratings = [
        ((one.question, unit), one.annotator, label)
        for one in answers
        for unit, label in one.labels.items()
        if unit not in label_space.units
    ]
    return use_of_scale(ratings, label_space.options, label_space.scale.values)


def _on_scale(use: Use | None, alone: str) -> Iterable[Cell]:
    if use is None:
        return (None,) * 5
    spread = value_or_reason(use.sd, "One rating has no spread.")
    return (use.mean, spread, use.used, use.most, value_or_reason(use.lean, alone))


def _fit_models(several: Sequence[PersonsAnswer], labels: AgreementLabels) -> _ModelSkills:
    if not several:
        return _ModelSkills(_NOT_MODELLED, ALONE)
    if labels.no_chance:
        return _ModelSkills(_NOT_MODELLED, labels.no_chance)
    if sum(len(one.labels) for one in several) > MOST_MODELLED:
        return _ModelSkills(_NOT_MODELLED, TOO_MANY)
    given = with_enough_answers(_labels(several, labels))
    competence = mace(given, rng=np.random.default_rng(SEED)).skills
    return _ModelSkills((competence, dawid_skene(given).skills, glad(given).skills), TOO_FEW)


def _labels(several: Iterable[PersonsAnswer], labels: AgreementLabels) -> Iterable[Answer]:
    """Yield the answers with the labels that the rule compares: an option, or its group."""
    for one in several:
        for unit, label in one.labels.items():
            if labels.unit in (None, unit):
                yield (one.question, unit), one.annotator, labels.label(label)


def _skills(modelled: _ModelSkills | None, name: str, shared: int, alone: str) -> Iterable[Cell]:
    """Return the accuracy of an annotator by each model; None for labels that the kind does not have."""
    if modelled is None:
        return (None,) * len(MODELS)
    reason = modelled.reason if shared else alone
    return [value_or_reason(known.get(name), reason) for known in modelled.by_model]


ABOUT_NUMBERS = (
    "Counted answers only. Low agreement alone is not evidence of carelessness. Seconds: from shown to first sent, "
    "without the time the page was out of sight. Agreement with others: over all answers of others to the same "
    "questions, without answers added because others differed. An answer with several parts, such as statements or "
    "criteria, counts part by part. Intervals are Wilson's, for this person on similar "
    "instances, clustered by instance if one has several answers. Position bias, p: chi-squared test that all "
    "positions are chosen equally often (Monte Carlo for small counts); under 0.001 it is a flag."
)


def _notes(several: Iterable[PersonsAnswer]) -> list[str]:
    has_labels = any(one.labels for one in several)
    notes = [f"Sorted by agreement with others, lowest first. {ABOUT_NUMBERS}"]
    if has_labels:
        notes.append(
            "MACE: the probability that the annotator does not guess (Hovy et al. 2013). Dawid-Skene: the probability "
            "that an answer is right (Dawid and Skene 1979). GLAD: the probability that the annotator answers a "
            "question of median difficulty right (Whitehill et al. 2009). Each kind for itself, by the labels that the "
            f"study's rule compares, over the questions with {LEAST_PER_TASK} or more answers asked for at first."
        )
    return notes


def speed_chart(answers: Sequence[PersonsAnswer]) -> Chart:
    """Chart the agreement of each annotator with others against the median time per question, by kind.

    Answers that were added because others differed are left out, as in the table.
    """
    series = []
    shown: set[str] = set()
    for kind in dict.fromkeys(one.kind for one in answers):
        first = [one for one in answers if one.kind == kind and not one.added]
        with_others = same_as_others(first)
        by_annotator: defaultdict[str, list[PersonsAnswer]] = defaultdict(list)
        for one in first:
            by_annotator[one.annotator].append(one)
        points = []
        for name, of_questions in with_others.items():
            agreed = Score(
                sum(each.count for each in of_questions.values()), sum(each.n for each in of_questions.values())
            )
            seconds = [one.seconds for one in by_annotator[name] if one.seconds is not None]
            if agreed.share is not None and seconds:
                median = percentile(seconds, Fraction(1, 2))
                points.append(Point(f"{name}, median {median:.1f} s", agreed.share, x=median, link=name))
                shown.add(name)
        series.append(Series(kind, points))
    series = [each for each in series if each.points]
    every = {one.annotator for one in answers}
    n = f"{len(every):,}" if shown == every else f"{len(shown):,} of {len(every):,}"
    words = f"{n} annotators. Fast annotators who seldom agree with others may not read the questions."
    title, axis = "Agreement and speed of annotators", "Agreement with others"
    return Chart("speed", title, words, "scatter", "share", axis, series, x_axis="Median seconds per question")
