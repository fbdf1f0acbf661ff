"""A PostgreSQL as production has it, for the stories in which it is killed or stopped, and a kind that is made up.

This file is read before the settings are chosen, so it imports no models.
"""

from collections.abc import Iterator

import pytest
from django.db import connection

from tests.databases import MIGRATED
from tests.flows.site import site_over
from tests.servers import Cluster, copy_of, postgresql_cluster
from tests.workers import database_url

AT_HOME_ON_POSTGRESQL = pytest.mark.once(
    on="postgresql", because="its site is on a PostgreSQL of its own, whatever the other tests run on"
)


@pytest.fixture
def writing_is_made_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let studies have images described by the kind that is made up in `tests.flows.retrieving`."""
    from studies import rules
    from studies.kinds import KINDS, get_kind
    from tests.flows.retrieving import Write

    monkeypatch.setitem(KINDS, Write.name, f"{Write.__module__}.{Write.__name__}")
    yield
    get_kind.cache_clear()
    rules.get_rule.cache_clear()


@pytest.fixture(scope="session")
def cluster(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A server that runs, with an empty but migrated database MIGRATED, of which a test takes copies."""
    with postgresql_cluster(durable=True) as running:
        url = running.url(MIGRATED)
        if connection.vendor == "postgresql":
            # Where the other tests' server has one, it need not go through all migrations again.
            copy_of(database_url(MIGRATED), url)
        else:
            site = site_over(database_url=url, data_dir=tmp_path_factory.mktemp(MIGRATED))
            site.run("manage.py", "migrate", "--verbosity", "0")
        yield running
