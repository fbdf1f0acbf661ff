"""The tables of the ImageCoDe paper from stored data, beside the published numbers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from analytics.agreement import Coefficient
from analytics.imagecode import SOURCES, STATIC_SOURCE, SetCounts, phenomenon
from analytics.language import SENTENCES, TOKENS, language_of, tally
from analytics.outcomes import Outcome
from analytics.retrieval import (
    AnswerSelection,
    Retrieval,
    accuracy_of_answers,
    accuracy_of_retrievers,
    alphas,
    select_answers,
)
from analytics.scores import Score
from results.reports.base import Cell, Column, Table
from results.reports.sections.descriptions import DescriptionStudy
from simulation.replay.imagecode.published_numbers import (
    ALPHA_INTERVAL,
    ALPHA_NOMINAL,
    FILTERED_OUT,
    HUMANS_VALID,
    NOT_COMPUTED,
    PHENOMENA,
    RELEASED,
    SENTENCES_PER_DESCRIPTION,
    TOKENS_PER_DESCRIPTION,
)
from studies.descriptions import STATIC, VIDEO

NONE = SetCounts(sets=0, descriptions=0, static_sets=0, static_descriptions=0, sets_by_source={})
ACCURACY = "found, percent of answers, after acceptance"
AVERAGED = "found, percent, averaged over retrievers, all answers"
FILTERED = "filtered out, percent"
NOMINAL, INTERVAL = "Krippendorff's alpha after acceptance, nominal", "Krippendorff's alpha after acceptance, interval"
PUBLISHED = {
    ACCURACY: f"{HUMANS_VALID:.1f}",
    FILTERED: f"{FILTERED_OUT:.1f}",
    NOMINAL: f"{ALPHA_NOMINAL:.3f}",
    INTERVAL: f"{ALPHA_INTERVAL:.3f}",
}


def sets_table(counted: Mapping[str, SetCounts]) -> Table:
    """Return the numbers of sets and descriptions by split, type and source, beside the released ones."""
    columns = [Column("Split"), Column("Sets"), Column("Image sets", "count"), Column("Published", "count")]
    columns += [Column("Descriptions", "count"), Column("Published", "count")]
    rows: list[Sequence[Cell]] = []
    for split, released in RELEASED.items():
        here = dict(_parts(counted.get(split, NONE)))
        for name, (sets, texts) in _parts(released):
            found_sets, found_texts = here[name]
            rows.append((split, name, found_sets, sets, found_texts, texts))
    return Table("released", "Table 1: image sets and descriptions", columns, rows, [])


def _parts(counts: SetCounts) -> Iterator[tuple[str, tuple[int, int | None]]]:
    """Yield the numbers of sets and descriptions in all, by type, and by source of videos."""
    yield "all", (counts.sets, counts.descriptions)
    yield STATIC, (counts.static_sets, counts.static_descriptions)
    yield VIDEO, (counts.video_sets, counts.video_descriptions)
    for source in SOURCES:
        if source != STATIC_SOURCE:
            yield source, (counts.sets_by_source.get(source, 0), None)


def phenomena_table(annotations: Sequence[str], valid: DescriptionStudy) -> Table:
    """Return how many annotated descriptions show each phenomenon: in the file, and of those stored.

    annotations: the codes of each description of the file, in its order.
    """
    found: Counter[str] = Counter()
    annotated: Counter[str] = Counter()
    for facts in valid.study.described.values():
        annotated.update(facts.looked_for)
        found.update(set(facts.tags) & set(facts.looked_for))
    columns = [Column("Phenomenon"), Column("Found in", "count"), Column("Annotated", "count"), Column("Percent")]
    columns += [Column("Published, percent"), Column("Stored: found in", "count"), Column("Stored: annotated", "count")]
    rows: list[Sequence[Cell]] = []
    for code, (name, published) in PHENOMENA.items():
        share = phenomenon(annotations, code)
        counts = (share.count, share.n, _percent(share))
        rows.append((name, *counts, f"{published:.1f}", found[code], annotated[code]))
    notes = [
        "The released annotation is of 1,002 descriptions of the validation split, and of its first 200 for the "
        "phenomena that fewer were annotated for. Two of the 1,002 are not in the released split, and are not stored."
    ]
    return Table("table-2", "Table 2: phenomena in descriptions", columns, rows, notes)


def language_table(texts: Mapping[str, Sequence[str]]) -> Table:
    """Return the length of descriptions by split, beside the published means. texts: by split."""
    columns = [Column("Split"), Column("Descriptions", "count"), Column(f"Mean tokens ({TOKENS})")]
    columns += [Column("Published"), Column(f"Mean sentences ({SENTENCES})"), Column("Published")]
    rows: list[Sequence[Cell]] = []
    for split, of_split in {**texts, "both": [text for each in texts.values() for text in each]}.items():
        language = language_of(tally(of_split))
        published = (f"{TOKENS_PER_DESCRIPTION}", f"{SENTENCES_PER_DESCRIPTION}") if split == "both" else ("", "")
        length, sentences = (_mean(each.mean) for each in (language.length, language.sentences))
        rows.append((split, language.texts, length, published[0], sentences, published[1]))
    notes = [
        "Published: over all three splits, tokens and sentences by spaCy's en_core_web_sm, which counts "
        "differently, so the values are close but not equal."
    ]
    return Table("language", "Length of descriptions", columns, rows, notes)


def people_table(described: Mapping[str, DescriptionStudy], *, valid: str, chance: float) -> Table:
    """Return retrievers' results for all sets, static ones and videos, beside the paper's for people.

    valid: the name of the study whose numbers are comparable. chance: that a simulated answer is right, 0 to 1.
    """
    columns = [Column("Study"), Column("Sets"), Column("What"), Column("Replayed"), Column("Of", "count")]
    columns.append(Column("Published"))
    rows: list[Sequence[Cell]] = []
    for name, each in described.items():
        for sets, questions in each.groups.items():
            published = PUBLISHED if (name == valid and sets == next(iter(each.groups))) else {}
            for what, found, of in _people_rows(each, questions):
                rows.append((name, sets, what, found, of, published.get(what, "")))
    notes = [
        "Published: of the validation split, over all answers to accepted descriptions, static and video sets together "
        f"(annotator_agreement.py in McGill-NLP/imagecode). Only the share filtered out ({FILTERED_OUT} %) is of all "
        "descriptions that were written. The released descriptions had passed, so here only simulated "
        "mistakes are filtered out.",
        f"With a chance of {chance:.1%} for each answer, {100 * (3 - 2 * chance) / (4 - 3 * chance):.1f} % of the "
        "answers after acceptance are expected to be right; a replay of the whole split is within 0.8 of it for 19 of "
        "20 seeds. Simulated mistakes fall on any other image. People's mistakes are near the target, so their alpha "
        "for intervals is higher.",
    ]
    return Table("people", "Agreement and accuracy of retrievers", columns, rows, notes)


def _people_rows(each: DescriptionStudy, questions: frozenset[int]) -> Iterator[tuple[str, str, int]]:
    """Yield the name of a number, the printed number, and how many answers, descriptions or units it is of."""
    answers: list[Retrieval] = each.answers(questions)
    accuracy = accuracy_of_answers(select_answers(answers, AnswerSelection.ACCEPTED))
    yield ACCURACY, _percent(accuracy), accuracy.n
    averaged = accuracy_of_retrievers(answers)
    yield AVERAGED, "undefined" if averaged.value is None else f"{100 * averaged.value:.1f}", averaged.n_answers
    outcomes = [each.asked[pk].outcome for pk in questions]
    rejected = outcomes.count(Outcome.REJECTED)
    filtered = Score(rejected, rejected + outcomes.count(Outcome.ACCEPTED))
    yield FILTERED, _percent(filtered), filtered.n
    yield NOMINAL, *_alpha(alphas(answers, metric="nominal")[AnswerSelection.ACCEPTED])
    if questions & each.moments:
        yield INTERVAL, *_alpha(alphas(answers, metric="interval")[AnswerSelection.ACCEPTED])


def missing_table() -> Table:
    """Return the published numbers that the released train and valid files do not contain, with the reason."""
    columns = [Column("Figure"), Column("Published"), Column("Why it is not counted here")]
    return Table("not-computed", "Published figures that are not counted", columns, [*NOT_COMPUTED], [])


def _alpha(found: Coefficient) -> tuple[str, int]:
    return "undefined" if found.value is None else f"{found.value:.3f}", found.n_pairable


def _percent(share: Score) -> str:
    return "undefined" if share.n == 0 else f"{share.percent(1)}"


def _mean(mean: float | None) -> str:
    return "undefined" if mean is None else f"{mean:.1f}"
