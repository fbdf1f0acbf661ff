"""Records of a person, by session."""

from collections.abc import Mapping
from typing import Any

from django import template

from annotation.models import Session

register = template.Library()


@register.filter
def of_session(records: Mapping[int, Any], session: Session) -> Any:
    """Return the record of `session`; None without one."""
    return records.get(session.pk)
