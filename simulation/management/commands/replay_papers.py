"""Print the tables of the five papers from released files, beside the published figures."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.errors import BenchmarkError
from evaluation.result_files import ResultsFileError
from simulation.replay.papers import paper_tables
from simulation.replay.papers.base import as_markdown

BEGIN, END = "<!-- replay_papers: begin -->", "<!-- replay_papers: end -->"


class Command(BaseCommand):
    help = (
        "Print the tables of BiVLC, ImageCoDe, SugarCrepe, ARO and RoCOCO as far as they can be computed from the "
        "authors' released files, beside the published figures, and what the other figures need. Nothing is stored."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--data",
            required=True,
            type=Path,
            metavar="FOLDER",
            help="a folder with the folders bivlc, imagecode, sugarcrepe, aro and rococo, any of them",
        )
        parser.add_argument(
            "--into", type=Path, metavar="FILE", help=f"write them into a Markdown file, between {BEGIN} and {END}"
        )

    def handle(self, *args: Any, data: Path, into: Path | None, **options: Any) -> None:
        if not data.is_dir():
            raise CommandError(f"There is no folder {data}. Name the folder with the files that the authors released.")
        try:
            text = as_markdown(paper_tables(data))
        except (BenchmarkError, ResultsFileError) as error:
            raise CommandError(str(error)) from error
        if into is None:
            self.stdout.write(text)
            return
        try:
            written = replace_section(into.read_text(encoding="utf-8"), text)
            into.write_text(written, encoding="utf-8")
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise CommandError(f"{into} cannot be written. {error}") from error
        self.stdout.write(f"The tables were written into {into}.")


def replace_section(page: str, text: str) -> str:
    """Return a page with `text` between the two marks. Raises ValueError if it lacks one."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"It needs the lines {BEGIN} and {END}.")
    return f"{before}{BEGIN}\n{text}{END}{after}"
