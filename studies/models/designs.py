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
    """A design: plain JSON of any version in the database, a `Design` of the current version in Python.

    Lookups into it (`design__answers`) return plain JSON.
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


# Cached, because every annotator page loads the study; designs are immutable and can be shared.
@lru_cache(maxsize=64)
def _read(stored: str) -> Design:
    return Design.from_stored(json.loads(stored))


def _plain(value: Any) -> Any:
    return value.to_stored() if isinstance(value, Design) else value
