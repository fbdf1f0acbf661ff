"""The cast of the researcher's tests. Models are imported late: pytest reads this file before Django is set up."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

    from studies.models import Study


@pytest.fixture
def researcher(db: None) -> "User":
    from tests.factories import make_person

    return make_person("researcher")


@pytest.fixture
def draft(researcher: "User") -> "Study":
    """A draft over four instances, in a project of the researcher's."""
    from tests.factories import draw_instance, make_project, make_study

    project = make_project("birds", members=[researcher])
    for number in range(1, 5):
        draw_instance(project, number)
    return make_study(project)


@pytest.fixture
def study(draft: "Study") -> "Study":
    from tests.factories import make_launched

    return make_launched(draft)


@pytest.fixture
def client(researcher: "User") -> "Client":
    """A browser in which the researcher has signed in."""
    from tests.pages import signed_in

    return signed_in(researcher)
