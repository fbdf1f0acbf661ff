"""Say where a description of Prolific's API differs from what Lineup uses."""

from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.recruitment.prolific.contract import find_differences
from annotation.recruitment.prolific.operations import OPERATIONS
from studies.wording import format_count


class Command(BaseCommand):
    help = "Say where a description of Prolific's API (OpenAPI 3, JSON or YAML) differs from what Lineup uses."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", metavar="FILE", type=Path, help="the description, such as docs.prolific.com/openapi.yaml"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file = options["file"]
        try:
            # JSON is YAML too.
            differences = find_differences(yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader))
        except (OSError, yaml.YAMLError) as error:
            raise CommandError(f"{file} cannot be read: {error}") from error
        except (LookupError, TypeError, AttributeError) as error:
            raise CommandError(f"{file} is not an OpenAPI 3 description of an API.") from error
        for difference in differences:
            self.stdout.write(difference)
        if differences:
            count = format_count(len(differences), "difference")
            raise CommandError(f"{count}. Adapt annotation/recruitment/prolific/ to the description.")
        self.stdout.write(f"No differences in the {len(OPERATIONS)} operations that Lineup uses.")
