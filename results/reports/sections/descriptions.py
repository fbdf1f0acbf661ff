"""Results of studies that ask which image a description is about (ImageCoDe's tables).

Outcomes of descriptions, agreement and accuracy of retrievers, and the language of descriptions.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil

from analytics.agreement import Coefficient
from analytics.coefficients import Metric
from analytics.intervals.bootstrap import FEW_UNITS, Interval
from analytics.language import (
    AMONG,
    MODEL,
    SENTENCES,
    TOKENS,
    Parser,
    Tally,
    depths_of,
    installed_parser,
    language_of,
    tally,
)
from analytics.outcomes import Outcome
from analytics.people import PeopleScore
from analytics.retrieval import (
    AnswerSelection,
    Coding,
    DescriptionOutcomes,
    Retrieval,
    accuracy_of_describers,
    accuracy_of_retrievers,
    alpha_intervals,
    alphas,
    phenomena,
    select_answers,
)
from analytics.scales import number_of
from results.reports.base import SEED, Cell, Chart, Column, Point, Reference, Series, Table, Undefined
from results.reports.cells import limits_or_reason, range_or_reason, range_over_instances, share_of, value_or_reason
from results.reports.explorer_links import ALL, ANSWERED, SEVERAL, in_address, link_of, question_count
from results.reports.facts import DescribedSets, QuestionFacts, StudyFacts
from results.reports.histogram import histogram
from studies.descriptions import TRAIN_WORKER, UNSEEN_WORKER

TAKEN = {
    AnswerSelection.ALL: "all",
    AnswerSelection.FIRST: "asked for at first",
    AnswerSelection.ACCEPTED: "after acceptance",
}
AUTHORS = {TRAIN_WORKER: "author also wrote for train", UNSEEN_WORKER: "author did not write for train"}
PASTED = {True: "something was pasted", False: "nothing was pasted"}
RETRIEVERS, DESCRIBERS = "retrievers", "describers"
# Parsing takes about five milliseconds per description; of more, this many are sampled at equal distances.
MOST_PARSED = 500


LANGUAGE_COLUMNS = (
    Column("Texts", "count"),
    Column("Tokens", "count"),
    Column("Mean length", "coefficient"),
    Column("SD", "coefficient"),
    Column("Longest", "count"),
    Column("Mean sentences", "coefficient"),
    Column("Word types", "count"),
    Column("Used once", "count"),
    Column(f"Types among {AMONG:,} words", "coefficient"),
    Column("Mean depth", "coefficient"),
    Column("Parsed", "count"),
)
LANGUAGE_NOTE = (
    f"Length in tokens by {TOKENS}, sentences by {SENTENCES}: fixed rules of Lineup "
    "(docs/studies.md), so other programs count differently. Word types: different words, in "
    f"lower case. Types among {AMONG:,} words: the expected number of types in that many words "
    "drawn at random, which does not depend on the number of texts. Depth: of the deepest "
    f"dependency tree of a text, by spaCy's {MODEL} where it is installed, over at most "
    f"{MOST_PARSED} texts."
)


@dataclass(frozen=True)
class DescriptionStudy:
    """A study about descriptions: its questions about them, and every answer, by question.

    Leaves out what was undone, for example because its author's answers no longer count. `types`: question -> type of
    its instance. `moments`: the questions whose positions are numbers on an interval scale, such as moments of a video.
    """

    study: StudyFacts
    asked: Mapping[int, QuestionFacts]
    retrievals: Sequence[Retrieval]
    types: Mapping[int, str]
    moments: frozenset[int]

    @property
    def groups(self) -> Mapping[str, frozenset[int]]:
        """The questions as a whole and, if instances have several types, by type."""
        found = {ALL: frozenset(self.asked)}
        types = sorted(set(self.types.values()))
        for type in types if len(types) > 1 else ():
            found[type] = frozenset(pk for pk in self.asked if self.types[pk] == type)
        return found

    def answers(self, questions: frozenset[int]) -> list[Retrieval]:
        return [one for one in self.retrievals if one.description in questions]

    def link_count(self, count: int, questions: Iterable[Hashable], name: str, type: str) -> int:
        """Return a count of `questions`, which fulfil `name` in lists, about sets of a type."""
        counted = set(questions)
        about = (question.instance for pk, question in self.asked.items() if pk in counted)
        return question_count(count, about, self.study, name, type=type)


def description_study(studies: Iterable[StudyFacts]) -> list[DescriptionStudy]:
    """Return those of `studies` that ask about descriptions."""
    return [_description_study(study) for study in studies if study.described]


def _description_study(study: StudyFacts) -> DescriptionStudy:
    asked = {
        question.id: question
        for question in study.questions
        if question.id in study.described and question.outcome is not Outcome.UNDONE
    }
    places = {kind: _places(study, kind) for kind in {question.kind for question in asked.values()}}
    retrievals = []
    for answer in study.answers:
        question = asked.get(answer.question)
        if question is not None and question.right:
            retrievals.append(
                Retrieval(
                    description=question.id,
                    retriever=answer.annotator,
                    place=places[question.kind][answer.choice],
                    right=answer.choice == question.right,
                    added=answer.added,
                    accepted=question.outcome is Outcome.ACCEPTED,
                    describer=study.described[question.id].writer,
                    image_set=question.instance,
                )
            )
    types = {pk: study.categories.get(question.instance, ("", ""))[0] for pk, question in asked.items()}
    return DescriptionStudy(study, asked, retrievals, types, _scale_questions(study, asked))


def _places(study: StudyFacts, kind: str) -> Mapping[str, float]:
    """Return the number of each image: its value on the scale, or else its position among the options."""
    label_space = study.label_spaces[kind]
    given = {answer.choice for answer in study.answers} - set(label_space.options)
    places = number_of([*label_space.options, *sorted(given)])
    for scale in (label_space.scale, *(scale for scale, _ in label_space.apart)):
        places |= scale.values
    return places


def _scale_questions(study: StudyFacts, asked: Mapping[int, QuestionFacts]) -> frozenset[int]:
    found: set[int] = set()
    for kind, label_space in study.label_spaces.items():
        if label_space.scale.level == "interval":
            found |= {pk for pk, question in asked.items() if question.kind == kind}
        for scale, questions in label_space.apart:
            if scale.level == "interval":
                found |= questions & set(asked)
    return frozenset(found)


def description_outcomes_table(found: Sequence[DescriptionStudy]) -> Table:
    """Return the outcomes of descriptions by type of their sets."""
    columns = [Column("Study"), Column("Sets"), Column("Written", "count"), Column("Not possible", "count")]
    columns += [Column(name, "count") for name in ("Retrieved", "Accepted", "Rejected", "Conflicting")]
    columns += [Column("Undecided", "count")]
    columns += [Column("Filtered out", "share"), Column("95 % interval", "share")]
    rows: list[Sequence[Cell]] = []
    for each in found:
        for name, fates in _description_outcomes(each).items():
            filtered = fates.filtered_out
            rows.append(
                (
                    *(each.study.slug, name, fates.written, fates.not_possible),
                    *(*_outcome_cells(each, name, fates), fates.undecided),
                    *(share_of(filtered), _over_sets(each, name)),
                )
            )
    notes = [
        "Written: counted texts, asked about or not; imported texts if no study collects them. Not possible: how often "
        "somebody chose this instead of writing. Retrieved: asked about, with at least one answer. Conflicting: all "
        "answers wanted so far are in, without a decision. Undecided: the others. Filtered out: share "
        "rejected of those accepted or rejected, with Wilson's interval, clustered by set if a set has several "
        "descriptions. In the paper: 26.5 % (Krojer et al. 2022)."
    ]
    title = "Outcomes of the descriptions"
    return Table("descriptions", title, columns, rows, notes, _slugs(found))


def description_outcomes_chart(found: Sequence[DescriptionStudy]) -> Chart:
    """Chart the outcomes of the descriptions that were asked about, by type of their sets.

    Each part of a bar leads to its sets.
    """
    names = ("accepted", "rejected", "conflicting", "undecided")
    points: dict[str, list[Point]] = {name: [] for name in names}
    for each in found:
        for group, fates in _description_outcomes(each).items():
            label = f"{each.study.slug}: " * (len(found) > 1) + group
            _, *decided = _outcome_cells(each, group, fates)
            for name, count in zip(names, (*decided, fates.undecided), strict=True):
                points[name].append(Point(label, int(count), link=link_of(count)))
    series = [Series(name, of) for name, of in points.items() if any(point.value for point in of)]
    words = "; ".join(
        f"{each.name}: " + ", ".join(f"{point.label} {point.value:,}" for point in each.points) for each in series
    )
    title, unit = "Outcomes of the descriptions", "Descriptions"
    return Chart("descriptions", title, f"{words}.", "stacked", "count", unit, series)


def _over_sets(each: DescriptionStudy, name: str) -> Cell:
    """Return the interval of the share of rejected descriptions, for other sets."""
    decided = [
        question
        for pk in sorted(each.groups[name])
        if (question := each.asked[pk]).outcome in (Outcome.ACCEPTED, Outcome.REJECTED)
    ]
    rejected = [float(question.outcome is Outcome.REJECTED) for question in decided]
    return range_over_instances(rejected, [question.instance for question in decided])


def _outcome_cells(each: DescriptionStudy, name: str, fates: DescriptionOutcomes) -> Iterable[int]:
    """Yield the number retrieved, accepted, rejected and conflicting, each linked to its sets."""
    asked = [each.asked[pk] for pk in each.groups[name]]
    yield each.link_count(fates.retrieved, (one.id for one in asked if one.answers), ANSWERED, name)
    outcomes = (Outcome.ACCEPTED, Outcome.REJECTED, Outcome.CONFLICTING)
    for count, outcome in zip((fates.accepted, fates.rejected, fates.conflicting), outcomes, strict=True):
        yield each.link_count(count, (one.id for one in asked if one.outcome is outcome), in_address(outcome), name)


def _description_outcomes(each: DescriptionStudy) -> dict[str, DescriptionOutcomes]:
    written = each.study.written
    fates = {}
    for name, questions in each.groups.items():
        of_type = list(written.values()) if name == ALL else [written[name]] if name in written else []
        asked = [each.asked[pk] for pk in questions]
        outcomes = [question.outcome for question in asked]
        fates[name] = DescriptionOutcomes(
            written=sum(one.texts for one in of_type),
            not_possible=sum(one.not_possible for one in of_type),
            retrieved=sum(1 for question in asked if question.answers),
            accepted=outcomes.count(Outcome.ACCEPTED),
            rejected=outcomes.count(Outcome.REJECTED),
            conflicting=outcomes.count(Outcome.CONFLICTING),
        )
    return fates


def retrieval_agreement_table(found: Sequence[DescriptionStudy]) -> Table:
    """Return Krippendorff's alpha for three selections of answers.

    For each type of sets on the scale of its positions, and for all types on both scales.
    """
    columns = [Column("Study"), Column("Sets"), Column("Metric"), Column("Answers used")]
    columns += [Column("Krippendorff's alpha", "coefficient"), Column("95 % interval", "coefficient")]
    columns += [
        Column("Descriptions", "count"),
        Column("With two or more answers", "count"),
        Column("Answers", "count"),
        Column("Retrievers", "count"),
    ]
    rows: list[Sequence[Cell]] = []
    for each in found:
        for name, metric in _group_metrics(each):
            answers = each.answers(each.groups[name])
            intervals = alpha_intervals(answers, metric=metric, seed=SEED)
            for which, alpha in alphas(answers, metric=metric).items():
                rows.append(
                    (
                        *(each.study.slug, name, metric, TAKEN[which]),
                        *_alpha(each, alpha, intervals[which], which),
                        *_comparison_counts(each, name, which, alpha, answers),
                        *(alpha.n_ratings, alpha.n_raters),
                    )
                )
    notes = [
        "Nominal where places are names, interval where they are moments of a video; for all "
        "sets both, though the place of an image in other sets means nothing. People who were "
        "not asked count as missing.",
        "All: every counted answer, including answers added to undecided questions, which are harder. Asked for at "
        "first: only answers that do not depend on others. After acceptance: all answers to accepted descriptions, as "
        "in the paper. It leaves out descriptions on which people disagreed, so it describes the dataset, not how well "
        "people agree.",
        "Intervals are for other descriptions, found by the same retrievers: BCa bootstrap over the descriptions with "
        f"two or more answers, of which they need {FEW_UNITS}.",
    ]
    title = "How far retrievers agree, three ways"
    return Table("retrieval-agreement", title, columns, rows, notes, _slugs(found))


def _comparison_counts(
    each: DescriptionStudy, name: str, which: AnswerSelection, alpha: Coefficient, answers: Sequence[Retrieval]
) -> tuple[int, int]:
    """Return the number of descriptions, and of those with two or more answers; all answers link to their sets."""
    if which is not AnswerSelection.ALL:
        return alpha.n_units, alpha.n_pairable
    times = Counter(one.description for one in answers)
    several = (description for description, n in times.items() if n > 1)
    return (
        each.link_count(alpha.n_units, times, ANSWERED, name),
        each.link_count(alpha.n_pairable, several, SEVERAL, name),
    )


def _group_metrics(each: DescriptionStudy) -> Iterable[tuple[str, Metric]]:
    """Yield the groups of questions and their metric, without duplicates."""
    for name, questions in each.groups.items():
        if name == ALL or not questions <= each.moments:
            yield name, "nominal"
        if questions & each.moments:
            yield name, "interval"


def _alpha(each: DescriptionStudy, alpha: Coefficient, interval: Interval, which: AnswerSelection) -> tuple[Cell, Cell]:
    if which is AnswerSelection.ACCEPTED and not each.study.accepts:
        nothing = Undefined("This study accepts nothing.")
        return nothing, nothing
    # Without answers to compare, the interval has a smaller sample than the coefficient and would give another reason.
    limits = range_or_reason(interval) if alpha.reason is None else Undefined(alpha.reason)
    return value_or_reason(alpha.value, alpha.reason), limits


def retrieval_accuracy_table(found: Sequence[DescriptionStudy]) -> Table:
    """Return the retrieval accuracy of people, as retrievers and as describers."""
    columns = [Column("Study"), Column("Averaged over"), Column("Descriptions of"), Column("Answers used")]
    columns += [Column("Accuracy", "share"), Column("95 % interval", "share"), Column("People", "count")]
    columns += [Column("Descriptions", "count"), Column("Answers", "count")]
    rows: list[Sequence[Cell]] = []
    for each in found:
        rows += [(each.study.slug, *row) for row in _accuracies(each)]
    notes = [
        "For each person the share right over their answers, or over the answers to what they "
        "wrote, averaged over people, each counting once. Intervals generalise to other people like "
        "these (Korn and Graubard 1998). After acceptance it is inflated, because descriptions "
        "are accepted when people find the image."
    ]
    if any(any(facts.author for facts in each.study.described.values()) for each in found):
        notes.append(
            "Authors who also wrote for train: models learn from their texts, so texts of other "
            "authors are new to them."
        )
    if any(any(facts.pasted for facts in each.study.described.values()) for each in found):
        notes.append("A paste alone is no evidence of copying: people also correct and move their own text.")
    title = "How often people find what a description is about"
    return Table("retrieval-accuracy", title, columns, rows, notes, _slugs(found))


def _accuracies(each: DescriptionStudy) -> Iterable[Sequence[Cell]]:
    for name, questions in each.groups.items():
        for which in AnswerSelection:
            if which is AnswerSelection.ACCEPTED and not each.study.accepts:
                continue
            answers = select_answers(each.answers(questions), which)
            yield RETRIEVERS, name, TAKEN[which], *_score(accuracy_of_retrievers(answers)), len(answers)
    for name, questions in _origin_groups(each).items():
        if answers := each.answers(questions):
            yield RETRIEVERS, name, TAKEN[AnswerSelection.ALL], *_score(accuracy_of_retrievers(answers)), len(answers)
    known = [one for one in each.retrievals if one.describer is not None]
    if known:
        found, texts = accuracy_of_describers(known), len({one.description for one in known})
        yield DESCRIBERS, ALL, TAKEN[AnswerSelection.ALL], *_score(found, descriptions=texts), len(known)


def _origin_groups(each: DescriptionStudy) -> dict[str, frozenset[int]]:
    """Return the questions about descriptions by author and origin, as far as known."""
    about = each.study.described.items()
    by_author = {
        name: frozenset(pk for pk, facts in about if facts.author == author) for author, name in AUTHORS.items()
    }
    return by_author | {
        name: frozenset(pk for pk, facts in about if facts.pasted is pasted) for pasted, name in PASTED.items()
    }


def _score(found: PeopleScore, *, descriptions: int | None = None) -> Sequence[Cell]:
    """Return the score, its interval, the number of people and of descriptions."""
    return (
        value_or_reason(found.value, found.reason),
        limits_or_reason(found.low, found.high, found.reason),
        found.n_people,
        found.n_questions if descriptions is None else descriptions,
    )


def phenomena_table(found: Sequence[DescriptionStudy]) -> Table:
    """Return the retrieval accuracy for descriptions with and without each phenomenon that coders found."""
    columns = [Column("Study"), Column("Phenomenon"), Column("Looked for in", "count"), Column("Found in", "count")]
    columns.append(Column("Share", "share"))
    for which in ("with it", "without it"):
        columns += [Column(f"Accuracy {which}", "share"), Column(f"95 % interval {which}", "share")]
        columns.append(Column(f"Answers {which}", "count"))
    rows: list[Sequence[Cell]] = []
    for each in found:
        codings: dict[Hashable, Coding] = {
            pk: Coding(facts.tags, facts.looked_for)
            for pk, facts in each.study.described.items()
            if facts.looked_for and pk in each.asked
        }
        for one in phenomena(each.retrievals, codings):
            cells: list[Cell] = []
            for score in (one.with_it, one.without_it):
                interval = limits_or_reason(score.low, score.high, score.reason)
                cells += [value_or_reason(score.value, score.reason), interval, score.n_answers]
            rows.append((each.study.slug, one.code, one.found.n, one.found.count, share_of(one.found), *cells))
    notes = [
        "Of the descriptions that were asked about and in which somebody looked for the phenomenon; in others nobody "
        "knows. Accuracy: averaged over retrievers, as above, over all counted answers."
    ]
    return Table("phenomena", "Retrieval by what is in the description", columns, rows, notes, _slugs(found))


def language_table(found: Sequence[DescriptionStudy]) -> Table:
    """Return language statistics of all descriptions asked about, and of those accepted."""
    columns = [Column("Study"), Column("Sets"), Column("Descriptions"), *LANGUAGE_COLUMNS]
    rows: list[Sequence[Cell]] = []
    for each in found:
        counted = _tally_texts(each)
        for name in each.groups:
            of_name = {key: of for key, of in counted.items() if name in (ALL, key[0])}
            rows.append((each.study.slug, name, "asked about", *language_cells(of_name.values())))
            if each.study.accepts:
                accepted = [of for (_, is_accepted), of in of_name.items() if is_accepted]
                rows.append((each.study.slug, name, "accepted", *language_cells(accepted)))
    title = "What the descriptions are like"
    return Table("language", title, columns, rows, [LANGUAGE_NOTE], _slugs(found))


def found_chart(found: Sequence[DescriptionStudy]) -> Chart:
    """Chart the number of descriptions by the number of people who found their image."""
    times: dict[str, Counter[int]] = {}
    for each in found:
        finders = dict.fromkeys((one.description for one in each.retrievals), 0)
        for one in each.retrievals:
            finders[one.description] += one.right
        times[each.study.slug] = Counter(finders.values())
    most = max((n for counted in times.values() for n in counted), default=0)
    series = [
        Series(slug if len(times) > 1 else "", [Point(f"found by {n}", counted[n]) for n in range(most + 1)])
        for slug, counted in times.items()
        if counted
    ]
    words = "; ".join(
        ", ".join(f"{point.value} {point.label}" for point in each.points if point.value) for each in series
    )
    title = "Descriptions by the number of people who found the image"
    return Chart("found", title, f"{words}.", "bars", "count", "Descriptions", series, x_axis="People")


def lengths_chart(described: Mapping[tuple[str, str], DescribedSets], studies: Sequence[DescriptionStudy]) -> Chart:
    """Chart the lengths of all descriptions of a project or, without any, of those that `studies` asked about."""
    texts = [text for sets in described.values() for text in sets.texts]
    texts = texts or [each.study.described[pk].text for each in studies for pk in each.asked]
    every = tally(texts).lengths
    series = histogram({"": Counter(every)}, are_whole=True)
    mean = sum(every) / len(every) if every else 0
    references = [Reference(f"mean {mean:.1f}", mean)] if every else []
    words = f"{len(every):,} descriptions, on average {mean:.1f} tokens."
    title = "Length of the descriptions"
    return Chart("lengths", title, words, "histogram", "count", "Descriptions", series, references, "Tokens")


def described_sets_table(
    described: Mapping[tuple[str, str], DescribedSets], studies: Sequence[DescriptionStudy]
) -> Table:
    """Return the number of sets and descriptions, imported and accepted in `studies`, with language statistics.

    By split and type.
    """
    columns = [Column("Split"), Column("Sets"), Column("Sets with descriptions", "count"), *LANGUAGE_COLUMNS]
    counted = {group: TalliedTexts(sets.texts, tally(sets.texts)) for group, sets in described.items()}
    rows: list[Sequence[Cell]] = []
    splits = sorted({split for split, _ in described})
    types = sorted({type for _, type in described})
    for split in ([ALL] if len(splits) > 1 else []) + splits:
        for type in ([ALL] if len(types) > 1 else []) + types:
            groups = [group for group in described if split in (ALL, group[0]) and type in (ALL, group[1])]
            if groups:
                sets = sum(described[group].sets for group in groups)
                rows.append((split, type, sets, *language_cells(counted[group] for group in groups)))
    notes = ["All descriptions in exports of the project: those imported, and those that its studies accepted."]
    title = "Image sets and their descriptions"
    return Table("described-sets", title, columns, rows, [*notes, LANGUAGE_NOTE], _slugs(studies))


@dataclass(frozen=True)
class TalliedTexts:
    """Texts and their language counts."""

    texts: Sequence[str]
    tally: Tally


def _tally_texts(each: DescriptionStudy) -> dict[tuple[str, bool], TalliedTexts]:
    """Return the descriptions asked about, by type of their sets and whether they were accepted."""
    texts: dict[tuple[str, bool], list[str]] = {}
    for pk, question in each.asked.items():
        cell = (each.types[pk], question.outcome is Outcome.ACCEPTED)
        texts.setdefault(cell, []).append(each.study.described[pk].text)
    return {cell: TalliedTexts(of_cell, tally(of_cell)) for cell, of_cell in texts.items()}


def language_cells(counted: Iterable[TalliedTexts]) -> Sequence[Cell]:
    """Return the language cells of a table for texts counted in parts."""
    parts = list(counted)
    texts = [text for part in parts for text in part.texts]
    found = language_of(sum((part.tally for part in parts), Tally()))
    depths = depths_of(texts[:: max(1, ceil(len(texts) / MOST_PARSED))], _parser())
    few, nothing = f"There are fewer than {AMONG:,} words.", "There is no text."
    length = found.length
    return (
        *(found.texts, found.tokens, value_or_reason(length.mean, nothing)),
        value_or_reason(length.sd, "One text has no spread." if texts else nothing),
        *(length.most, value_or_reason(found.sentences.mean, nothing), found.types, found.once),
        *(value_or_reason(found.types_among, few), value_or_reason(depths.mean, depths.reason), depths.texts),
    )


@cache
def _parser() -> Parser | None:
    return installed_parser()


def _slugs(found: Iterable[DescriptionStudy]) -> list[str]:
    return [each.study.slug for each in found]
