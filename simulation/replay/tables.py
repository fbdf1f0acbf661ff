"""Printed report of a BiVLC replay: inputs, the project's report, and published numbers."""

from collections.abc import Sequence
from pathlib import Path

from results.reports.base import Column, Table
from results.reports.build import report_of
from results.reports.facts import ProjectFacts
from results.reports.formats.md import write_tables
from simulation.replay import paper_comparison
from simulation.replay.paper_comparison import Check
from simulation.replay.pipeline import Replay
from simulation.replay.placeholder_images import GENERATOR, HEIGHT, WIDTH
from simulation.replay.result_files import detectors_table, sugarcrepe_table, text_detectors_table
from simulation.replay.script import KEPT_PER_AMBIGUOUS


def report(replay: Replay, facts: ProjectFacts, found: list[Check], results: Path | None) -> str:
    """Return the tables of a replay as Markdown."""
    size = "at the paper's size" if replay.is_whole else f"in small, {len(replay.outcomes):,} rows"
    tables: list[Table] = [_inputs(replay), *report_of(facts).tables]
    if results is not None:
        tables += [sugarcrepe_table(results), detectors_table(results), text_detectors_table(results)]
    tables += [_people(replay), paper_comparison.comparison_table(found, is_whole=replay.is_whole)]
    return write_tables(f"BiVLC replayed {size}", [each for each in tables if each.rows])


def _inputs(replay: Replay) -> Table:
    rows: list[Sequence[str]] = [
        ("which instances are kept", "published: accepted.csv"),
        ("what pairs of annotators disagree on", "simulated, with the published kappas"),
        ("what people get wrong in the baseline", "simulated, with the published I2T, T2I and Group"),
        ("which of the four images is best", "simulated: not published"),
        (
            "how many instances step 4 removes",
            f"simulated: one for every {KEPT_PER_AMBIGUOUS} kept, in each category",
        ),
        ("how long people take", "not simulated: times and wages do not apply to people"),
    ]
    if replay.stand_ins:
        drawn = f'{replay.stand_ins:,} stand-ins of {WIDTH} by {HEIGHT} pixels, labelled "{GENERATOR}"'
        rows.append(("images", f"not the paper's: {drawn}"))
    notes = [
        "These are inputs, not findings. The replay shows that the platform works at this size: every answer "
        "went through "
        "the code that an annotator's browser reaches, and every table is computed from stored data."
    ]
    return Table("inputs", "Inputs", [Column("What"), Column("From where")], rows, notes)


def _people(replay: Replay) -> Table:
    columns = [Column("Study"), Column("Annotators", "count"), Column("Answers", "count")]
    columns += [Column("Found nothing to do", "count"), Column("Settled by a researcher", "count")]
    rows = [
        (name, played.people, played.answers, played.turned_away, played.settled)
        for name, played in replay.played.items()
    ]
    return Table("played", "Simulated people", columns, rows)


def last_line(replay: Replay) -> str:
    """Return the last line: number of answers, and duration."""
    answers = sum(played.answers for played in replay.played.values())
    people = sum(played.people for played in replay.played.values())
    at_work = replay.seconds["steps 3 and 4"] + replay.seconds["baseline"]
    return f"{answers:,} answers of {people} annotators, {answers / at_work:,.0f} answers/s. {replay.duration}"
