"""Write the report of a project with its charts."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from results.actions.atomic_files import why_not, write_atomically
from results.actions.charts import draw_all
from results.actions.pseudonyms import name_annotators
from results.errors import CannotExport
from results.queries.reports.report_rows import project_facts
from results.reports.build import report_of
from results.reports.facts import ProjectFacts
from results.reports.formats import get_files
from studies.models import Project


@dataclass(frozen=True)
class WrittenReport:
    """The `text` of a report, and the `paths` where it and its charts were written, if anywhere."""

    text: str
    paths: list[Path]


def named_facts(project: Project) -> ProjectFacts:
    """Return the facts of `project` for its report, with a pseudonym for everybody."""
    name_annotators(project=project)
    return project_facts(project)


def write_report(*, project: Project, format: str, folder: Path | None, now: datetime) -> WrittenReport:
    """Build the report of `project` and write its files into `folder`, if given. Raises CannotExport."""
    facts = named_facts(project)
    if not facts.has_something_to_report:
        raise CannotExport(
            f"There is nothing to report: no study of {project.slug} has been launched, no model has answered, and no "
            "image set has descriptions."
        )
    report = report_of(facts, made_at=now)
    # Without a folder only the report itself is printed.
    files = get_files(format)(report, draw_all(report) if folder else None)
    paths = [_write(folder / name, content) for name, content in files.items()] if folder else []
    return WrittenReport(next(iter(files.values())).decode(), paths)


def _write(path: Path, content: bytes) -> Path:
    try:
        with write_atomically(path) as unfinished:
            unfinished.write_bytes(content)
    except OSError as error:
        raise CannotExport(why_not(error, path)) from error
    return path
