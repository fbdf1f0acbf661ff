"""The search of the explorer and of its bulk actions, as encoded in the URL."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Self
from urllib.parse import urlencode

from django.http import HttpRequest

from results.queries.instances.explorer import BY_FIGURES, InstanceFilters
from results.views.form_values import read_field


@dataclass(frozen=True)
class Search:
    """What is searched and how it is shown.

    `order` is one of `ORDERS`; `look`: "table", or "" for the gallery.
    """

    wanted: InstanceFilters
    order: str = ""
    look: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> Self:
        given = {name: read_field(request.GET, name) for name in InstanceFilters.__dataclass_fields__}
        return cls(InstanceFilters(**given), read_field(request.GET, "order"), read_field(request.GET, "look"))

    @property
    def needs_figures(self) -> bool:
        """Whether the list filters or sorts by figures, or shows them: those of its study."""
        return self.wanted.needs_figures or self.order in BY_FIGURES or bool(self.wanted.study)

    @property
    def values(self) -> Mapping[str, str]:
        """Return every filter by its name in addresses."""
        named = asdict(self.wanted) | {"order": self.order, "look": self.look}
        return {name: value for name, value in named.items() if value}

    def query(self, **others: str) -> str:
        """Return the address's query, with `others` replacing filters."""
        return urlencode({name: value for name, value in ({**self.values, **others}).items() if value})

    def __str__(self) -> str:
        return self.query()
