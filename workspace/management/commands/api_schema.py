from typing import Any

from django.core.management.base import BaseCommand

from workspace.api.framework.documentation import schema_as_yaml


class Command(BaseCommand):
    help = "Print the schema of the API, OpenAPI 3 in YAML. docs/api-v1.yaml has the released version."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(schema_as_yaml(), ending="")
