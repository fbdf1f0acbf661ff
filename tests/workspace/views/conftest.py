"""Who visits the pages. Models are imported late: pytest reads this file before Django is set up."""

from typing import TYPE_CHECKING

import pytest
from django.test import Client

if TYPE_CHECKING:
    from studies.models import Study


@pytest.fixture
def editor(study: "Study") -> Client:
    """Return the browser of an editor of the study's project."""
    from tests.factories import make_member
    from tests.pages import signed_in

    return signed_in(make_member(study.project, "editor"))
