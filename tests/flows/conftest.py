"""A PostgreSQL as production has it, for the stories in which it is killed or stopped."""

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
