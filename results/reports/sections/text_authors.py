"""How answers that are texts were written, how often others retrieve their subject, and their language.

Nobody is refused because of how a text was written: people correct and move what they wrote.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from analytics.language import TOKENS, tally, tokens
from analytics.outcomes import State
from analytics.retrieval import Retrieval, accuracy_of_describers
from analytics.scores import score, sum_of_scores
from analytics.work.pay import percentile
from results.reports.base import Cell, Column, Table, Undefined
from results.reports.cells import limits_or_reason, range_over_both, share_of, value_or_reason
from results.reports.explorer_links import ALL
from results.reports.facts import StudyFacts
from results.reports.sections.descriptions import LANGUAGE_COLUMNS, LANGUAGE_NOTE, TalliedTexts, language_cells

HALF = Fraction(1, 2)
NOT_RECORDED = "How these texts were written was not recorded."
NOBODY_LOOKED = "Nobody has looked for what these texts are about."


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A counted answer, or part of one, that is a text.

    `writer`: an internal id. `type`: of its instance. `pasted`: whether something was pasted into it. `seconds`: from
    the first key or paste to sending, at least 0, including pauses. `keys`, `pauses`: how many. None if not recorded.
    `became`: its state in studies about it (`State`), "" if none has decided. `retrievers`: counted answers of others
    who were asked to find what it is about; `found` of them did.
    """

    writer: int
    type: str
    text: str
    pasted: bool | None = None
    seconds: float | None = None
    became: str = ""
    keys: int | None = None
    pauses: int | None = None
    retrievers: int = 0
    found: int = 0


@dataclass(frozen=True)
class Writing:
    """The texts of a study, and what others retrieved with them.

    `names`: writer -> displayed name. `asking`: the studies about these texts. `retrievals`: every answer there, with
    its describer.
    """

    texts: Sequence[WrittenText]
    names: Mapping[int, str]
    asking: Sequence[StudyFacts] = ()
    retrievals: Sequence[Retrieval] = ()


def writers_table(study: str, writing: Writing) -> Table:
    """Return how the texts of `study` were written and how often others retrieve their subject.

    In total, then by writer, most texts first.
    """
    columns = [Column("Writer"), Column("Texts", "count"), Column("Median length", "coefficient")]
    columns += [Column("Recorded", "count"), Column("Something pasted", "share")]
    columns += [Column("Median seconds of writing", "coefficient")]
    columns += [Column("Answers of others", "count"), Column("Found", "share"), Column("Found, 95 % interval", "share")]
    by_writer: dict[int, list[WrittenText]] = {}
    for text in writing.texts:
        by_writer.setdefault(text.writer, []).append(text)
    found = _answers_by_writer(writing.retrievals)
    together = accuracy_of_describers(writing.retrievals)
    nothing = together.reason if together.n_answers else NOBODY_LOOKED
    rows: list[tuple[Cell, ...]] = [
        (
            *(ALL, *_writing_cells(writing.texts), together.n_answers, value_or_reason(together.value, nothing)),
            limits_or_reason(together.low, together.high, nothing),
        )
    ]
    most_first = sorted(by_writer, key=lambda writer: (-len(by_writer[writer]), writing.names[writer]))
    rows += [
        (writing.names[writer], *_writing_cells(by_writer[writer]), *_reader_cells(found.get(writer, [])))
        for writer in most_first
    ]
    notes = [
        f"Counted texts only. Length in tokens by {TOKENS}. Seconds of writing: from the first key or paste to "
        "sending, as the browser measured it, pauses among them. Something pasted: of the texts of which it was "
        "recorded how they were written. A paste alone is no evidence of copying: people also correct and move their "
        "own text.",
        "Found: of the counted answers of those who were asked what a text is about, in all studies that ask it. For "
        "a writer the interval generalises to other readers and other instances; for all it is that of the mean over "
        "writers, each counting once, and generalises to other people like these (Korn and Graubard 1998).",
    ]
    rests_on = [study, *(asking.slug for asking in writing.asking)]
    return Table("writers", "How the texts were written", columns, rows if writing.texts else [], notes, rests_on)


def _writing_cells(texts: Sequence[WrittenText]) -> tuple[Cell, ...]:
    recorded = [text.pasted for text in texts if text.pasted is not None]
    seconds = [text.seconds for text in texts if text.seconds is not None]
    return (
        len(texts),
        percentile([len(tokens(text.text)) for text in texts], HALF) if texts else None,
        len(recorded),
        share_of(score(recorded)) if recorded else Undefined(NOT_RECORDED),
        percentile(seconds, HALF) if seconds else Undefined(NOT_RECORDED),
    )


def _answers_by_writer(retrievals: Iterable[Retrieval]) -> Mapping[Hashable, list[Retrieval]]:
    found: dict[Hashable, list[Retrieval]] = {}
    for one in retrievals:
        found.setdefault(one.describer, []).append(one)
    return found


def _reader_cells(answers: Sequence[Retrieval]) -> tuple[Cell, ...]:
    """Return the number of others' answers about the texts of one writer, and how often they were right."""
    if not answers:
        return 0, Undefined(NOBODY_LOOKED), Undefined(NOBODY_LOOKED)
    rights = [float(one.right) for one in answers]
    readers, instances = [one.retriever for one in answers], [one.about for one in answers]
    return len(answers), share_of(sum_of_scores(rights)), range_over_both(rights, readers, instances)


def texts_table(study: str, writing: Writing) -> Table:
    """Return language statistics of the texts of `study`, by type of their instances.

    Also of those that others accepted, if others were asked about them.
    """
    columns = [Column("Sets"), Column("Texts that were"), *LANGUAGE_COLUMNS]
    types = sorted({text.type for text in writing.texts})
    accepts = any(asking.accepts for asking in writing.asking)
    rows: list[Sequence[Cell]] = []
    for name in [ALL, *(types if len(types) > 1 else [])]:
        of_type = [text for text in writing.texts if name in (ALL, text.type)]
        rows.append((name, "written", *_language(of_type)))
        if accepts:
            rows.append((name, "accepted by others", *_language(each for each in of_type if each.became == _ACCEPTED)))
    title = "Language of the texts"
    notes = [LANGUAGE_NOTE]
    if accepts:
        notes.append("Accepted by others: in a study that asked what they are about, and rejected in none.")
    rests_on = [study, *(asking.slug for asking in writing.asking)]
    return Table("texts", title, columns, rows if writing.texts else [], notes, rests_on)


_ACCEPTED = State.ACCEPTED.value


def _language(texts: Iterable[WrittenText]) -> Sequence[Cell]:
    words = [text.text for text in texts]
    return language_cells([TalliedTexts(words, tally(words))])
