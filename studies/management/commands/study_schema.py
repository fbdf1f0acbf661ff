import json
from typing import Any

from django.core.management.base import BaseCommand

from studies.design.schema import study_schema


class Command(BaseCommand):
    help = "Print the JSON Schema of study files, as published in docs/study-file.schema.json."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(study_schema(), indent=2))
