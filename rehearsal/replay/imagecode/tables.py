"""What a replay of ImageCoDe prints: what was put in, the paper's tables beside what was published, and the report of
its project as anybody gets it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from analytics.agreement import Coefficient
from analytics.outcomes import Outcome
from analytics.retrieval import Taken, accuracy_of_retrievers, alphas
from analytics.scores import Score
from rehearsal.replay.imagecode.pipeline import Replay, most_memory_mib, slug
from rehearsal.replay.imagecode.published import (
    ALPHA_INTERVAL,
    ALPHA_NOMINAL,
    FILTERED_OUT,
    HUMANS_VALID,
    PHENOMENA,
    RELEASED,
)
from rehearsal.replay.imagecode.studies import VALID
from rehearsal.replay.stand_ins import GENERATOR, HEIGHT, WIDTH
from results.reports.base import Cell, Column, Report, Table
from results.reports.build import report_of
from results.reports.descriptions import Described, described_in
from results.reports.facts import ProjectFacts


def report(replay: Replay, facts: ProjectFacts, written: ProjectFacts | None) -> Report:
    """Return the report of a replay, and what is in that of the project of its describers, where there are any. Plots
    are left out: they have no place in what is printed."""
    described = {each.study.slug: each for each in described_in(facts.studies)}
    tables = [
        _inputs(replay),
        sets_table(facts),
        phenomena_table(described[slug(replay, VALID)]),
        people_table(described, valid=slug(replay, VALID)),
        *report_of(facts).tables,
        *_written(replay, written),
        _played(replay),
    ]
    return Report("ImageCoDe replayed", [each for each in tables if each.rows], [])


def _inputs(replay: Replay) -> Table:
    drawn = (
        f'{replay.stand_ins:,} stand-ins of {WIDTH} by {HEIGHT} pixels, labelled "{GENERATOR}"; those of one set are '
        "all different"
    )
    rows: list[Sequence[str]] = [
        ("descriptions, their images, authors and phenomena", "published: the released files"),
        ("who wrote which description", "not published, so that retrievers are kept from none"),
        (
            "what describers write",
            "published: what was written about the image; where nothing was, that it is not possible",
        ),
        (
            "what retrievers answer",
            f"made up: right with a chance of {replay.setting.accuracy:.1%}, else any other image, each as likely",
        ),
        ("how long people take", "not played: times and wages are those of a machine that thinks about nothing"),
        ("images", f"not the paper's: {drawn}"),
    ]
    notes = [
        "What retrievers do is an input and no finding, and so is all that follows from it: agreement, accuracy, and "
        "how many descriptions are filtered out. What is shown is that the platform carries it through: every answer "
        "went through the code that an annotator's browser reaches, and every table is computed from what was stored."
    ]
    return Table("inputs", "What is put in", [Column("What"), Column("From where")], rows, notes)


def sets_table(facts: ProjectFacts) -> Table:
    """Return how many image sets and descriptions there are by split and type, beside those that were released."""
    columns = [Column("Split"), Column("Sets"), Column("Image sets", "count"), Column("Published", "count")]
    columns += [Column("Descriptions", "count"), Column("Published", "count")]
    counted = {group: (sets.sets, len(sets.texts)) for group, sets in facts.described.items()}
    rows: list[Sequence[Cell]] = []
    for (split, type), (sets, texts) in RELEASED.items():
        found_sets, found_texts = counted.get((split, type), (0, 0))
        rows.append((split, type, found_sets, sets, found_texts, texts))
    return Table("released", "Image sets and descriptions, beside the released ones", columns, rows, [])


def phenomena_table(valid: Described) -> Table:
    """Return in how many annotated descriptions each phenomenon was found, beside the paper's table 2."""
    found: Counter[str] = Counter()
    looked_at: Counter[str] = Counter()
    for facts in valid.study.described.values():
        looked_at.update(facts.looked_for)
        found.update(set(facts.tags) & set(facts.looked_for))
    columns = [Column("Phenomenon"), Column("Found in", "count"), Column("Looked for in", "count")]
    columns += [Column("Percent"), Column("Published, percent")]
    rows = [
        (name, found[code], looked_at[code], _percent(Score(found[code], looked_at[code])), f"{published:.1f}")
        for code, (name, published) in PHENOMENA.items()
    ]
    notes = [
        "The released annotation speaks of 1,002 descriptions of the validation split (of 200 for the phenomena that "
        "fewer were annotated for). Two of them are no longer in the released split, and are not counted here."
    ]
    return Table("table-2", "Phenomena in descriptions, beside the paper's table 2", columns, rows, notes)


def people_table(described: Mapping[str, Described], *, valid: str) -> Table:
    """Return what retrievers did, for all sets and for static and video apart, beside what the paper says of people."""
    columns = [Column("Study"), Column("Sets"), Column("What"), Column("Replayed"), Column("Of", "count")]
    columns.append(Column("Published"))
    rows: list[Sequence[Cell]] = []
    for name, each in described.items():
        for sets, questions in each.groups.items():
            published = PUBLISHED if (name == valid and sets == next(iter(each.groups))) else {}
            for what, found, of in _numbers(each, questions):
                rows.append((name, sets, what, found, of, published.get(what, "")))
    notes = [
        f"Published: of the validation split, but for the share filtered out ({FILTERED_OUT} %), which is of all that "
        "were written. The released descriptions are those that had passed, so that what is filtered out of them here "
        "is the mistakes that were put in. The sets that the two published alphas are over are not known here; of what "
        "stays empty nothing published is."
    ]
    return Table("people", "What retrievers did, beside the paper's people", columns, rows, notes)


ACCURACY, FILTERED = "found, percent, averaged over retrievers", "filtered out, percent"
NOMINAL, INTERVAL = "Krippendorff's alpha after acceptance, nominal", "Krippendorff's alpha after acceptance, interval"
PUBLISHED = {
    ACCURACY: f"{HUMANS_VALID:.1f}",
    FILTERED: f"{FILTERED_OUT:.1f}",
    NOMINAL: f"{ALPHA_NOMINAL:.3f}",
    INTERVAL: f"{ALPHA_INTERVAL:.3f}",
}


def _numbers(each: Described, questions: frozenset[int]) -> Iterator[tuple[str, str, int]]:
    """Yield what was counted, the number as it is printed, and of how many answers, descriptions or units."""
    answers = each.answers(questions)
    accuracy = accuracy_of_retrievers(answers)
    yield ACCURACY, "undefined" if accuracy.value is None else f"{100 * accuracy.value:.1f}", accuracy.n_answers
    outcomes = [each.asked[pk].outcome for pk in questions]
    rejected = outcomes.count(Outcome.REJECTED)
    filtered = Score(rejected, rejected + outcomes.count(Outcome.ACCEPTED))
    yield FILTERED, _percent(filtered), filtered.n
    yield NOMINAL, *_alpha(alphas(answers, metric="nominal")[Taken.ACCEPTED])
    if questions & each.moments:
        yield INTERVAL, *_alpha(alphas(answers, metric="interval")[Taken.ACCEPTED])


def _alpha(found: Coefficient) -> tuple[str, int]:
    return "undefined" if found.value is None else f"{found.value:.3f}", found.n_pairable


def _percent(share: Score) -> str:
    return "undefined" if share.n == 0 else f"{100 * share.count / share.n:.1f}"


def _played(replay: Replay) -> Table:
    columns = [Column("Who"), Column("People", "count"), Column("Answers", "count")]
    columns.append(Column("Found nothing to do", "count"))
    crowds = {f"retrievers, {split}": played for split, played in replay.played.items()}
    if replay.written:
        crowds |= {"describers": replay.written.describers, "their retrievers": replay.written.retrievers}
    rows = [(who, played.people, played.answers, played.turned_away) for who, played in crowds.items()]
    return Table("played", "Who was played", columns, rows)


def _written(replay: Replay, facts: ProjectFacts | None) -> Iterator[Table]:
    """Yield what was written again, and what became of it."""
    if replay.written is None or facts is None:
        return
    written = replay.written
    columns = [Column("Image sets", "count"), Column("Published descriptions", "count")]
    columns.append(Column("Refused as the study file says", "count"))
    notes = [
        "Some sets of the validation split without their descriptions: people are asked about each of the ten images, "
        "write what was published about it, and others look for the image meanwhile. Refused: a description that names "
        "places or other images, is too short, or was given before for its set."
    ]
    yield Table("written", "Described again", columns, [(written.sets, written.texts, written.refused)], notes)
    for table in report_of(facts).tables:
        if table.name in ("descriptions", "retrieval-accuracy"):
            yield replace(table, name=f"written-{table.name}", title=f"Described again: {table.title.lower()}")


def differences(facts: ProjectFacts) -> list[str]:
    """Return where sets or descriptions are not as many as were released, in sentences; nothing where in all they are
    not as many, because only a part of the files was replayed."""
    if sum(len(sets.texts) for sets in facts.described.values()) != sum(texts for _, texts in RELEASED.values()):
        return []
    wrong = []
    for group, (sets, texts) in RELEASED.items():
        found = facts.described.get(group)
        counted = (found.sets, len(found.texts)) if found else (0, 0)
        if counted != (sets, texts):
            wrong.append(
                f"{' '.join(group)}: {sets:,} sets and {texts:,} descriptions published, {counted[0]:,} and "
                f"{counted[1]:,} here"
            )
    return wrong


def closing(replay: Replay) -> str:
    """Return the last line: how many answers were played, how long everything took, and the most memory it had."""
    crowds = list(replay.played.values())
    at_work = replay.seconds["retrieval"]
    if replay.written:
        crowds += [replay.written.describers, replay.written.retrievers]
        at_work += replay.seconds["writing"]
    answers = sum(played.answers for played in crowds)
    people = sum(played.people for played in crowds)
    stages = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in replay.seconds.items())
    return (
        f"{answers:,} answers of {people} annotators, {answers / at_work:,.0f} answers/s. In all "
        f"{sum(replay.seconds.values()):.1f} s: {stages}. At most {most_memory_mib():,} MiB of memory."
    )
