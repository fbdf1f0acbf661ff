import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Expression
from django.db.models.fields.json import KeyTransform

from studies.design import Design


class DesignField(models.JSONField[Design, Design]):
    """A design as plain JSON, whichever version wrote it; in Python a `Design` of the current version.

    What a path leads to inside of it (`design__answers`) stays plain JSON.
    """

    def from_db_value(
        self, value: str | None, expression: Expression, connection: BaseDatabaseWrapper
    ) -> Design | Any | None:
        if value is None or isinstance(expression, KeyTransform):
            return super().from_db_value(value, expression, connection)
        return _read(value)

    def to_python(self, value: Any) -> Any:
        return Design.from_stored(value) if isinstance(value, Mapping) else value

    def get_prep_value(self, value: Any) -> Any:
        return super().get_prep_value(_plain(value))

    def validate(self, value: Any, model_instance: models.Model | None) -> None:
        super().validate(_plain(value), model_instance)

    def value_to_string(self, obj: models.Model) -> Any:
        return _plain(self.value_from_object(obj))


# Every page of an annotator loads the study; a design is never changed, so those who read the same may share it.
@lru_cache(maxsize=64)
def _read(stored: str) -> Design:
    return Design.from_stored(json.loads(stored))


def _plain(value: Any) -> Any:
    return value.to_stored() if isinstance(value, Design) else value
