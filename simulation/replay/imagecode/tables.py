"""Printed report of an ImageCoDe replay: inputs, the paper's tables, and the project's report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from analytics.imagecode import SetCounts
from results.reports.base import Column, Table
from results.reports.build import report_of
from results.reports.facts import ProjectFacts
from results.reports.formats.md import write_tables
from results.reports.sections.descriptions import description_study
from simulation.replay.imagecode.paper_tables import (
    language_table,
    missing_table,
    people_table,
    phenomena_table,
    sets_table,
)
from simulation.replay.imagecode.pipeline import Replay, peak_memory_mib, slug
from simulation.replay.imagecode.published_numbers import RELEASED
from simulation.replay.imagecode.studies import VALID
from simulation.replay.placeholder_images import GENERATOR, HEIGHT, WIDTH


def report(replay: Replay, facts: ProjectFacts, written: ProjectFacts | None) -> str:
    """Return the tables of a replay, with those of the describers' project, if any, as Markdown."""
    described = {each.study.slug: each for each in description_study(facts.studies)}
    tables = [
        _inputs(replay),
        sets_table(replay.sets),
        phenomena_table(replay.annotations, described[slug(replay, VALID)]),
        language_table(replay.texts),
        people_table(described, valid=slug(replay, VALID), chance=replay.setting.accuracy),
        missing_table(),
        *report_of(facts).tables,
        *_description_lines(replay, written),
        _played_lines(replay),
    ]
    return write_tables("ImageCoDe replayed", [each for each in tables if each.rows])


def _inputs(replay: Replay) -> Table:
    drawn = (
        f'{replay.stand_ins:,} stand-ins of {WIDTH} by {HEIGHT} pixels, labelled "{GENERATOR}"; those of one set are '
        "all different"
    )
    rows: list[Sequence[str]] = [
        ("descriptions, their images, authors and phenomena", "published: the released files"),
        ("who wrote which description", "not published, so no retriever is excluded"),
        (
            "what describers write",
            "published: the text about the image; without one, that it is not possible",
        ),
        (
            "what retrievers answer",
            f"simulated: right with a probability of {replay.setting.accuracy:.1%}, else a random other image",
        ),
        ("how long people take", "not simulated: times and wages do not apply to people"),
        ("images", f"not the paper's: {drawn}"),
    ]
    notes = [
        "The retrievers' answers are inputs, not findings. So are agreement, accuracy and the share filtered "
        "out, which "
        "follow from them. The replay shows that the platform works at this size: every answer went through the code "
        "that an annotator's browser reaches, and every table is computed from stored data."
    ]
    return Table("inputs", "Inputs", [Column("What"), Column("From where")], rows, notes)


def _played_lines(replay: Replay) -> Table:
    columns = [Column("Who"), Column("People", "count"), Column("Answers", "count")]
    columns.append(Column("Found nothing to do", "count"))
    crowds = {f"retrievers, {split}": played for split, played in replay.played.items()}
    if replay.written:
        crowds |= {"describers": replay.written.describers, "their retrievers": replay.written.retrievers}
    rows = [(who, played.people, played.answers, played.turned_away) for who, played in crowds.items()]
    return Table("played", "Simulated people", columns, rows)


def _description_lines(replay: Replay, facts: ProjectFacts | None) -> Iterator[Table]:
    """Yield lines about the descriptions written again, and their results."""
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
    yield Table("written", "DescriptionStudy again", columns, [(written.sets, written.texts, written.refused)], notes)
    for table in report_of(facts).tables:
        if table.name in ("descriptions", "retrieval-accuracy"):
            yield replace(table, name=f"written-{table.name}", title=f"DescriptionStudy again: {table.title.lower()}")


def differences(counted: Mapping[str, SetCounts]) -> list[str]:
    """Return sentences about splits with other numbers of sets or descriptions than released.

    Empty if the totals differ, because then only a part of the files was replayed.
    """
    if sum(each.descriptions for each in counted.values()) != sum(each.descriptions for each in RELEASED.values()):
        return []
    return [
        f"{split}: {_sentence(released)} published, {_sentence(counted[split])} here"
        for split, released in RELEASED.items()
        if counted[split] != released
    ]


def _sentence(counts: SetCounts) -> str:
    sources = ", ".join(f"{name} {sets:,}" for name, sets in sorted(counts.sets_by_source.items()))
    return (
        f"{counts.sets:,} sets ({sources}) and {counts.descriptions:,} descriptions, {counts.static_descriptions:,} of "
        "them of static sets,"
    )


def last_line(replay: Replay) -> str:
    """Return the last line: number of answers, duration and peak memory."""
    crowds = list(replay.played.values())
    at_work = replay.seconds["retrieval"]
    if replay.written:
        crowds += [replay.written.describers, replay.written.retrievers]
        at_work += replay.seconds["writing"]
    answers = sum(played.answers for played in crowds)
    people = sum(played.people for played in crowds)
    return (
        f"{answers:,} answers of {people} annotators, {answers / at_work:,.0f} answers/s. {replay.duration} "
        f"At most {peak_memory_mib():,} MiB of memory."
    )
